"""Agent CLIs: what each one's hooks send, what that means, and what they are told to run."""
