"""Ratings, intervals and sequential tests from counts of games."""
