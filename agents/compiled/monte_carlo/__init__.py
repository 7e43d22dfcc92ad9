"""Monte Carlo tree search over compiled rules."""
