"""The tools that agents call, by the Model Context Protocol: the only room that imports its SDK."""
