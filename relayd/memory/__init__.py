"""What is remembered, and by which rules: decisions, preferences, and what may not be stored at all."""
