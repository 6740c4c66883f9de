"""The feed for those who read it and those who write into it: pages, followers, usage."""
