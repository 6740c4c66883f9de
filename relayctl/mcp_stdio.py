"""`relayctl mcp`: MCP over standard input and output, forwarded to the daemon line by line."""

__all__ = ()
