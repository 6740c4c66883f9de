"""The service manager's side of the daemon: readiness, watchdog, inherited sockets."""
