"""The games of ``zermelo.envs.rules`` against the same games written slowly, and against their own contract."""

from __future__ import annotations

import copy
import functools
import pickle
import random
from typing import Any

import pytest
from doubles.checked import assert_keeps_contract
from oracles.slow_rules import (
    SlowChomp,
    SlowDomineering,
    SlowDotsAndBoxes,
    SlowKalah,
    SlowMNK,
    SlowNim,
    SlowOthello,
    SlowPawns,
)

from zermelo.envs import InvalidSettingError, as_game
from zermelo.envs.games import MNK, Breakthrough, Chomp, Domineering, DotsAndBoxes, Hexapawn, Kalah, Nim, Othello
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN

SlowHexapawn = functools.partial(SlowPawns, hexapawn=True)

TWINS = [
    *[(Othello, SlowOthello, sizes) for sizes in [(4, 4), (4, 4, True), (6, 6), (8, 8), (5, 7, True), (8, 4)]],
    *[(Kalah, SlowKalah, sizes) for sizes in [(6, 4), (1, 1), (1, 9), (2, 3), (3, 12, True), (8, 7, True, True)]],
    *[(Kalah, SlowKalah, sizes) for sizes in [(4, 2, False, True), (2, 31), (6, 10, True), (5, 6, True, True)]],
    *[(Breakthrough, SlowPawns, sizes) for sizes in [(8, 8, 2), (4, 3, 1), (2, 5, 1), (10, 6, 3), (32, 2, 4)]],
    *[(Hexapawn, SlowHexapawn, sizes) for sizes in [(3, 3), (3, 1), (4, 5), (8, 8), (16, 4)]],
    *[(DotsAndBoxes, SlowDotsAndBoxes, sizes) for sizes in [(1, 1, 2, True), (2, 3), (3, 3, 3), (7, 7, 2, True)]],
    *[(DotsAndBoxes, SlowDotsAndBoxes, sizes) for sizes in [(1, 31, 5), (31, 1, 10, True), (2, 2, 4)]],
    *[(Domineering, SlowDomineering, sizes) for sizes in [(8, 8), (1, 2), (5, 1), (4, 7), (2, 32), (3, 3)]],
    (Nim, SlowNim, ()),
    *[(Nim, SlowNim, sizes) for sizes in [((1,),), ((4, 4), True), ((255,) * 7,), ((3,) * 28, True, 5)]],
    *[
        (MNK, SlowMNK, sizes)
        for sizes in [(3, 3, 3), (4, 3, 3, 3), (5, 4, 3, 4), (7, 7, 5), (1, 1, 1, 3), (6, 8, 4, 3)]
    ],
    *[(Chomp, SlowChomp, sizes) for sizes in [(), (1, 1), (3, 3), (2, 31), (62, 1)]],
]
CHECKED = [
    *[Othello(4, 4), Kalah(2, 3, True, True), Hexapawn(), Nim(), DotsAndBoxes(2, 2, 3)],
]
CHECKED_SLOWLY = [
    *[Breakthrough(4, 3, 1), Chomp(3, 3), DotsAndBoxes(2, 2), Domineering(4, 4), MNK(3, 3, 3, 3)],
    *[Othello(5, 4, True), Othello(), Kalah(), Kalah(8, 7), Breakthrough(5, 6), Breakthrough()],
    *[Hexapawn(4, 5), Hexapawn(8, 8), DotsAndBoxes(1, 1, margin=True), DotsAndBoxes(2, 3, 2, True)],
    *[MNK(), MNK(5, 4, 4, 4), Domineering(5, 3), Domineering(), Nim((3, 2, 2), True, 3), Chomp(2, 5)],
    *[
        DotsAndBoxes(7, 7),
        DotsAndBoxes(1, 31),
        DotsAndBoxes(4, 5, 10, True),
        Domineering(2, 32),
        Domineering(64, 1),
    ],
    *[Breakthrough(2, 32, 1), Breakthrough(32, 2, 16), Hexapawn(3, 21), Nim((255,) * 7), Nim((3,) * 28, True, 16)],
    *[Chomp(1, 62), Chomp(7, 8), Othello(7, 8, True), Othello(8, 7), Kalah(1, 63), Kalah(6, 10, True, True)],
]


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize(("rules", "slow", "sizes"), TWINS, ids=lambda part: getattr(part, "__name__", str(part)))
def test_plays_as_the_slow_rules_do(rules, slow, sizes, seed):
    game = as_game(rules(*sizes))
    generator = random.Random(seed)
    for _ in range(4):
        state, other = game.initial_state(), slow(*sizes)
        while not other.over():
            assert not game.is_terminal(state)
            assert game.to_move(state) == other.seat
            assert game.legal_actions(state) == other.legal()
            action = generator.choice(other.legal())
            state = game.result(state, action)
            other.play(action)
        assert game.is_terminal(state)
        assert game.utility(state) == tuple(other.utilities())


@pytest.mark.thorough
@pytest.mark.parametrize("rules", CHECKED, ids=repr)
def test_keeps_the_contract(rules):
    assert_keeps_contract(rules, games=2)


@pytest.mark.slow
@pytest.mark.parametrize("rules", CHECKED_SLOWLY, ids=repr)
def test_other_sizes_keep_the_contract(rules):
    assert_keeps_contract(rules, games=1)


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
        *[Kalah(2, 3), Kalah(3, 2, margin=True), Kalah(2, 4, True)],
        *[Breakthrough(4, 3, 1), Breakthrough(5, 2, 2), Breakthrough(3, 4, 1)],
        *[Hexapawn(3, 3), Hexapawn(4, 3), Hexapawn(3, 4)],
        *[
            DotsAndBoxes(1, 1, margin=True),
            DotsAndBoxes(2, 2),
            DotsAndBoxes(2, 2, margin=True),
            DotsAndBoxes(1, 4),
        ],
        *[Domineering(4, 4), Domineering(5, 3), Domineering(3, 5), Domineering(2, 7)],
        *[Chomp(3, 3), Chomp(2, 6), Chomp(1, 1)],
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
    assert settled > 0 or isinstance(rules, Kalah)


