"""What a live environment is: its wrappers, spaces, masks and settings, before anything is assumed of its game."""
