"""The way of a hook's event from a request, or from the spool, into the queue of its project."""
