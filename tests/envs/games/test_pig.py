"""Pig: exact chances, what is known of it, and OpenSpiel's rules."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from zermelo.agents.textbook import value_iteration
from zermelo.envs.games import Pig
from zermelo.envs.games.pig import PigState
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.observations import observation


def win_chance(target: int, sides: int = 6, tolerance: float = 1e-13) -> np.ndarray:
    """The mover's best chance, by score, other's score and turn: Neller and Presser's equations."""
    chance = np.zeros((target, target, target + 1))
    points = [1] if sides == 2 else list(range(2, sides + 1))
    mine, turn = np.arange(target)[:, None], np.arange(target + 1)[None, :]
    wins = mine + turn >= target
    rolled = [np.minimum(turn + more, target) for more in points]
    while True:
        passed = 1 - chance[:, :, 0].T  # by own and the other's score, when the other has the turn
        hold = np.where(wins[:, None, :], 1.0, passed[np.minimum(mine + turn, target - 1)].transpose(0, 2, 1))
        roll = np.broadcast_to(passed[:, :, None], chance.shape).copy()
        for after in rolled:
            roll += chance[:, :, after[0]]
        new = np.maximum(hold, roll / sides)
        change = np.abs(new - chance).max()
        chance = new
        if change <= tolerance:
            return chance


@pytest.mark.parametrize(
    ("target", "expected"), [(10, 0.7094243226), pytest.param(20, 0.6155585498, marks=pytest.mark.slow)]
)
def test_the_first_players_chance(target: int, expected: float) -> None:
    values = value_iteration(RulesGame(Pig(target=target)))
    start = RulesGame(Pig(target=target)).initial_state()
    assert (values[start] + 1) / 2 == pytest.approx(expected, abs=6e-11)
    chance = win_chance(target)
    assert chance[0, 0, 0] == pytest.approx(expected, abs=6e-11)
    bits = target.bit_length()
    met = 0
    for state, value in values.items():
        scores = state.scores & (1 << bits) - 1, state.scores >> bits
        if max(scores) < target and not state.rolling:
            mine, other = scores if state.seat == 0 else scores[::-1]
            mover = (1 + (value if state.seat == 0 else -value)) / 2
            assert mover == pytest.approx(chance[mine, other, state.turn], abs=1e-10), state
            met += 1
    assert met > target * target


@pytest.mark.slow
def test_to_a_hundred_by_the_equations() -> None:
    """Neller and Presser give 0.5306; on small targets the rules are met state by state above."""
    chance = win_chance(100, tolerance=1e-12)
    assert chance[0, 0, 0] == pytest.approx(0.5305927253, abs=6e-11)
    game = RulesGame(Pig())
    generator = random.Random(3)
    for _ in range(500):  # the rules' own transitions fit these values
        mine, other = generator.randrange(100), generator.randrange(100)
        turn = generator.randrange(100 - mine)  # with enough to win there is only holding

        def worth(state: PigState) -> float:
            scores = state.scores & 127, state.scores >> 7
            if game.is_terminal(state):
                return (game.utility(state)[0] + 1) / 2
            if state.seat == 0:
                return float(chance[scores[0], scores[1], state.turn])
            return 1 - float(chance[scores[1], scores[0], state.turn])

        state = PigState(mine | other << 7, turn, 0, 0)
        hold, rolling = game.result(state, 1), game.result(state, 0)
        roll = sum(p * worth(game.result(rolling, outcome)) for outcome, p in game.chance_outcomes(rolling))
        assert max(worth(hold), roll) == pytest.approx(chance[mine, other, turn], abs=1e-9), state


@pytest.mark.parametrize(
    ("dice", "sides", "snake_eyes"),
    [(1, 6, False), (1, 2, False), (2, 6, True), (3, 4, False), (3, 4, True), (4, 2, True)],
)
def test_chances_are_counted_dice(dice: int, sides: int, snake_eyes: bool) -> None:
    rules = Pig(target=100, dice=dice, sides=sides, snake_eyes=snake_eyes)
    before = PigState(20 | 30 << 7, 5, 0, 1)
    expected: Counter[Any] = Counter()
    for faces in itertools.product(range(1, sides + 1), repeat=dice):
        if snake_eyes and set(faces) == {1}:
            after = PigState(30 << 7, 0, 1, 0)
        elif 1 in faces:
            after = PigState(20 | 30 << 7, 0, 1, 0)
        else:
            after = PigState(20 | 30 << 7, 5 + (dice if sides == 2 else sum(faces)), 0, 0)
        expected[after] += 1
    found = {rules.result(before, outcome): p for outcome, p in RulesGame(rules).chance_outcomes(before)}
    assert found == {after: ways / sides**dice for after, ways in expected.items()}


def test_what_is_seen() -> None:
    rules = Pig(target=50, players=3)
    state = PigState(7 | 20 << 6 | 49 << 12, 6, 1, 0)
    assert rules.text(state) == "  player 0: 7\n> player 1: 20 + 6\n  player 2: 49"
    assert observation(rules, state, 0).tolist() == [7, 20, 49, 6, 1]
    assert observation(rules, state, 2).tolist() == [49, 7, 20, 6, 2]
    assert rules.action_text(state, 1) == "hold"
    assert rules.action_text(state._replace(rolling=1), 3) == "4 points"
    assert [rules.evaluation(state, seat) for seat in range(3)] == [-1220, -80, 1300]
