"""The games of this package as text, so that a list of them loads none."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any, Final, NamedTuple


def load(place: str) -> Any:
    """What ``"module:name"`` in this package names."""
    return pkgutil.resolve_name(f"zermelo.envs.games.{place}")


class Listed(NamedTuple):
    """A class of rules, which is the environment ``zermelo/<class>-v0``.

    ``gymnasium`` is the ``"module:name"`` of its Gymnasium environment, which has ``rules`` and ``position``; if
    any.
    """

    players: str = "2"
    kind: str = "board"
    information: str = "perfect"
    gymnasium: str = ""


GAMES: Final[Mapping[str, Listed]] = {
    "Amazons": Listed(),
    "Backgammon": Listed(kind="dice, exact chance"),
    "Breakthrough": Listed(),
    "Chess": Listed(),
    "Chomp": Listed(),
    "Clobber": Listed(),
    "ConnectFour": Listed(),
    "Domineering": Listed(),
    "DotsAndBoxes": Listed(players="2-10"),
    "EinStein": Listed(kind="dice, exact chance"),
    "Game2048": Listed(
        players="1",
        kind="sliding tiles, exact chance",
        gymnasium="zermelo.envs.games.twenty_forty_eight.environment:Game2048Env",
    ),
    "Go": Listed(),
    "Goofspiel": Listed(kind="cards", information="hidden"),
    "Hex": Listed(),
    "Hexapawn": Listed(),
    "Hypergammon": Listed(kind="dice, exact chance"),
    "Isolation": Listed(),
    "Kalah": Listed(),
    "Kuhn": Listed(players="2-10", kind="cards", information="hidden"),
    "Leduc": Listed(kind="cards", information="hidden"),
    "LiarsDice": Listed(kind="dice", information="hidden"),
    "MNK": Listed(players="2-4"),
    "Nim": Listed(players="2-16", kind="heaps"),
    "OrderAndChaos": Listed(),
    "Othello": Listed(),
    "Oware": Listed(),
    "Pentago": Listed(),
    "Pig": Listed(players="2 or more", kind="dice, exact chance"),
}
"""All games of this package, by class."""
SAME_GAME: Final[Mapping[str, str]] = {
    "pettingzoo.classic.chess.chess.raw_env": "chess.rules:PETTINGZOO",
    "pettingzoo.classic.connect_four.connect_four.raw_env": "connect_four:PETTINGZOO",
    "pettingzoo.classic.go.go.raw_env": "go.rules:PETTINGZOO",
    "pettingzoo.classic.rlcard_envs.leduc_holdem.raw_env": "hidden.leduc:PETTINGZOO",
    "pettingzoo.classic.tictactoe.tictactoe.raw_env": "mnk:PETTINGZOO",
}
"""Environments of others that play one of these games: their classes' full names, and ``EquivalentRules``."""
OPENSPIEL: Final[Mapping[str, str]] = {
    "amazons": "amazons:from_openspiel",
    "breakthrough": "pawns.breakthrough:from_openspiel",
    "clobber": "clobber:Clobber",
    "connect_four": "connect_four:from_openspiel",
    "dots_and_boxes": "dots_and_boxes:from_openspiel",
    "hex": "hex:from_openspiel",
    "kuhn_poker": "hidden.kuhn:Kuhn",
    "leduc_poker": "hidden.leduc:from_openspiel",
    "liars_dice": "hidden.liars_dice:from_openspiel",
    "mancala": "mancala.kalah:from_openspiel",
    "mnk": "mnk:MNK",
    "nim": "nim:from_openspiel",
    "othello": "othello:Othello",
    "oware": "mancala.oware:from_openspiel",
    "pig": "pig:from_openspiel",
    "tic_tac_toe": "mnk:from_openspiel_tic_tac_toe",
}
"""OpenSpiel's games that these rules play too: the short name, and a function of that game's parameters.

It returns rules, ``OpenSpielRules`` where numbers differ, or None; a class of rules with such parameters is one.
"""
