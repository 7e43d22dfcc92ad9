"""A search whose simulations tell no action from another says so (``experts/test_blind_hanabi.py`` has more)."""

from __future__ import annotations

from typing import Any

import pytest

from zermelo.agents import make_agent
from zermelo.envs.games import Kuhn
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame


def started(name: str) -> Any:
    env = make(name)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("name", ["zermelo/Kuhn-v0", "zermelo/Leduc-v0", "classic/texas_holdem-v4"])
def test_playouts_of_poker_are_not_blind(name: str) -> None:
    assert make_agent("ismcts(simulations=300)").search(started(name)).note == ""


class ForNothing(Kuhn):
    """Poker without a stake."""

    def utility(self, state: Any, seat: int) -> int:
        return 0


def test_without_an_agent_for_the_game_the_settings_are_named() -> None:
    game = RulesGame(ForNothing())
    state = game.result(game.result(game.initial_state(), 0), 1)
    found = make_agent("ismcts(simulations=300)").search_state(game, state)
    assert "(playout_moves)" in found.note


def test_a_few_simulations_are_no_sign() -> None:
    assert make_agent("ismcts(simulations=20)").search(started("classic/hanabi-v5")).note == ""
