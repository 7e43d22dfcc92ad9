"""The game trees of textbooks, by the number of the figure.

Russell and Norvig, "Artificial Intelligence: A Modern Approach", 4th ed. (2020), chapter 5. In the 3rd edition
figures 5.13 and 5.14 are 5.11 and 5.12: these names serve too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from zermelo.envs.support.spec_text import unknown_name
from zermelo.envs.trees.tree_game import TreeGame, tree_game


class _Figure(NamedTuple):
    nested: Any
    about: str


_TWO_PLY: Final = [[3, 12, 8], [2, 4, 6], [14, 5, 2]]


def _dice(first: float, second: float) -> dict[str, Any]:
    """Chance as in the figure of order-preserving transformations, before two equal answers."""
    return {"0.9": (0.9, [first, first]), "0.1": (0.1, [second, second])}


def _backgammon() -> list[Any]:
    """The levels of a backgammon tree, where all rolls but two are one outcome and every player has two moves."""
    rolls = {"1-1": 1 / 36, "6-6": 1 / 36, "others": 34 / 36}
    ends = itertools.cycle([2, -1, 1, -1, 1])  # as in the figure

    def rolled(below: Callable[[], Any]) -> dict[str, Any]:
        return {name: (probability, below()) for name, probability in rolls.items()}

    return [rolled(lambda: [rolled(lambda: next(ends)) for _ in range(2)]) for _ in range(2)]


_FOURTH_EDITION: Final[Mapping[str, _Figure]] = {
    "aima-5.2": _Figure(_TWO_PLY, "minimax on a tree of two plies"),
    "aima-5.4": _Figure(
        [
            [[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]],
            [[(5, 1, 1), (1, 5, 2)], [(7, 7, 1), (5, 4, 5)]],
        ],
        "max^n with three players",
    ),
    "aima-5.5": _Figure(_TWO_PLY, "alpha-beta on a tree of two plies, stage by stage"),
    "aima-5.13": _Figure(
        _backgammon(), "expectiminimax on the levels of a backgammon tree, with few rolls and moves"
    ),
    "aima-5.14a": _Figure([_dice(2, 3), _dice(1, 4)], "expectiminimax: with these values the first move is best"),
    "aima-5.14b": _Figure(
        [_dice(20, 30), _dice(1, 400)], "the same with values in the same order: the second move is best"
    ),
}
_THIRD_EDITION: Final = {"aima-5.11": "aima-5.13", "aima-5.12a": "aima-5.14a", "aima-5.12b": "aima-5.14b"}
_FIGURES: Final = {**_FOURTH_EDITION, **{name: _FOURTH_EDITION[now] for name, now in _THIRD_EDITION.items()}}


def figure(name: str) -> TreeGame:
    """The game of a figure, such as ``aima-5.2``.

    Raises:
        UnknownNameError: There is no such figure; the message names those that are spelt alike.
    """
    if name not in _FIGURES:
        raise unknown_name("figure", name, _FIGURES)
    return tree_game(_FIGURES[name].nested, name=name)


def list_figures() -> dict[str, str]:
    """The figures, and what each is for."""
    return {name: found.about for name, found in _FIGURES.items()}
