"""Backgammon and Hypergammon: rules, an evaluation fitted to self-play, and the picture of the board."""

from zermelo.envs.games.backgammon import openspiel, picture  # OpenSpiel's numbers, and how the board is drawn
from zermelo.envs.games.backgammon.rules import Backgammon, Hypergammon

__all__ = ["Backgammon", "Hypergammon", "openspiel", "picture"]