@pytest.mark.parametrize(
    "rules",
    [Othello(4, 4), Breakthrough(4, 4, 1), Kalah(3, 3), DotsAndBoxes(2, 2, 3), Domineering(4, 4)],
    ids=repr,
)
def test_evaluations_add_up_to_nothing(rules):
    game = RulesGame(rules)
    generator = random.Random(1)
    seen = set()
    for _ in range(20):
        state = game.initial_state()
        while not game.is_terminal(state):
            values = game.evaluation(state)
            seen.add(values)
            assert sum(values) == pytest.approx(0)
            assert all(
                -rules.seats() < v < rules.seats() if hasattr(rules, "seats") else -1 < v < 1 for v in values
            )
            state = game.result(state, generator.choice(game.legal_actions(state)))
    assert len(seen) > 5


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Othello(3, 4), "rows=3"),
        (lambda: Othello(8, 9), "columns=9"),
        (lambda: Othello(margin=2), "margin=2"),
        (lambda: Kalah(0, 4), "houses=0"),
        (lambda: Kalah(9, 1), "houses=9"),
        (lambda: Kalah(6, 11), "seeds=11"),
        (lambda: Kalah(6, 0), "seeds=0"),
        (lambda: Breakthrough(8, 1), "columns=1"),
        (lambda: Breakthrough(3, 4), "rows=3"),
        (lambda: Breakthrough(9, 8), "rows=9"),
        (lambda: Breakthrough(8, 8, 0), "pawn_rows=0"),
        (lambda: Hexapawn(2, 3), "rows=2"),
        (lambda: Hexapawn(9, 8), "rows=9"),
        (lambda: DotsAndBoxes(0, 3), "rows=0"),
        (lambda: DotsAndBoxes(7, 8), "columns=8"),
        (lambda: DotsAndBoxes(2, 2, 1), "players=1"),
        (lambda: DotsAndBoxes(2, 2, 11), "players=11"),
        (lambda: Domineering(1, 1), "rows=1"),
        (lambda: Domineering(8, 9), "columns=9"),
        (lambda: MNK(players=1), "players=1"),
        (lambda: MNK(players=5), "players=5"),
        (lambda: MNK(8, 7), "m=8"),
        (lambda: Chomp(0, 2), "rows=0"),
        (lambda: Chomp(8, 8), "columns=8"),
        (lambda: Nim(()), r"heaps=\(\)"),
        (lambda: Nim(5), "heaps=5"),
        (lambda: Nim((1, 0)), r"heaps=\(1, 0\)"),
        (lambda: Nim((256,)), "heaps=.256,"),
        (lambda: Nim((1, "2")), "heaps="),
        (lambda: Nim((255,) * 8), "heaps="),
        (lambda: Nim(misere=3), "misere=3"),
        (lambda: Nim(players=1), "players=1"),
    ],
)
def test_settings_that_do_not_fit(make, says):
    with pytest.raises(InvalidSettingError, match=rf"needs .* not .*{says}"):
        RulesGame(make())


def test_nim_is_made_and_shown_as_people_write_it():
    rules = Nim((2, 3), misere=True)
    assert repr(rules) == "Nim(heaps=(2, 3), misere=True, players=2)"
    assert RulesGame(rules).traits.name == "Nim(heaps=(2, 3), misere=True)"
    assert rules.heaps == (2, 3)
    for same in (
        copy.deepcopy(rules),
        pickle.loads(pickle.dumps(rules)),
        Nim(**rules._asdict()),
        Nim([2, 3], True),
    ):
        assert same == rules
        assert type(same) is Nim


PICTURES = [
    (Othello(4, 4), [(1, "b1")], ". X . .\n. X X .\n. X O .\n. . . ."),
    (Kalah(3, 2), [(1, "B"), (0, "A")], "     2  2  2\n  0           1\n     0  1  4"),
    (Breakthrough(4, 2, 1), [(0, None), (1, "a1-a2")], "O O\n. .\nX .\n. X"),
    (Hexapawn(3, 3), [(1, "a1-a2"), (18 + 3, "b3xa2")], "O . O\nO . .\n. X X"),
    (DotsAndBoxes(1, 2), [(0, "h1,1"), (4, "v1,1")], "+---+   +\n|        \n+   +   +\nboxes: 0, 0"),
    (Domineering(2, 3), [(0, "a1a2"), (3 + 1, "b1c1")], "# # #\n# . ."),
    (MNK(3, 2, 2, 3), [(0, "a2"), (1, "b2"), (5, "c1"), (2, "c2")], "X O X\n. . Y"),
    (Nim((1, 3)), [(3 + 1, "2 from heap 2")], "1 1"),
    (Chomp(2, 3), [(4, "(2,2)")], "P # #\n# . ."),
]


@pytest.mark.parametrize(("rules", "moves", "text"), PICTURES, ids=lambda part: type(part).__name__)
def test_text(rules, moves, text):
    game = RulesGame(rules)
    state = game.initial_state()
    for action, name in moves:
        if name is not None:
            assert action in game.legal_actions(state)
            assert rules.action_text(state, action) == name
            state = game.result(state, action)
    assert rules.text(state) == text


def test_a_pass_is_written_as_such():
    assert Othello(4, 4).action_text(Othello(4, 4).initial_state(), 16) == "pass"
