"""Recorded games, replayed and compared with perfect play."""
