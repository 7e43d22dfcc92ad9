"""Minimax: both players play as well as can be."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from zermelo.envs.adapters.as_game import is_game
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Game

Search = TypeVar("Search", bound=Callable[..., Any])

Evaluate: TypeAlias = Callable[[Any], float]
"""What one seat can still expect from an unfinished state, rewards so far left out."""


def nothing_more(state: Any) -> float:
    """Expects nothing beyond what has been paid."""
    return 0.0


def on_games(search: Search) -> Search:
    """Answers a call without a ``Game``, or with a depth that is no number, by a sentence."""

    @functools.wraps(search)
    def call(*given: Any, **settings: Any) -> Any:
        try:
            return search(*given, **settings)
        except (AttributeError, TypeError):
            named = inspect.signature(search).bind_partial(*given, **settings).arguments
            if not is_game(game := named.get("game")):
                raise InvalidSettingError(
                    f"{search.__name__} needs a Game, not {game!r}: tree_game(...) makes one of lists, "
                    "as_game(env) of an environment"
                ) from None
            if not isinstance(depth := named.get("depth", math.inf), int | float):
                raise InvalidSettingError(
                    f"depth must be a number of moves, not {depth!r}: leave it out for the whole tree"
                ) from None
            raise

    return cast("Search", call)


@on_games
def minimax(game: Game[Any], state: Any, depth: float = math.inf, evaluate: Evaluate = nothing_more) -> float:
    """The value of a state for seat 0 (MAX) when both play best; seat 1 (MIN) gets the rest of the constant sum.

    Russell and Norvig, "Artificial Intelligence: A Modern Approach", 4th ed., figure 5.3; with a depth it is
    H-MINIMAX of section 5.3 (Shannon, "Programming a Computer for Playing Chess", 1950).
    """
    if game.is_terminal(state):
        return game.utility(state)[0]
    if depth <= 0:
        return game.utility(state)[0] + evaluate(state)
    values = [minimax(game, game.result(state, a), depth - 1, evaluate) for a in game.legal_actions(state)]
    return max(values) if game.to_move(state) == 0 else min(values)
