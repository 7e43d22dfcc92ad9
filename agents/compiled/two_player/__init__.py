"""Minimax, alpha-beta and selective search of two players over compiled rules."""
