"""Depth-limited search of game trees: minimax and its relatives, plain and compiled, and their agents."""
