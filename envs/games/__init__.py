"""Games, one a module or folder. ``zermelo.envs.rules`` explains their methods."""

from zermelo.envs.games.amazons import Amazons
from zermelo.envs.games.backgammon import Backgammon, Hypergammon
from zermelo.envs.games.chess import Chess
from zermelo.envs.games.chomp import Chomp
from zermelo.envs.games.clobber import Clobber
from zermelo.envs.games.connect_four import ConnectFour
from zermelo.envs.games.domineering import Domineering
from zermelo.envs.games.dots_and_boxes import DotsAndBoxes
from zermelo.envs.games.einstein import EinStein
from zermelo.envs.games.go import Go
from zermelo.envs.games.hex import Hex
from zermelo.envs.games.hidden import Goofspiel, Kuhn, Leduc, LiarsDice
from zermelo.envs.games.isolation import Isolation
from zermelo.envs.games.mancala import Kalah, Oware
from zermelo.envs.games.mnk import MNK
from zermelo.envs.games.nim import Nim
from zermelo.envs.games.othello import Othello
from zermelo.envs.games.pawns import Breakthrough, Hexapawn
from zermelo.envs.games.pentago import Pentago
from zermelo.envs.games.pig import Pig
from zermelo.envs.games.twenty_forty_eight import Game2048

__all__ = [
    "MNK",
    "Amazons",
    "Backgammon",
    "Breakthrough",
    "Chess",
    "Chomp",
    "Clobber",
    "ConnectFour",
    "Domineering",
    "DotsAndBoxes",
    "EinStein",
    "Game2048",
    "Go",
    "Goofspiel",
    "Hex",
    "Hexapawn",
    "Hypergammon",
    "Isolation",
    "Kalah",
    "Kuhn",
    "Leduc",
    "LiarsDice",
    "Nim",
    "Othello",
    "Oware",
    "Pentago",
    "Pig",
]
