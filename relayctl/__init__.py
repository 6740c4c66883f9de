"""The client: commands for people and scripts, speaking HTTP to the daemon over its Unix socket."""
