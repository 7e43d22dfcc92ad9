"""The games of ``zermelo.envs.rules`` against the same games written slowly, and against their own contract."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import pytest
from oracles.compared_searches import random_result

from zermelo.envs import games as g
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN


class Scores:
    """Exact scores of all positions, as ``zermelo.envs.rules.scores`` counts them, by plain recursion."""

    def __init__(self, rules: Any) -> None:
        self.game = RulesGame(rules)
        self.distances = self.game.traits.utility_bounds == (-1, 1)
        self.known: dict[Any, int] = {}

    def after(self, state: Any, action: int) -> int:
        """The score of an action for the player who makes it."""
        mover, after = self.game.to_move(state), self.game.result(state, action)
        if self.game.is_terminal(after):
            value = int(self.game.utility(after)[mover])
            return value * (WIN - 1) if self.distances else 2 * value
        score = self.of(after) if self.game.to_move(after) == mover else -self.of(after)
        if not self.distances or score == 0:
            return score
        return score - 1 if score > 0 else score + 1

    def of(self, state: Any) -> int:
        """The score of an unfinished position for its mover."""
        if state not in self.known:
            self.known[state] = max(self.after(state, action) for action in self.game.legal_actions(state))
        return self.known[state]


@pytest.mark.parametrize(
    "rules",
    [
        *[g.Kalah(2, 3), g.Kalah(3, 2, margin=True), g.Kalah(2, 4, True)],
        *[g.Breakthrough(4, 3, 1), g.Breakthrough(5, 2, 2), g.Breakthrough(3, 4, 1)],
        *[g.Hexapawn(3, 3), g.Hexapawn(4, 3), g.Hexapawn(3, 4)],
        *[
            g.DotsAndBoxes(1, 1, margin=True),
            g.DotsAndBoxes(2, 2),
            g.DotsAndBoxes(2, 2, margin=True),
            g.DotsAndBoxes(1, 4),
        ],
        *[g.Domineering(4, 4), g.Domineering(5, 3), g.Domineering(3, 5), g.Domineering(2, 7)],
        *[g.Chomp(3, 3), g.Chomp(2, 6), g.Chomp(1, 1)],
        g.ConnectFour(2, 4),
        pytest.param(g.ConnectFour(4, 4), marks=pytest.mark.thorough),
        pytest.param(g.ConnectFour(3, 5), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_what_proofs_rely_on_is_true(rules):
    """At every position that can be reached: the score is in ``bounds``, and a safe action is best."""
    scores = Scores(rules)
    scores.of(rules.initial_state())
    settled = 0
    buffer = [0] * rules.num_actions()
    for state, score in scores.known.items():
        least, greatest = rules.bounds(state)
        assert LOSS < least <= score <= greatest < WIN, state
        settled += least == greatest
        if least < greatest and hasattr(rules, "safe_actions"):
            safe = buffer[: rules.safe_actions(state, buffer)]
            assert set(safe) <= set(scores.game.legal_actions(state))
            assert max(scores.after(state, action) for action in safe) == score, state
    assert settled > 0 or isinstance(rules, g.Kalah)


ZERO_SUM = [g.Othello(4, 4), g.Breakthrough(4, 4, 1), g.Kalah(3, 3), g.DotsAndBoxes(2, 2, 3), g.Domineering(4, 4)]


@pytest.mark.parametrize("rules", [*ZERO_SUM, g.Backgammon(1), g.Backgammon(3), g.Hypergammon(2)], ids=repr)
def test_evaluations_add_up_to_nothing_inside_the_bounds(rules):
    game, generator = RulesGame(rules), random.Random(1)
    lower, upper = game.traits.utility_bounds
    seen = set()
    for _ in range(20 if rules in ZERO_SUM else 3):
        state = game.initial_state()
        while not game.is_terminal(state):
            values = game.evaluation(state)
            seen.add(values)
            assert sum(values) == pytest.approx(0)
            assert all(lower < value < upper for value in values)
            state = random_result(game, state, generator)
    assert len(seen) > 5


def test_nim_is_made_and_shown_as_people_write_it():
    rules = g.Nim((2, 3), misere=True)
    assert repr(rules) == "Nim(heaps=(2, 3), misere=True, players=2)"
    assert RulesGame(rules).traits.name == "Nim(heaps=(2, 3), misere=True)"
    assert rules.heaps == (2, 3)
    for same in (
        copy.deepcopy(rules),
        pickle.loads(pickle.dumps(rules)),
        g.Nim(**rules._asdict()),
        g.Nim([2, 3], True),
    ):
        assert same == rules
        assert type(same) is g.Nim


def test_a_pass_is_written_as_such():
    assert g.Othello(4, 4).action_text(g.Othello(4, 4).initial_state(), 16) == "pass"


def test_a_parameter_out_of_range_is_named_alone() -> None:
    with pytest.raises(InvalidSettingError, match=r"^DotsAndBoxes needs players of 2 to 10, not players=1$"):
        RulesGame(g.DotsAndBoxes(players=1))
    with pytest.raises(
        InvalidSettingError, match=r"^Clobber needs rows \* columns of 1 to 64, not rows=9, columns=9$"
    ):
        RulesGame(g.Clobber(rows=9, columns=9))
