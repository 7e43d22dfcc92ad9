"""Games, one a module or folder. ``zermelo.envs.rules`` explains their methods."""

from zermelo.envs.games.amazons import Amazons as Amazons
from zermelo.envs.games.backgammon import Backgammon as Backgammon, Hypergammon as Hypergammon
from zermelo.envs.games.chess import Chess as Chess
from zermelo.envs.games.chomp import Chomp as Chomp
from zermelo.envs.games.clobber import Clobber as Clobber
from zermelo.envs.games.connect_four import ConnectFour as ConnectFour
from zermelo.envs.games.domineering import Domineering as Domineering
from zermelo.envs.games.dots_and_boxes import DotsAndBoxes as DotsAndBoxes
from zermelo.envs.games.einstein import EinStein as EinStein
from zermelo.envs.games.go import Go as Go
from zermelo.envs.games.hex import Hex as Hex
from zermelo.envs.games.hidden import Goofspiel as Goofspiel, Kuhn as Kuhn, Leduc as Leduc, LiarsDice as LiarsDice
from zermelo.envs.games.isolation import Isolation as Isolation
from zermelo.envs.games.mancala import Kalah as Kalah, Oware as Oware
from zermelo.envs.games.mnk import MNK as MNK
from zermelo.envs.games.nim import Nim as Nim
from zermelo.envs.games.othello import Othello as Othello
from zermelo.envs.games.pawns import Breakthrough as Breakthrough, Hexapawn as Hexapawn
from zermelo.envs.games.pentago import Pentago as Pentago
from zermelo.envs.games.pig import Pig as Pig
from zermelo.envs.games.twenty_forty_eight import Game2048 as Game2048
