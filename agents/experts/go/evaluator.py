"""The score of Go as an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from zermelo.agents.evaluators.protocol import squash, to_come_by_seat
from zermelo.envs.capabilities import rules_of
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Game
from zermelo.envs.games.go import Go
from zermelo.envs.rules.words import count

_SCALE: Final = 20.0  # the lead that is half way to a sure win


def go_lead(game: Game[Any], state: Any) -> float | None:
    """The lead of Black, seat 0, in area less the komi and in stones, so captures count; None of other games."""
    rules, env = rules_of(game), getattr(state, "env", None)
    if isinstance(rules, Go):
        return rules.margin(state) - rules.komi + float(count(state.black) - count(state.white))
    if f"{type(env).__module__}.{type(env).__qualname__}" == "pettingzoo.classic.go.go.raw_env":
        position = env._go  # type: ignore[union-attr]  # as its class says
        return float(_area(position.board) - position.komi) + float(position.board.sum())
    return None


def _area(board: Any) -> int:
    """Stones and surrounded points of Black, 1, less those of White, -1: a third of the time of its own score."""
    from scipy import ndimage

    regions, number = ndimage.label(board == 0)
    borders = np.zeros((2, number + 1), bool)
    for color, seen in ((1, borders[0]), (-1, borders[1])):
        stones = board == color
        seen[regions[1:][stones[:-1]]] = seen[regions[:-1][stones[1:]]] = True
        seen[regions[:, 1:][stones[:, :-1]]] = seen[regions[:, :-1][stones[:, 1:]]] = True
    sizes = np.bincount(regions.ravel())
    sizes[0] = 0  # the stones
    return int(board.sum()) + int(sizes @ borders[0]) - int(sizes @ borders[1])


@dataclass(frozen=True, kw_only=True)
class GoEvaluator:
    """The score by area (Tromp-Taylor rules, komi included), and a point more for each stone, squashed."""

    def spec(self) -> str:
        return "go"

    def __call__(self, game: Game[Any], state: Any) -> tuple[float, ...]:
        lead = go_lead(game, state)
        if lead is None:
            raise UnsupportedGameError(
                f"the evaluator 'go' cannot find a Go board in {game.traits.name}: use 'playout', or an evaluator "
                "of your own"
            )
        value = squash(lead / _SCALE, game.traits.utility_bounds)
        return to_come_by_seat(game, state, 0, value)
