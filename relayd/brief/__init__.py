"""What an agent is told at its start: sections within a budget, whole items only, the same bytes for the same memory."""
