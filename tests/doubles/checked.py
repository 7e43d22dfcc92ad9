"""``check_rules`` and ``verify_clone`` find nothing wrong, and have looked: for tests that show it of a game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from zermelo.envs import check_rules, verify_clone
from zermelo.envs.checks import check_rules as checking


def assert_keeps_contract(rules: Any, *, games: int = 20, longest: int = 2000) -> None:
    """Plays so many games, checks each of their positions up to the end or the longest, and finds nothing."""
    check, ends = checking._PositionChecks.position, []

    def position(self: Any, state: Any) -> bool:
        ends.append(check(self, state))
        return ends[-1]

    with mock.patch.object(checking._PositionChecks, "position", position):
        check_rules(rules, games=games, longest=longest)
    lengths = [0]
    for end in ends:
        lengths[-1] += 1
        if end or lengths[-1] == longest:
            lengths.append(0)
    assert len(lengths) == games + 1, lengths
    assert lengths[-1] == 0, lengths


def assert_clones_right(make: Callable[[], Any], *, games: int, **settings: Any) -> None:
    """Plays so many games beside their clones, at least two to a game, and finds nothing."""
    assert verify_clone(make, games=games, **settings).clones >= 2 * games
