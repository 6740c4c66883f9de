"""What `doctor` looks at, one noun a module; nothing is started and nothing changed."""
