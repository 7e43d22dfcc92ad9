"""Games in which seeds are sown: Kalah and Oware."""

from zermelo.envs.games.mancala.kalah import Kalah as Kalah
from zermelo.envs.games.mancala.oware import Oware as Oware
