"""What can be said of recorded games: replayed, and compared with perfect play."""
