"""The HTTP side of the daemon: thin routes, one module a resource."""
