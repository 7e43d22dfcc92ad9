"""Monte Carlo tree search for moves that are made at the same time."""
