"""Thousands of games of compiled rules at once, as a vector environment."""
