"""Games of one simultaneous move from the textbooks, and games of several by backward induction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zermelo.agents.equilibrium.backward_induction import solve_simultaneous
from zermelo.agents.equilibrium.equilibrium import solve_equilibrium
from zermelo.agents.equilibrium.matrix_games import dominated, equilibria, pure_equilibria, solve_matrix
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK

RPS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
PENNIES = np.array([[1, -1], [-1, 1]])
SEXES = np.array([[3, 0], [0, 2]]), np.array([[2, 0], [0, 3]])
STAG = np.array([[4, 0], [3, 3]]), np.array([[4, 3], [0, 3]])
PRISONERS = np.array([[-1, -3], [0, -2]]), np.array([[-1, 0], [-3, -2]])


@pytest.mark.parametrize("payoffs", [RPS, PENNIES, 3 * PENNIES + 10])
def test_fair_games_are_mixed_evenly(payoffs: np.ndarray) -> None:
    solved = solve_matrix(payoffs)
    assert solved.value == pytest.approx(payoffs.mean())
    assert solved.row == pytest.approx(1 / len(payoffs))
    assert solved.column == pytest.approx(1 / len(payoffs))


def test_a_saddle_point_is_played_purely() -> None:
    solved = solve_matrix([[3, 1, 4], [1, 0, 9]])
    assert solved.value == 1
    assert solved.row.tolist() == [1, 0]
    assert solved.column.tolist() == [0, 1, 0]


def test_random_games_have_the_value_that_both_can_be_sure_of() -> None:
    generator = np.random.default_rng(3)
    for shape in ((2, 3), (4, 4), (5, 2), (1, 3), (6, 7)):
        payoffs = generator.normal(size=shape)
        solved = solve_matrix(payoffs)
        assert (solved.row @ payoffs).min() == pytest.approx(solved.value)
        assert (payoffs @ solved.column).max() == pytest.approx(solved.value)
        assert solved.row.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("game", "pure", "mixed"),
    [
        (SEXES, [(0, 0), (1, 1)], ([0.6, 0.4], [0.4, 0.6])),
        (STAG, [(0, 0), (1, 1)], ([0.75, 0.25], [0.75, 0.25])),
        ((PENNIES, -PENNIES), [], ([0.5, 0.5], [0.5, 0.5])),
        ((RPS, -RPS), [], ([1 / 3] * 3, [1 / 3] * 3)),
        (PRISONERS, [(1, 1)], None),
    ],
)
def test_equilibria_of_the_textbooks(game: Any, pure: Any, mixed: Any) -> None:
    assert pure_equilibria(*game) == pure
    found = equilibria(*game)
    assert [(int(x.argmax()), int(y.argmax())) for x, y in found if x.max() == y.max() == 1] == pure
    others = [(x, y) for x, y in found if x.max() < 1]
    assert len(others) == (mixed is not None)
    for x, y in others:
        assert x == pytest.approx(mixed[0])
        assert y == pytest.approx(mixed[1])


def test_dominated_choices_are_left_out_one_by_one() -> None:
    steps = list(dominated(*PRISONERS))
    assert [(step.player, step.action) for step in steps] == [(0, 0), (1, 0)]
    assert steps[0].by.tolist() == [0, 1]
    assert list(dominated(*STAG)) == []
    # The third row is worse than half of each other one, but than neither alone (Osborne and Rubinstein, 60.1).
    first = np.array([[4, 0], [0, 4], [1, 1]])
    steps = list(dominated(first, np.zeros((3, 2))))
    assert [(step.player, step.action) for step in steps] == [(0, 2)]
    assert steps[0].by == pytest.approx([0.5, 0.5, 0])


def test_payoffs_that_are_none() -> None:
    for payoffs in ([1, 2, 3], [[1, float("nan")]], [[1, 2], [3]], [["a"]], [], [[]], None, "text"):
        with pytest.raises(InvalidSettingError, match="payoffs must be a matrix of finite numbers"):
            solve_matrix(payoffs)
    with pytest.raises(InvalidSettingError, match=r"need one shape, not \(3, 3\) and \(2, 2\)"):
        equilibria(RPS, PENNIES)


# -- several moves ------------------------------------------------------------------------------------------------


def test_games_of_one_move_are_their_matrix() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    found = solve_simultaneous(pyspiel.load_game("matrix_rps"))
    assert found.values_by_seat == pytest.approx((0, 0))
    assert found.policies[0] == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3})
    assert set(found.policies) == {0, 1}


def value_by_supports(state: Any) -> float:
    """Value of an OpenSpiel state for the first player, by support enumeration at each state."""
    if state.is_terminal():
        return float(state.returns()[0])
    payoffs = []
    for row in state.legal_actions(0):
        payoffs.append([])
        for column in state.legal_actions(1):
            after = state.clone()
            after.apply_actions([row, column])
            payoffs[-1].append(value_by_supports(after))
    matrix = np.array(payoffs)
    row, column = equilibria(matrix, -matrix)[0]
    return float(row @ matrix @ column)


def test_backward_induction_is_the_recursion_by_supports() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("oshi_zumo(coins=4,size=1,horizon=5)")
    for bids in ([2, 1], [3, 1], [1, 0]):
        state = game.new_initial_state()
        state.apply_actions(bids)
        found = solve_simultaneous(game, state)
        assert found.values_by_seat[0] == pytest.approx(value_by_supports(state)), bids
        assert found.values_by_seat[1] == -found.values_by_seat[0]
        assert sum(found.policies[1].values()) == pytest.approx(1)


def test_the_same_game_in_turns_has_the_same_value() -> None:
    """OpenSpiel lets players move one after the other, the second not seeing the first one's move."""
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("oshi_zumo(coins=3,size=1,horizon=4)")
    lower, upper = solve_equilibrium(pyspiel.convert_to_turn_based(game), tolerance=0.01).value_bounds()
    assert lower - 1e-9 <= solve_simultaneous(game).values_by_seat[0] <= upper + 1e-9


@pytest.mark.slow
def test_goofspiel_is_fair_and_refused_in_turns_as_its_players_forget() -> None:
    """OpenSpiel's information state says which cards are left, not in which order the others were seen."""
    pyspiel = pytest.importorskip("pyspiel")
    settings = {"num_cards": 5, "points_order": "descending", "imp_info": False}
    found = solve_simultaneous(pyspiel.load_game("goofspiel", settings))
    assert found.values_by_seat == pytest.approx((0, 0), abs=1e-7)
    game = pyspiel.load_game("goofspiel", settings | {"num_cards": 4})
    with pytest.raises(UnsupportedGameError, match="does not say what it has done"):
        solve_equilibrium(pyspiel.convert_to_turn_based(game), tolerance=0.005)


def test_games_that_backward_induction_is_not_for() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    with pytest.raises(
        UnsupportedGameError, match="solve_simultaneous is for games in which players move at the same time"
    ):
        solve_simultaneous(MNK())
    with pytest.raises(UnsupportedGameError, match="has more than 5 states"):
        solve_simultaneous(pyspiel.load_game("matrix_rps"), most_states=5)
    with pytest.raises(UnsupportedGameError, match="general-sum"):
        solve_simultaneous(pyspiel.load_game("matrix_pd"))
