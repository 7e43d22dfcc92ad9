"""Games, one a module or folder, loaded when they are asked for. ``zermelo.envs.rules`` explains their methods.

A new game is listed here, and nowhere else.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.envs.games.amazons import Amazons as Amazons
    from zermelo.envs.games.backgammon import Backgammon as Backgammon
    from zermelo.envs.games.backgammon import Hypergammon as Hypergammon
    from zermelo.envs.games.chess import Chess as Chess
    from zermelo.envs.games.chomp import Chomp as Chomp
    from zermelo.envs.games.clobber import Clobber as Clobber
    from zermelo.envs.games.connect_four import ConnectFour as ConnectFour
    from zermelo.envs.games.domineering import Domineering as Domineering
    from zermelo.envs.games.dots_and_boxes import DotsAndBoxes as DotsAndBoxes
    from zermelo.envs.games.einstein import EinStein as EinStein
    from zermelo.envs.games.go import Go as Go
    from zermelo.envs.games.hex import Hex as Hex
    from zermelo.envs.games.hidden.goofspiel import Goofspiel as Goofspiel
    from zermelo.envs.games.hidden.kuhn import Kuhn as Kuhn
    from zermelo.envs.games.hidden.leduc import Leduc as Leduc
    from zermelo.envs.games.hidden.liars_dice import LiarsDice as LiarsDice
    from zermelo.envs.games.isolation import Isolation as Isolation
    from zermelo.envs.games.mancala.kalah import Kalah as Kalah
    from zermelo.envs.games.mancala.oware import Oware as Oware
    from zermelo.envs.games.mnk import MNK as MNK
    from zermelo.envs.games.nim import Nim as Nim
    from zermelo.envs.games.othello import Othello as Othello
    from zermelo.envs.games.pawns.breakthrough import Breakthrough as Breakthrough
    from zermelo.envs.games.pawns.hexapawn import Hexapawn as Hexapawn
    from zermelo.envs.games.pentago import Pentago as Pentago
    from zermelo.envs.games.pig import Pig as Pig
    from zermelo.envs.games.twenty_forty_eight import Game2048 as Game2048


def load(place: str) -> Any:
    """What ``"module:name"`` in this package names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


class Listed(NamedTuple):
    """A class of rules, which is the environment ``zermelo/<class>-v0``.

    Attributes:
        module: The module that it is in.
        players: How many play, as text: ``2``, ``2-6``.
        kind: What kind of game it is, in a few words.
        information: ``"perfect"``, or ``"hidden"`` where players do not see everything.
        gymnasium: ``"module:name"`` of its Gymnasium environment, which has ``rules`` and ``position``; if any.
    """

    module: str
    players: str = "2"
    kind: str = "board"
    information: str = "perfect"
    gymnasium: str = ""


GAMES: Final[Mapping[str, Listed]] = {
    "Amazons": Listed("amazons"),
    "Backgammon": Listed("backgammon", kind="dice, exact chance"),
    "Breakthrough": Listed("pawns.breakthrough"),
    "Chess": Listed("chess"),
    "Chomp": Listed("chomp"),
    "Clobber": Listed("clobber"),
    "ConnectFour": Listed("connect_four"),
    "Domineering": Listed("domineering"),
    "DotsAndBoxes": Listed("dots_and_boxes", players="2-10"),
    "EinStein": Listed("einstein", kind="dice, exact chance"),
    "Game2048": Listed(
        "twenty_forty_eight",
        players="1",
        kind="sliding tiles, exact chance",
        gymnasium="zermelo.envs.games.twenty_forty_eight.environment:Game2048Env",
    ),
    "Go": Listed("go"),
    "Goofspiel": Listed("hidden.goofspiel", kind="cards", information="hidden"),
    "Hex": Listed("hex"),
    "Hexapawn": Listed("pawns.hexapawn"),
    "Hypergammon": Listed("backgammon", kind="dice, exact chance"),
    "Isolation": Listed("isolation"),
    "Kalah": Listed("mancala.kalah"),
    "Kuhn": Listed("hidden.kuhn", players="2-10", kind="cards", information="hidden"),
    "Leduc": Listed("hidden.leduc", kind="cards", information="hidden"),
    "LiarsDice": Listed("hidden.liars_dice", kind="dice", information="hidden"),
    "MNK": Listed("mnk", players="2-4"),
    "Nim": Listed("nim", players="2-16", kind="heaps"),
    "Othello": Listed("othello"),
    "Oware": Listed("mancala.oware"),
    "Pentago": Listed("pentago"),
    "Pig": Listed("pig", players="2 or more", kind="dice, exact chance"),
}
"""All games of this package, by class."""
SAME_GAME: Final[Mapping[str, str]] = {
    "pettingzoo.classic.chess.chess.raw_env": "chess.picture:PETTINGZOO",
    "pettingzoo.classic.connect_four.connect_four.raw_env": "connect_four:PETTINGZOO",
    "pettingzoo.classic.go.go.raw_env": "go.picture:PETTINGZOO",
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

The function returns rules, ``OpenSpielRules`` where numbers differ, or None where no rules fit. A class of rules
whose parameters have the same names is such a function.
"""

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    _homes: dict[str, str] = {}
    for _name, _row in GAMES.items():
        _homes[_row.module] = f"{_homes.get(_row.module, '')} {_name}"
    __getattr__, __all__ = lazy_names(__name__, _homes)
