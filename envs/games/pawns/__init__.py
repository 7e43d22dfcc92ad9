"""Games of pawns that step forward: Breakthrough and Hexapawn."""

from zermelo.envs.games.pawns.breakthrough import Breakthrough as Breakthrough
from zermelo.envs.games.pawns.hexapawn import Hexapawn as Hexapawn
