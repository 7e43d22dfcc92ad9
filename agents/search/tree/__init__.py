"""Searches of the game tree in plain Python."""
