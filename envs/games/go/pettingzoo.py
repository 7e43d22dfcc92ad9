"""PettingZoo's environment of Go: its rules and how its positions are read."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.games.go.board import NO_POINT, GoState, point_of
from zermelo.envs.games.go.rules import Go
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.history import with_past
from zermelo.envs.rules.words import contains, single


def _rules(env: Any) -> Go:
    """PettingZoo has no superko, and with equal points White has won, as with a little more komi."""
    komi = float(env._komi)
    return Go(int(env._N), komi + 0.25 if komi.is_integer() else komi, superko=0)


def _read_go(env: Any) -> GoState | None:
    position, size = env._go, int(env._N)
    if position.board.shape != (size, size):
        return None
    *_, empty, _, _, _ = Go(size).initial_state()
    black = white = empty - empty
    for action, colour in enumerate(position.board.flat):
        point = single(empty, point_of(action, size))
        if colour == 1:
            black = black | point
        elif colour == -1:
            white = white | point
        elif colour:
            return None
    recent = [move.move for move in position.recent]
    passes = 2 if recent[-2:] == [None, None] else int(recent[-1:] == [None])

    def place(point: Any) -> int:
        return NO_POINT if point is None else point_of(point[0] * size + point[1], size)

    last = place(recent[-1]) if recent else NO_POINT
    if last != NO_POINT and not contains(black | white, last):
        return None
    turn = 2 * passes + (position.to_play != 1)
    state = GoState(black, white, empty - black - white, place(position.ko), last, turn)
    known: GoState = with_past(_rules(env), state, ())
    return known


PETTINGZOO: Final = EquivalentRules(_rules, _read_go)
"""PettingZoo's environment of this game."""
