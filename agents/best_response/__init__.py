"""Best responses by search: a policy's own answers are the chance events of the game that is searched."""
