"""A linked repository: which project it is, and what relay writes into its files."""
