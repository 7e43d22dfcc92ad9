"""Hanabi by conventions: what hints mean, who plays what, and whole games of it in compiled code."""
