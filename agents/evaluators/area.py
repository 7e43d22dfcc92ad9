"""Area: who would win a game of Go if it were scored as it stands."""

from __future__ import annotations

from typing import Any

from zermelo.agents.evaluators.boards import go_position
from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.envs import Game, UnsupportedGameError

__all__ = ["go"]


def _position(game: Game[Any], state: Any) -> Any:
    position = go_position(game, state)
    if position is None:
        raise UnsupportedGameError(
            f"the evaluator 'go' cannot find a Go board in {game.traits.name}: use 'playout', or an evaluator of "
            "your own"
        )
    return position


def _area(game: Game[Any], state: Any) -> float:
    """Black's stones and surrounded points less white's and the komi; black is seat 0."""
    return float(_position(game, state).score())


def _stones(game: Game[Any], state: Any) -> float:
    """Black's stones less white's, so that captures count before territory does."""
    return float(_position(game, state).board.sum())


def go() -> LinearEvaluator:
    """The score by area (Tromp-Taylor rules, komi included), and a point more for each stone."""
    return LinearEvaluator(
        features={"area": _area, "stones": _stones}, weights={"area": 1.0, "stones": 1.0}, scale=20.0
    )
