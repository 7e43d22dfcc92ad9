"""What Connect Four's evaluation counts, against a slow count, and how well it foretells exact values."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zermelo.envs.games import ConnectFour

DATA = Path(__file__).resolve().parents[2] / "data" / "connect_four"
DIRECTIONS = ((1, 0), (1, 1), (1, -1), (0, 1))


def cells_of(rules: ConnectFour, state: Any) -> dict[tuple[int, int], str]:
    """(column, row from below) to X, O or a dot."""
    lines = [line.split() for line in rules.text(state).splitlines()]
    return {
        (column, rules.rows - 1 - top): mark for top, line in enumerate(lines) for column, mark in enumerate(line)
    }


def windows(rules: ConnectFour) -> Iterator[list[tuple[int, int]]]:
    squares = {(column, row) for column in range(rules.columns) for row in range(rules.rows)}
    for column, row in sorted(squares):
        for right, up in DIRECTIONS:
            window = [(column + step * right, row + step * up) for step in range(4)]
            if set(window) <= squares:
                yield window


def counted(rules: ConnectFour, state: Any) -> int:
    """The first player's evaluation, one square at a time."""
    cells = cells_of(rules, state)
    value = 0
    for mark, sign in (("X", 1), ("O", -1)):
        for window in windows(rules):
            held = [cells[square] for square in window]
            if set(held) <= {mark, "."}:
                value += sign * 10 * (0, 1, 3, 4)[held.count(mark)]
    threats: dict[tuple[int, int], set[str]] = {}
    for window in windows(rules):
        empty = [square for square in window if cells[square] == "."]
        marks = {cells[square] for square in window} - {"."}
        if len(empty) == 1 and len(marks) == 1:
            threats.setdefault(empty[0], set()).update(marks)
    for column in range(rules.columns):
        for row in range(rules.rows):
            # Every other column is full and this one is, up to here: whose turn is it?
            mark = "XO"[((rules.columns - 1) * rules.rows + row) % 2]
            if mark in threats.get((column, row), ()):
                value += 170 if mark == "X" else -120
                break
    return value


def random_states(rules: ConnectFour, seed: int, games: int) -> Iterator[Any]:
    generator = random.Random(seed)
    for _ in range(games):
        state = rules.initial_state()
        while not rules.is_terminal(state):
            yield state
            actions = [0] * rules.num_actions()
            state = rules.result(state, generator.choice(actions[: rules.legal_actions(state, actions)]))


@pytest.mark.parametrize("size", [(6, 7), (4, 5), (5, 6), (5, 7), (6, 4), (7, 4), (2, 6), (8, 3), (1, 9), (3, 3)])
def test_the_evaluation_counts_windows_and_threats(size):
    rules = ConnectFour(*size)
    for state in random_states(rules, seed=sum(size), games=12):
        value = counted(rules, state)
        assert rules.evaluation(state, 0) == value, rules.text(state)
        assert rules.evaluation(state, 1) == -value, rules.text(state)


def test_a_mirrored_board_is_worth_the_same():
    rules = ConnectFour()
    for state in random_states(rules, seed=5, games=20):
        assert rules.evaluation(state, 0) == rules.evaluation(rules.symmetric_state(state, 1), 0)


def test_the_lowest_threat_of_a_column_on_its_owners_square_counts():
    """X threatens the third square of column 4; O's threat above it, on the fourth, will never be played."""
    rules = ConnectFour()
    cells = {(0, 2): "X", (1, 2): "X", (2, 2): "X", (4, 3): "O", (5, 3): "O", (6, 3): "O"}
    cells |= {(c, r): "XO"[(c + r // 2) % 2] for c in (0, 1, 2, 4, 5, 6) for r in range(6) if (c, r) not in cells}
    first = sum(1 << (c * 7 + r) for (c, r), mark in cells.items() if mark == "X")
    stones = sum(1 << (c * 7 + r) for c, r in cells)
    state = type(rules.initial_state())(first if stones.bit_count() % 2 == 0 else first ^ stones, stones)
    assert rules.evaluation(state, 0) == counted(rules, state) > 0


def separation(values: list[int], outcomes: list[int]) -> float:
    """How often a won position is valued above a lost one (a half for a tie)."""
    won = [value for value, outcome in zip(values, outcomes, strict=True) if outcome > 0]
    lost = [value for value, outcome in zip(values, outcomes, strict=True) if outcome < 0]
    pairs = [(high > low) + (high == low) / 2 for high in won for low in lost]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize(("name", "least"), [("Test_L2_R1", 0.85), ("Test_L1_R1", 0.9)])
def test_exact_values_are_foretold(name, least):
    """Published positions with exact scores, on the side of whoever is to move."""
    rules = ConnectFour()
    values, outcomes = [], []
    for line in (DATA / name).read_text().splitlines()[:400]:
        moves, score = line.split()
        state = rules.initial_state()
        for move in moves:
            state = rules.result(state, int(move) - 1)
        seat = rules.to_move(state)
        values.append(rules.evaluation(state, seat))
        outcomes.append(int(score))
    assert separation(values, outcomes) > least
