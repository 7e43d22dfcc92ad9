"""Trees that Monte Carlo tree search keeps between moves, and the principal variations that it gives."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from oracles.signatures import Uncompiled

from zermelo.agents import MCTSAgent, SearchResult
from zermelo.envs.games import MNK
from zermelo.envs.rules import RulesGame

RULES = MNK(3, 3, 3)
HOW = pytest.mark.parametrize("make", [RulesGame, Uncompiled], ids=["compiled", "plain"])


@functools.cache
def value_of(state: Any) -> int:
    """What the first player gets in tic-tac-toe by best play of both."""
    game = RulesGame(RULES)
    if game.is_terminal(state):
        return int(game.utility(state)[0])
    best = max if game.to_move(state) == 0 else min
    return best(value_of(game.result(state, action)) for action in game.legal_actions(state))


def check_truth(state: Any, result: SearchResult, *, is_best: bool = False) -> None:
    """What is proven is so, and the principal variation of a proven result ends the game with its value."""
    game = RulesGame(RULES)
    seat = game.to_move(state)
    sign = 1 if seat == 0 else -1
    assert result.value == result.values_by_seat[seat] == -result.values_by_seat[1 - seat]
    assert result.action in game.legal_actions(state)
    if result.proven or is_best:
        assert value_of(game.result(state, result.action)) == value_of(state)
    if result.proven:
        assert result.value == sign * value_of(state)
        for action in result.principal_variation:
            state = game.result(state, action)
        assert game.is_terminal(state)
        assert sign * game.utility(state)[0] == result.value


@pytest.mark.thorough
@HOW
def test_the_principal_variation_of_a_proven_result_ends_in_its_value(make: Any) -> None:
    game, generator = make(RULES), random.Random(36)
    for _ in range(40):
        state = game.initial_state()
        for _ in range(generator.randrange(2, 6)):
            if not game.is_terminal(state):
                state = game.result(state, generator.choice(game.legal_actions(state)))
        if not game.is_terminal(state):
            agent = MCTSAgent(simulations=2_000, seed=generator.randrange(1_000))
            result = agent.search_state(game, state)
            assert result.proven
            check_truth(state, result)
