"""Monte Carlo tree search over what a player knows, for games with hidden cards."""
