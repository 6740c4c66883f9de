"""Edits of other programs' settings files that leave every byte alone which they do not mean."""
