"""``tune``: an evaluation of any game, fitted to games that it plays against itself."""
