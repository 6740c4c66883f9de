"""SQLite as this project uses it: one writing connection for each file, many reading ones.

    named.py      SQL kept in files: named queries, numbered migrations
    database.py   open, create, check and migrate a file; what SQLite's errors mean to us
    backup.py     a consistent copy of a file that is in use
    writer.py     the thread that owns the writing connection
    group.py      waiting jobs, committed together
    readers.py    reading connections, taken in turn

Import from the modules; this package has no names of its own.
"""
