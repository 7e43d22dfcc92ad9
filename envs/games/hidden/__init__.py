"""Games in which players do not see all: small pokers, liar's dice, and Goofspiel's simultaneous bids."""

from zermelo.envs.games.hidden.goofspiel import Goofspiel as Goofspiel
from zermelo.envs.games.hidden.kuhn import Kuhn as Kuhn
from zermelo.envs.games.hidden.leduc import Leduc as Leduc
from zermelo.envs.games.hidden.liars_dice import LiarsDice as LiarsDice
