"""Null windows to the end of the game: who wins from here, as a proof."""
