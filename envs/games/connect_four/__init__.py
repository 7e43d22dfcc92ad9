"""Connect Four: rules, what searches know beyond them, and the picture of the board."""

from zermelo.envs.games.connect_four import picture  # which says how the board is drawn and read
from zermelo.envs.games.connect_four.evaluation import ConnectFour
from zermelo.envs.games.connect_four.rules import ConnectFourState

__all__ = ["ConnectFour", "ConnectFourState", "picture"]
