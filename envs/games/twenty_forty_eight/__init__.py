"""2048: the rules, what its lines become when they are pushed, and an evaluation."""

from zermelo.envs.games.twenty_forty_eight.rules import Game2048 as Game2048
from zermelo.envs.games.twenty_forty_eight.rules import Game2048State as Game2048State
