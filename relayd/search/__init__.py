"""Full-text search over the memory: how text is indexed, how a query is read, how hits are ranked.

Everything that only SQLite has is in here.
"""
