"""Kalah: rules, what searches know beyond them, and the numbers of positions for endgame tables."""

from zermelo.envs.games.mancala.kalah.rules import Kalah as Kalah
from zermelo.envs.games.mancala.kalah.state import KalahState as KalahState
