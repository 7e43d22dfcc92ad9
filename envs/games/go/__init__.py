"""Go: its rules, how playouts go, the picture of the board, and PettingZoo's environment of it."""

from zermelo.envs.games.go.board import GoState as GoState
from zermelo.envs.games.go.rules import Go as Go
