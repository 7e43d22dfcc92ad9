"""Connect Four: rules, and what searches know beyond them."""

from zermelo.envs.games.connect_four.rules import ConnectFour as ConnectFour
from zermelo.envs.games.connect_four.rules import ConnectFourState as ConnectFourState
