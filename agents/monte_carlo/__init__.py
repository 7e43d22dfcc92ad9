"""Monte Carlo tree search: UCT and PUCT, plain and compiled, and its agent."""
