"""The searches that agents run over any game, in plain Python."""
