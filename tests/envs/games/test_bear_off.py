"""The table of bear-offs: known rows, against a slow solver, and against full searches of endings."""

from __future__ import annotations

import functools
import importlib.util
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zermelo.agents import ExpectiminimaxAgent
from zermelo.envs.games import Backgammon
from zermelo.envs.games.backgammon import bear_off
from zermelo.envs.games.backgammon.bear_off import CERTAIN, COLUMNS, FIRST_ROLLS, POSITIONS, ROLLS
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.envs.rules import RulesGame

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "solve_bear_off.py"


def low(*points: int) -> int:
    """The lower word of a side with checkers on these points; all others are off."""
    return sum(1 << 4 * point for point in points) | (15 - len(points))


def row(*points: int) -> list[float]:
    start = COLUMNS * bear_off.place(low(*points))
    return [bear_off.chance_by(start, rolls, ROLLS) / CERTAIN for rolls in range(1, ROLLS + 1)]


def after(points: tuple[int, ...], die: int) -> set[tuple[int, ...]]:
    """The ways to play a number, as the rules say: from its point, from a higher one, or from the highest."""
    found = set()
    for point in points:
        if point >= die or point == max(points):
            rest = list(points)
            rest.remove(point)
            found.add(tuple(sorted([*rest, point - die] if point > die else rest)))
    return found or {points}


@functools.cache
def rolls_needed(points: tuple[int, ...]) -> tuple[Fraction, tuple[Fraction, ...]]:
    """The mean number of rolls, and the chance of each number."""
    if not points:
        return Fraction(0), (Fraction(1),)
    mean, chances = Fraction(1), [Fraction(0)] * 20
    for one in range(1, 7):
        for other in range(1, 7):
            orders = [(one,) * 4] if one == other else [(one, other), (other, one)]
            ends = set()
            for dice in orders:
                here = {points}
                for die in dice:
                    here = {new for old in here for new in after(old, die)}
                ends |= here
            best = min(map(rolls_needed, ends))
            mean += best[0] / 36
            for number, p in enumerate(best[1][:19]):
                chances[number + 1] += p / 36
    return mean, tuple(chances)


def test_known_rows() -> None:
    assert row(1)[0] == 1
    assert row(6)[0] == pytest.approx(27 / 36, abs=1e-4)
    assert row(6, 6)[0] == pytest.approx(4 / 36, abs=1e-4)  # a double of threes and more
    assert row(1, 1, 1)[0] == pytest.approx(6 / 36, abs=1e-4)
    assert bear_off.place(low()) == 0
    assert bear_off.place(low(*[6] * 15)) < POSITIONS
    assert row(*[6] * 15)[-1] == 1


@pytest.mark.parametrize(
    "points", [(1,), (6,), (2, 5), (6, 6), (1, 4, 6), (6, 6, 6), (2, 2, 3, 5), (1, 3, 4, 6, 6), (5,) * 6]
)
def test_rows_are_those_of_a_slow_solver(points: tuple[int, ...]) -> None:
    chances = np.cumsum([float(p) for p in rolls_needed(points)[1][1:]])
    assert row(*points)[: len(chances)] == pytest.approx(chances, abs=1e-4)


@pytest.mark.parametrize(
    ("own", "other"),
    [((2, 2), (2, 2)), ((6, 6), (1, 1, 4)), ((1, 3, 6), (5, 5)), ((2, 4, 4), (3, 3, 6)), ((1,), (6,) * 15)],
)
def test_endings_are_worth_what_a_full_search_says(own: tuple[int, ...], other: tuple[int, ...]) -> None:
    game = RulesGame(Backgammon(3))
    state = BackgammonState(low(*own), 0, low(*other), 0, 0, 0)
    agent = ExpectiminimaxAgent(depth="full")
    exact = sum(p * agent.search_state(game, game.result(state, o)).value for o, p in game.chance_outcomes(state))
    assert game.evaluation(state)[0] == pytest.approx(exact, abs=3e-3)


def test_gammons_count() -> None:
    game = RulesGame(Backgammon(3))
    others = low(*[6] * 15)
    win = game.evaluation(BackgammonState(low(1), 0, others, 0, 0, 0))[0]
    assert win == pytest.approx(2, abs=3e-3)  # nothing is off yet
    # With four left a double wins at once; else the other has one roll, and 17 of 36 bear a checker off.
    late = game.evaluation(BackgammonState(low(1, 1, 1, 1), 0, others, 0, 0, 0))[0]
    assert late == pytest.approx(1 + 6 / 36 + 30 / 36 * (19 / 36), abs=5e-3)
    lost = game.evaluation(BackgammonState(others, 0, low(1), 0, 0, 0))[0]
    assert lost == pytest.approx(-(1 + 19 / 36), abs=5e-3)


@pytest.mark.slow
def test_the_script_computes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    spec = importlib.util.spec_from_file_location("solve_bear_off", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(tmp_path / "table.npz")
    shipped = bear_off._read()
    monkeypatch.setattr(bear_off, "FILE", tmp_path / "table.npz")
    assert (bear_off._read() == shipped).all()
    assert shipped.shape == (POSITIONS, ROLLS + FIRST_ROLLS)
    assert (shipped[:, ROLLS - 1] == CERTAIN).all()
