"""One game: who sits where, what is played, and what is recorded of it."""
