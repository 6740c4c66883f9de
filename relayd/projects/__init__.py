"""Which project a directory belongs to."""
