"""How endgame tables and opening books are made; only the command line imports this."""
