"""Searches of any number of players, with or without chance, over compiled rules."""
