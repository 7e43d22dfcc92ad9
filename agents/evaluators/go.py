"""The evaluation of Go, whose rules have none: the score if the game ended, over our rules and PettingZoo's."""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.envs import Game, UnsupportedGameError
from zermelo.envs.games.go import Go
from zermelo.envs.rules.words import count


class GoScore(NamedTuple):
    """The lead of Black, seat 0: in area less the komi, and in stones."""

    area: float
    stones: float


def go_score(game: Game[Any], state: Any) -> GoScore | None:
    """The score of a position of Go as if the game ended; None for other games."""
    rules, env = getattr(game, "rules", None), getattr(state, "env", None)
    if isinstance(rules, Go):
        return GoScore(rules.margin(state) - rules.komi, float(count(state.black) - count(state.white)))
    if f"{type(env).__module__}.{type(env).__qualname__}" == "pettingzoo.classic.go.go.raw_env":
        return GoScore(float(env._go.score()), float(env._go.board.sum()))  # type: ignore[union-attr]
    return None


def _score(game: Game[Any], state: Any) -> GoScore:
    score = go_score(game, state)
    if score is None:
        raise UnsupportedGameError(
            f"the evaluator 'go' cannot find a Go board in {game.traits.name}: use 'playout', or an evaluator of "
            "your own"
        )
    return score


def _area(game: Game[Any], state: Any) -> float:
    return _score(game, state).area


def _stones(game: Game[Any], state: Any) -> float:
    return _score(game, state).stones


def go() -> LinearEvaluator:
    """The score by area (Tromp-Taylor rules, komi included), and a point more for each stone."""
    return LinearEvaluator(
        features={"area": _area, "stones": _stones}, weights={"area": 1.0, "stones": 1.0}, scale=20.0
    )
