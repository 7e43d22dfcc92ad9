"""What the package brings for its own games is not given to other rules of the same name."""

from __future__ import annotations

from typing import Any

import pytest

from zermelo.agents.auto import monte_carlo_score
from zermelo.agents.evaluators.network import shipped_network
from zermelo.agents.level import levels_for
from zermelo.envs.games import Breakthrough, ConnectFour, Othello
from zermelo.envs.rules import RulesGame


def renamed(kind: Any) -> Any:
    """A class of somebody else's with the same name, parameters and text."""
    return type(kind.__name__, (kind,), {"__module__": "games_of_mine", "__slots__": ()})


@pytest.mark.parametrize(
    ("find", "kind"),
    [
        (levels_for, ConnectFour),
        (shipped_network, Othello),
        (shipped_network, Breakthrough),
        (monte_carlo_score, ConnectFour),
    ],
)
def test_only_own_games_have_what_is_shipped(find: Any, kind: Any) -> None:
    own, other = RulesGame(kind()), RulesGame(renamed(kind)())
    assert str(own.rules) == str(other.rules)
    assert find(own) is not None
    assert find(other) is None
