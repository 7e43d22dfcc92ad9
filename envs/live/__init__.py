"""Live environments: wrappers, spaces, masks and payments, before anything is assumed of the game."""
