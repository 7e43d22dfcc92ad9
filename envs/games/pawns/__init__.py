"""Games of pawns that step forward: Breakthrough and Hexapawn."""
