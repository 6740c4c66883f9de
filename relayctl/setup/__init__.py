"""Putting relay into the agent CLIs of this user, and taking it out again: hooks, MCP server, rules file."""
