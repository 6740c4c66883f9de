"""The commands, one file a group, imported when they are asked for."""
