"""EinStein würfelt nicht!: placing, the die's choice of stones, captures, ends, and OpenSpiel's rules."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from zermelo.envs import CHANCE, as_game
from zermelo.envs.games import EinStein
from zermelo.envs.games.einstein import EinSteinState
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.observations import observation


def position(rows: str, seat: int = 0, die: int = 0) -> EinSteinState:
    """A state from a picture: A to F are the first player's stones, 1 to 6 the second player's."""
    marks = rows.split()
    sides = [
        sum((marks.index(name) if name in marks else 63) << 6 * stone for stone, name in enumerate(names))
        for names in ("ABCDEF", "123456")
    ]
    return EinSteinState(sides[0], sides[1], 12, seat, die)


def moves(rules: EinStein, state: EinSteinState) -> set[str]:
    return {rules.action_text(state, action) for action in RulesGame(rules).legal_actions(state)}


def test_players_place_their_stones_in_turn() -> None:
    rules = EinStein()
    game = RulesGame(rules)
    state = game.initial_state()
    for number in range(12):
        assert game.to_move(state) == number // 6
        assert list(game.legal_actions(state)) == list(range(75, 81 - number % 6))
        state = game.result(state, game.legal_actions(state)[-1])
    rows = rules.text(state).split("\n")
    assert rows[:5] == ["F E D . .", "C B . . .", "A . . . 1", ". . . 2 3", ". . 4 5 6"]
    assert game.to_move(state) == CHANCE
    assert game.chance_outcomes(state) == [(face, 1 / 6) for face in range(6)]
    assert game.to_move(game.result(state, 2)) == 0


def test_every_random_start_is_as_likely() -> None:
    game = RulesGame(EinStein(random_start=True))
    seen: dict[Any, float] = {game.initial_state(): 1.0}
    for _ in range(6):
        after: dict[Any, float] = {}
        for state, chance in seen.items():
            assert game.to_move(state) == CHANCE
            for outcome, probability in game.chance_outcomes(state):
                placed = game.result(state, outcome)
                after[placed] = after.get(placed, 0.0) + chance * probability
        seen = after
    assert len(seen) == 720
    assert list(seen.values()) == pytest.approx([1 / 720] * 720)


BOARD = """
A . . . .
. . C . .
. 2 . F .
. . . . 6
. . 3 . .
"""


@pytest.mark.parametrize(
    ("seat", "die", "expected"),
    [
        (0, 1, {"a1-b1", "a1-b2", "a1-a2"}),
        (0, 2, {"a1-b1", "a1-b2", "a1-a2", "c2-d2", "c2-d3", "c2-c3"}),  # either neighbour of 2: A or C
        (0, 4, {"c2-d2", "c2-d3", "c2-c3", "d3-e3", "d3-e4", "d3-d4"}),
        (0, 6, {"d3-e3", "d3-e4", "d3-d4"}),
        (1, 1, {"b3-a3", "b3-a2", "b3-b2"}),  # only the next higher
        (1, 3, {"c5-b5", "c5-b4", "c5-c4"}),
        (1, 5, {"c5-b5", "c5-b4", "c5-c4", "e4-d4", "e4-d3", "e4-e3"}),
    ],
)
def test_the_die_chooses(seat: int, die: int, expected: set[str]) -> None:
    rules = EinStein()
    state = position(BOARD, seat, die)
    assert moves(rules, state) == expected
    actions = RulesGame(rules).legal_actions(state)
    assert sorted(set(actions)) == list(actions)


def test_stones_on_an_edge_run_along_it() -> None:
    rules = EinStein()
    state = position(". . . . A . . . . . . . . . . 1 . . . . . . . . .", 0, 5)
    assert moves(rules, state) == {"e1-e2"}
    assert moves(rules, state._replace(seat=1)) == {"a4-a3"}


def test_own_stones_are_taken_too_and_ends() -> None:
    rules = EinStein()
    game = RulesGame(rules)
    state = game.result(position(BOARD, 0, 3), 3 * 7 + 1)  # c2 takes d3, its own
    assert rules.text(state).split("\n")[2] == ". 2 . C ."
    assert state.die == 0
    assert game.to_move(state) == CHANCE
    reached = game.result(position(". . . . . . . . . . . . . . . . . . . . 1 . . A .", 0, 1), 3 * 23)
    assert game.is_terminal(reached)
    assert game.utility(reached) == (1.0, -1.0)
    emptied = game.result(position("A . . . . . 1 . . . . . . . . . . . . . . . . . .", 0, 1), 1)
    assert game.is_terminal(emptied)
    assert game.utility(emptied) == (1.0, -1.0)
    second = game.result(position("A . . . . . 1 . . . . . . . . . . . . . . . . . .", 1, 1), 3 * 6 + 1)
    assert game.is_terminal(second)
    assert game.utility(second) == (-1.0, 1.0)


def test_agrees_with_openspiel() -> None:
    """There white, the second player, moves first: its corner is our first player's, seen from the other side."""
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game("einstein_wurfelt_nicht")
    game, generator = as_game(EinStein(random_start=True)), random.Random(11)

    def read(other: Any) -> tuple[int, int]:
        cells = re.findall(r"\|(..)\|", str(other))
        assert len(cells) == 25
        return tuple(  # type: ignore[return-value]  # two sides
            sum(
                (24 - cells.index(f"{side}{s + 1}") if f"{side}{s + 1}" in cells else 63) << 6 * s
                for s in range(6)
            )
            for side in "wb"
        )

    for _ in range(60):
        other = theirs.new_initial_state()
        for _ in range(2):
            other.apply_action(generator.choice(other.legal_actions()))
        state = EinSteinState(*read(other), 12, 0, 0)
        while not other.is_terminal():
            assert not game.is_terminal(state)
            assert other.is_chance_node()
            assert game.chance_outcomes(state) == other.chance_outcomes()
            face = generator.randrange(6)
            other.apply_action(face)
            state = game.result(state, face)
            assert game.to_move(state) == 1 - other.current_player()
            after = {game.result(state, action)[:2]: action for action in game.legal_actions(state)}
            children = {read(other.child(action)): action for action in other.legal_actions()}
            assert sorted(after) == sorted(children)
            chosen = generator.choice(sorted(after))
            state = game.result(state, after[chosen])
            other.apply_action(children[chosen])
        assert game.is_terminal(state)
        assert list(game.utility(state)) == other.returns()[::-1]


def test_what_is_seen() -> None:
    rules = EinStein()
    state = position(BOARD, 0, 4)
    first, second = (observation(rules, state, seat) for seat in range(2))
    assert first[:, :, 0].tolist() == second[:, :, 1].tolist()
    assert first[1, 2].tolist() == [3, 0, 4, 0]
    assert second[3, 4].tolist() == [6, 0, -4, 1]
    assert rules.evaluation(state, 0) == -rules.evaluation(state, 1) == 0  # F and 2 both need two moves
