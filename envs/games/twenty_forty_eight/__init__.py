"""2048: the rules, what its lines become when they are pushed, an evaluation, and a Gymnasium environment."""

from zermelo.envs.games.twenty_forty_eight.rules import Game2048 as Game2048
from zermelo.envs.games.twenty_forty_eight.rules import Game2048State as Game2048State
