"""Pips: how far both players' checkers have still to go in backgammon, the plainest baseline there is."""

from __future__ import annotations

from typing import Any

from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.envs import Game, UnsupportedGameError
from zermelo.envs.games.backgammon.features import count_at
from zermelo.envs.games.backgammon.rules import BackgammonState

__all__ = ["pips"]


def _pips(low: int, high: int) -> int:
    return sum(place * count_at(low, high, place) for place in range(1, 26))


def _ahead(game: Game[Any], state: Any) -> float:
    """The other player's pips less those of the first player, seat 0."""
    if not isinstance(state, BackgammonState):
        raise UnsupportedGameError(
            f"the evaluator 'pips' cannot find a backgammon board in {game.traits.name}: use 'playout', or an "
            "evaluator of your own"
        )
    ahead = _pips(state.other_low, state.other_high) - _pips(state.low, state.high)
    return float(ahead if state.seat == 0 else -ahead)


def pips() -> LinearEvaluator:
    """The pips by which a player is ahead in backgammon; 150 are half a game."""
    return LinearEvaluator(features={"pips ahead": _ahead}, weights={"pips ahead": 1.0}, scale=150.0)
