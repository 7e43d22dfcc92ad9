"""Agents that play from a table of values or actions, made before the game."""
