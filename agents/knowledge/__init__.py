"""Libraries of moves: endgame tables and opening books, made once and read by agents."""
