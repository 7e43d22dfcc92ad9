"""Games in which players do not see all: small pokers, liar's dice, and Goofspiel's simultaneous bids."""

from zermelo.envs.games.hidden.goofspiel import Goofspiel
from zermelo.envs.games.hidden.kuhn import Kuhn
from zermelo.envs.games.hidden.leduc import Leduc
from zermelo.envs.games.hidden.liars_dice import LiarsDice

__all__ = ["Goofspiel", "Kuhn", "Leduc", "LiarsDice"]
