"""Commands that solve games: perfect play, values, equilibria."""
