"""Expectiminimax, paranoid and best-reply search over compiled rules."""
