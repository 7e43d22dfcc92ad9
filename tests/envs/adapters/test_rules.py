"""PettingZoo's environments of which there are rules: the same games, move for move."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from doubles.game_envs import started
from oracles.pettingzoo_play import play_beside_pettingzoo
from pettingzoo.utils import BaseWrapper, wrappers

from zermelo.envs import UnsupportedGameError, as_game, clone_env, make
from zermelo.envs.adapters.aec import AECGame
from zermelo.envs.adapters.rules import LiveRulesGame
from zermelo.envs.game import TraitSource
from zermelo.envs.games import MNK, Chess, ConnectFour, Go, Leduc
from zermelo.envs.live.wrappers import innermost

EQUIVALENT = {"classic/tictactoe-v3": MNK(3, 3, 3), "classic/connect_four-v3": ConnectFour(6, 7)}
each_env = pytest.mark.parametrize("name", EQUIVALENT)


def position(name: str, moves: tuple[int, ...] = ()) -> Any:
    return started(make(name), moves=moves)


@pytest.mark.parametrize(
    ("name", "rules", "settings"),
    [
        ("classic/tictactoe-v3", MNK(3, 3, 3), {"games": 120}),
        ("classic/connect_four-v3", ConnectFour(6, 7), {"games": 120}),
        ("classic/chess-v6", Chess(), {"games": 1, "longest": 40}),
        ("classic/leduc_holdem-v4", Leduc(blinds=True), {"games": 12}),
        ("classic/go-v5(board_size=3)", Go(3, 7.5, 0), {"games": 6, "longest": 60, "last": 0.2}),
        *(
            pytest.param(*row, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])
            for row in (
                ("classic/tictactoe-v3", MNK(3, 3, 3), {"games": 5000}),
                ("classic/connect_four-v3", ConnectFour(6, 7), {"games": 5000}),
                ("classic/chess-v6", Chess(), {"games": 200}),
                ("classic/leduc_holdem-v4", Leduc(blinds=True), {"games": 10_000}),
                ("classic/go-v5(board_size=5, komi=0.5)", Go(5, 0.5, 0), {"games": 60, "last": 0.05}),
                (
                    "classic/go-v5(board_size=7, komi=3)",
                    Go(7, 3.25, 0),
                    {"games": 20, "longest": 200, "last": 0.02},
                ),
                ("classic/go-v5", Go(9, 7.5, 0), {"games": 20, "longest": 200, "last": 0.02}),
                ("classic/go-v5(board_size=13, komi=6)", Go(13, 6.25, 0), {"games": 3, "longest": 200}),
                ("classic/go-v5(board_size=19)", Go(19, 7.5, 0), {"games": 2, "longest": 200}),
            )
        ),
    ],
    ids=str,
)
def test_random_games_are_the_same(name: str, rules: Any, settings: dict[str, Any]) -> None:
    outcomes = play_beside_pettingzoo(name, rules, seed=3, **settings)
    assert len(outcomes) > 1 or type(rules) in (Chess, Go)


@each_env
def test_rules_and_clone_are_the_same_game(name: str) -> None:
    """Every state within three moves, seen through the rules and through copies."""
    env = position(name)
    by_rules, by_clone = as_game(env), as_game(env, backend="clone")
    assert isinstance(by_clone, AECGame)

    def walk(state: Any, copied: Any, depth: int) -> None:
        assert by_rules.is_terminal(state) == by_clone.is_terminal(copied)
        assert by_rules.to_move(state) == by_clone.to_move(copied)
        actions = list(by_rules.legal_actions(state))
        assert actions == list(by_clone.legal_actions(copied))
        if depth:
            for action in actions:
                walk(by_rules.result(state, action), by_clone.result(copied, action), depth - 1)

    walk(by_rules.snapshot(env), by_clone.snapshot(env), 3)
    for trait in ("reward_sum", "chance", "information", "utility_bounds", "terminal_rewards_only", "num_actions"):
        assert getattr(by_rules.traits, trait) == getattr(by_clone.traits, trait), trait
    assert by_rules.traits.name == by_clone.traits.name
    assert by_rules.traits.seat_names == by_clone.traits.seat_names
    assert by_rules.traits.source("chance") is TraitSource.DECLARED


@each_env
def test_backends(name: str) -> None:
    env = position(name)
    assert isinstance(as_game(env), LiveRulesGame)
    assert as_game(env).rules == EQUIVALENT[name]
    assert as_game(env, backend="rules").rules == EQUIVALENT[name]
    assert isinstance(as_game(env, backend="clone"), AECGame)
    assert as_game(env) is as_game(env)
    assert as_game(clone_env(env)).rules == EQUIVALENT[name]
    assert as_game(env.unwrapped).rules == EQUIVALENT[name]


# -- only where it is that game -----------------------------------------------------------------------------------


@pytest.mark.thorough
@each_env
def test_a_subclass_is_searched_through_its_copies(name: str) -> None:
    raw = innermost(position(name))
    changed = started(type("raw_env", (type(raw),), {})())
    assert isinstance(as_game(changed), AECGame)
    with pytest.raises(UnsupportedGameError, match="no rules are registered"):
        as_game(changed, backend="rules")


@pytest.mark.thorough
@each_env
def test_a_wrapper_that_may_change_the_game_is_searched_through_its_copies(name: str) -> None:
    class Reward(BaseWrapper):
        pass

    raw = innermost(position(name))
    assert isinstance(as_game(Reward(raw)), AECGame)
    assert as_game(BaseWrapper(raw)).rules == EQUIVALENT[name]
    assert as_game(wrappers.AssertOutOfBoundsWrapper(raw)).rules == EQUIVALENT[name]


@each_env
def test_an_environment_whose_step_was_replaced_is_searched_through_its_copies(name: str) -> None:
    env = position(name)
    game = as_game(env)
    raw = innermost(env)
    raw.step = raw.step
    assert isinstance(as_game(env), AECGame)
    with pytest.raises(UnsupportedGameError, match="cannot reach"):
        game.snapshot(env)


@each_env
def test_an_environment_whose_seats_changed_is_another_game(name: str) -> None:
    env = position(name)
    game = as_game(env)
    raw = innermost(env)
    raw.possible_agents = raw.possible_agents[::-1]
    assert isinstance(as_game(env), AECGame)  # the first seat of the rules would not be the one to move
    with pytest.raises(UnsupportedGameError, match=r"class and seats must be the same"):
        game.snapshot(env)
    raw.possible_agents = raw.possible_agents[::-1]
    assert as_game(env).rules == EQUIVALENT[name]


def test_an_environment_in_the_place_of_another_under_a_wrapper_is_another_game() -> None:
    env = BaseWrapper(innermost(position("classic/connect_four-v3")))
    assert as_game(env).rules == EQUIVALENT["classic/connect_four-v3"]
    env.env = innermost(position("classic/tictactoe-v3"))
    assert as_game(env).rules == EQUIVALENT["classic/tictactoe-v3"]


@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("classic/tictactoe-v3", [1, 1, 0, 0, 0, 0, 0, 0, 0]),  # one stone too many
        ("classic/tictactoe-v3", [2, 0, 0, 0, 0, 0, 0, 0, 0]),  # the second player began
        ("classic/tictactoe-v3", [1, 0, 0, 0, 0, 0, 0, 0, 0]),  # right, but it is not the first player's turn
        ("classic/tictactoe-v3", [3, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("classic/tictactoe-v3", [1, 1, 1, 2, 2, 2, 0, 0, 0]),  # over, though the environment goes on
        ("classic/connect_four-v3", [0] * 35 + [1, 0, 0, 0, 0, 0, 0]),
        ("classic/connect_four-v3", [1, 2] + [0] * 40),  # in the air
        ("classic/connect_four-v3", [0] * 41 + [5]),
        ("classic/connect_four-v3", [0] * 56),
    ],
)
def test_positions_that_rules_do_not_know_are_left_to_the_clone(name: str, board: list[int]) -> None:
    env = position(name)
    game = as_game(env)
    if "tictactoe" in name:
        env.unwrapped.board.squares = board
    else:
        env.unwrapped.board = board
    assert isinstance(as_game(env), AECGame)
    with pytest.raises(
        UnsupportedGameError, match=r"in a position that its rules cannot reach, .*backend='clone'"
    ):
        game.snapshot(env)
    env.reset()
    assert as_game(env).rules == EQUIVALENT[name]


def test_a_position_set_up_by_hand_is_searched_by_rules_if_they_know_it() -> None:
    env = position("classic/connect_four-v3")
    env.unwrapped.board = [0] * 35 + [1, 1, 0, 2, 0, 0, 2]
    game = as_game(env)
    assert game.rules == ConnectFour()
    assert game.text(game.snapshot(env)).split("\n")[-1] == "X X . O . . O"


# -- ends ---------------------------------------------------------------------------------------------------------


@each_env
@pytest.mark.parametrize("dead_steps", [0, 1, 2])
def test_ends_are_read_until_the_last_agent_is_gone(name: str, dead_steps: int) -> None:
    env = position(name, (0, 3, 1, 4, 2) if "tictactoe" in name else (0, 1, 0, 1, 0, 1, 0))
    for _ in range(dead_steps):
        env.step(None)
    game = as_game(env)
    state = game.snapshot(env)
    assert game.rules == EQUIVALENT[name]
    assert game.is_terminal(state)
    assert game.utility(state) == (1.0, -1.0)
    assert list(game.legal_actions(state)) == []
    drawn = position("classic/tictactoe-v3", (0, 1, 2, 4, 3, 5, 7, 6, 8))
    assert as_game(drawn).utility(as_game(drawn).snapshot(drawn)) == (0.0, 0.0)


@each_env
def test_an_illegal_end_is_left_to_the_clone(name: str) -> None:
    env = position(name, (0,) if "tictactoe" in name else (0, 0, 0, 0, 0, 0))
    game = as_game(env)
    env.step(0)
    assert all(env.terminations.values())
    with pytest.raises(UnsupportedGameError, match="was ended by an illegal action"):
        game.snapshot(env)
    fallen_back = as_game(env)
    state = fallen_back.snapshot(env)
    assert fallen_back.is_terminal(state)
    assert min(fallen_back.utility(state)) == -1.0
    env.reset()
    assert as_game(env).rules == EQUIVALENT[name]


def test_what_is_no_such_position() -> None:
    game = as_game(position("classic/connect_four-v3"))
    with pytest.raises(UnsupportedGameError, match="reads positions of connect_four_v3, not of tictactoe_v3"):
        game.snapshot(position("classic/tictactoe-v3"))
    with pytest.raises(UnsupportedGameError, match="has not been reset"):
        game.snapshot(make("classic/connect_four-v3"))


# -- what people see ----------------------------------------------------------------------------------------------


def test_tic_tac_toe_is_drawn_as_the_environment_draws_it() -> None:
    env = position("classic/tictactoe-v3", (0, 1, 5))  # columns first: top left, middle left, bottom middle
    game = as_game(env)
    state = game.snapshot(env)
    assert game.text(state) == "X . .\nO . .\n. X ."
    assert [game.action_text(state, action) for action in (2, 3, 8)] == ["a1", "b3", "c1"]


def test_connect_four_is_drawn_as_the_environment_keeps_it() -> None:
    env = position("classic/connect_four-v3", (3, 3, 0))
    game = as_game(env)
    state = game.snapshot(env)
    marks = ["." if piece == 0 else "XO"[piece - 1] for piece in env.unwrapped.board]
    assert game.text(state).split() == marks
    assert game.action_text(state, 3) == "d"


def test_nothing_of_pettingzoo_is_imported_for_twins() -> None:
    program = """
import sys, zermelo.envs, zermelo.agents
print([name for name in ("pettingzoo", "gymnasium", "pygame", "numba") if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
