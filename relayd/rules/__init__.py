"""Rules files outside of repositories that agents read by themselves, kept as the memory is."""
