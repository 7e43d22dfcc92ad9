"""Other people's engines as agents."""
