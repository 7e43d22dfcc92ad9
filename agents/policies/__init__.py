"""Policies of others as agents: learned models from files, and programs that play."""
