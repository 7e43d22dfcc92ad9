"""OpenSpiel's games, and environments with one inside."""
