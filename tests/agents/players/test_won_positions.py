"""Won positions are won: compiled alpha-beta with a time limit, its positions asked of the exact solver."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.compiled.proof.prover import Prover
from zermelo.agents.compiled.warmup import warm_up
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules import RulesGame

GAME = RulesGame(ConnectFour())
CLONE_DEPTH = 6
"""What a search of copies of the environment reaches in half a second."""
SECONDS = 2.0
"""Half a second is enough on a machine that does nothing else: see ``zermelo judge`` on a tournament."""


@pytest.fixture(scope="module")
def prover() -> Prover:
    warm_up(GAME)
    return Prover(GAME)


def outcome(prover: Prover, state: Any) -> int | None:
    """1, 0 or -1 for the player to move; None where that takes too long to find out."""
    found = prover.score(state, lower=-1, upper=1, nodes=20_000_000)
    return None if found.lower != found.upper else max(-1, min(found.lower, 1))


def best_defence(prover: Prover, state: Any) -> int:
    """The action that loses latest, or does better."""
    promises = []
    for action in GAME.legal_actions(state):
        child = GAME.result(state, action)
        if GAME.is_terminal(child):
            promises.append((GAME.utility(child)[GAME.to_move(state)] * 10_000, action))
        else:
            promises.append((-prover.score(child).lower, action))
    return max(promises)[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_won_position_is_won_against_the_best_defence(prover, seed):
    generator = random.Random(seed)
    while True:
        state = GAME.initial_state()
        for _ in range(generator.randint(13, 17)):
            if not GAME.is_terminal(state):
                state = GAME.result(state, generator.choice(GAME.legal_actions(state)))
        if GAME.is_terminal(state) or outcome(prover, state) != 1:
            continue
        if prover.value(prover.score(state).lower)[1] > 9:  # not to be seen at once
            break
    agent = AlphaBetaAgent(seconds=SECONDS, seed=seed)
    seat = GAME.to_move(state)
    while not GAME.is_terminal(state):
        mine = GAME.to_move(state) == seat
        action = agent.search_state(GAME, state).action if mine else best_defence(prover, state)
        state = GAME.result(state, action)
    assert GAME.utility(state)[seat] == 1, f"seed {seed}:\n{GAME.text(state)}"


@pytest.mark.slow
def test_no_game_is_lost_after_a_position_that_was_won(prover):
    """Six games from random openings against a search six moves deep; positions are asked from ten stones on."""
    found: Counter[str] = Counter()
    for number in range(6):
        generator = random.Random(number)
        state = GAME.initial_state()
        for _ in range(4):
            state = GAME.result(state, generator.choice(GAME.legal_actions(state)))
        agent = AlphaBetaAgent(seconds=SECONDS, seed=number)
        opponent = AlphaBetaAgent(depth=CLONE_DEPTH, seed=number)
        seat, plies, won_at = number % 2, 4, 0
        while not GAME.is_terminal(state):
            mine = GAME.to_move(state) == seat
            if mine and plies >= 10 and not won_at and outcome(prover, state) == 1:
                won_at = plies
            state = GAME.result(state, (agent if mine else opponent).search_state(GAME, state).action)
            plies += 1
        result = GAME.utility(state)[seat]
        found[f"{'won' if won_at else 'not won'} before, then {result:+.0f}"] += 1
        shown = f"game {number}: won with {won_at} stones, then lost\n{GAME.text(state)}"
        assert not won_at or result >= 0, shown
    print(dict(found))
    assert any(text.startswith("won before") for text in found)
