"""What searches look up: opening books and endgame tables."""
