"""What agents read by themselves: the text of `relay.md`, and the file of Grok Build, kept as the memory is."""
