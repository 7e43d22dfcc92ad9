"""Compiled Monte Carlo tree search: its record, its kernel, and the Python side of it."""
