"""Games in which players do not see all: small pokers, liar's dice, and Goofspiel's simultaneous bids."""
