"""Ladders of opponents of known strength: what they are, their games, and how they are built."""
