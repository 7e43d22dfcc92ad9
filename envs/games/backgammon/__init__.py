"""Backgammon and Hypergammon: rules, an evaluation fitted to self-play, and the picture of the board."""

from zermelo.envs.games.backgammon.rules import Backgammon as Backgammon
from zermelo.envs.games.backgammon.rules import Hypergammon as Hypergammon
