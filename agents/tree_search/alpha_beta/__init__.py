"""Alpha-beta and minimax for two opposed players. The plain search serves all other algorithms but max^n too."""
