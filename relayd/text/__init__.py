"""Text from outside: what is taken out of it, and where it may be cut."""
