"""Learned policies as agents: what a player sees, policies of that, and models loaded from files."""
