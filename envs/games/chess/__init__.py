"""Chess: rules, what searches know beyond them, notation, and the picture of the board."""

from zermelo.envs.games.chess.rules import Chess as Chess
from zermelo.envs.games.chess.state import ChessState as ChessState
