"""Backgammon and Hypergammon: rules, and an evaluation fitted to self-play."""
