"""SQLite as this project uses it: one writing connection for each file, many reading ones.

    named.py      SQL kept in files: named queries, numbered migrations
    schema.py     what kind of file a database is; its migrations
    connect.py    plain connections and what is set on them
    faults.py     what SQLite's errors mean to us
    backup.py     a consistent copy of a file that is in use
    database.py   open, make, check and migrate a file
    group.py      waiting jobs, committed together
    writer.py     the thread that owns the writing connection
    readers.py    reading connections, taken in turn
    waiting.py    waiting that a cancellation does not cut short

Import from the modules; this package has no names of its own.
"""
