"""How alpha-beta and Monte Carlo tree search did against each other, game by game, where both fit.

``scripts/bench.py mcts_choice`` plays the matches and writes the table.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from zermelo.envs.rules.rules_game import RulesGame

MATCHES = Path(__file__).with_name("matches.json")


@functools.cache
def _scores() -> dict[str, float]:
    scores: dict[str, float] = json.loads(MATCHES.read_text())
    return scores


def monte_carlo_score(game: Any) -> float | None:
    """The share of points that Monte Carlo tree search took; None of games in which no match was played.

    Games of the same rules in another size count as the one that was played, if theirs was not.
    """
    if not isinstance(game, RulesGame):
        return None
    name = type(game.rules).__name__
    exact = _scores().get(str(game.rules))
    if exact is not None or type(game.rules).__module__.partition(".games.")[0] != "zermelo.envs":
        return exact
    return next((score for rules, score in _scores().items() if rules.startswith(f"{name}(")), None)
