"""Go: the rules beside PettingZoo's, their corners one by one, and how playouts go."""

from __future__ import annotations

import random
from typing import Any

import pytest

from zermelo.agents import MCTSAgent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.monte_carlo.compiled.search import CompiledMonteCarlo
from zermelo.agents.monte_carlo.interface import RootSetup
from zermelo.agents.monte_carlo.plain import PlainMonteCarlo
from zermelo.envs import as_game
from zermelo.envs.games import Go
from zermelo.envs.games.go.board import group_of, point_of
from zermelo.envs.games.go.patterns import fits
from zermelo.envs.games.go.playouts import playout_point
from zermelo.envs.games.go.priors import is_caught
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.words import single


def played(rules: Go, moves: str) -> tuple[RulesGame, Any]:
    """The game, and its state after moves as the Go Text Protocol names them."""
    game = RulesGame(rules)
    state = game.initial_state()
    for move in moves.split():
        named = {rules.action_text(state, action): action for action in game.legal_actions(state)}
        state = game.result(state, named[move])
    return game, state


def legal(game: RulesGame, state: Any) -> set[str]:
    """The legal moves by name."""
    return {game.rules.action_text(state, action) for action in game.legal_actions(state)}


def test_equal_points_are_whites_at_pettingzoo_and_a_draw_here() -> None:
    env = make("classic/go-v5(board_size=3, komi=0)")
    env.reset(seed=1)
    for _ in range(2):
        game = as_game(env)
        env.step(9)
    assert env.rewards == {"black_0": -1, "white_0": 1}
    assert game.rules.komi == 0.25
    rules, state = played(Go(3, komi=0.0), "pass pass")
    assert rules.utility(state) == (0.0, 0.0)


def test_stones_without_a_liberty_are_captured() -> None:
    game, state = played(Go(3), "A1 B1 pass A2")
    assert game.rules.text(state) == ". . .\nO . .\n. O ."
    game, state = played(Go(3), "B3 A3 B2 A2 B1 pass A1")
    assert game.rules.text(state) == ". X .\n. X .\nX X ."


def test_suicide_is_illegal_but_for_a_capture() -> None:
    game, state = played(Go(3), "B1 pass A2 pass B3 pass")
    assert "A1" in legal(game, state)  # Black may fill its eye
    game, state = played(Go(3), "B1 pass A2 pass B3")
    assert "A1" not in legal(game, state)
    game, state = played(Go(3), "B2 B1 C1 pass A3")
    assert game.rules.text(state) == "X . .\n. X .\n. O X"
    state = game.result(state, 9)
    assert "A1" in legal(game, state)  # it captures B1


def test_a_ko_is_not_retaken_at_once() -> None:
    moves = "B3 C3 A2 D2 B1 C1 C2 B2"  # White's stone at B2 takes C2
    game, state = played(Go(4, superko=0), moves)
    assert "C2" not in legal(game, state)
    state = game.result(state, 16)
    assert game.rules.action_text(state, 16) == "pass"
    state = game.result(state, 16 - 1)
    assert "C2" in legal(game, state)


@pytest.mark.parametrize(("superko", "is_legal"), [(0, True), (1, False)])
def test_superko_forbids_what_ko_allows(superko: int, is_legal: bool) -> None:
    game, state = played(Go(2, superko=superko), "A1 B2 A2 B1 A1 A2")
    assert game.rules.text(state) == "O O\n. O"
    assert ("A1" in legal(game, state)) is is_legal  # it takes all three, and leaves what Black's first move did


def test_region_of_both_colours_is_nobodys() -> None:
    game, state = played(Go(5, komi=0.5), "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 pass pass")
    assert game.rules.margin(state) == 0
    assert game.utility(state) == (-1.0, 1.0)


def fitting(game: RulesGame, state: Any) -> set[str]:
    """Where a stone of the player to move makes one of the shapes."""
    size = game.rules.size
    own, other = (state.white, state.black) if state.turn & 1 else (state.black, state.white)
    points = [action for action in game.legal_actions(state) if action != size * size]
    found = [action for action in points if fits(point_of(action, size), own, other, state.empty, size)]
    return {game.rules.action_text(state, action) for action in found}


@pytest.mark.parametrize(
    ("moves", "shapes"),
    [
        ("C4", set()),
        ("C4 D4", {"C3", "D3", "C5", "D5"}),
        ("B1 C2 D1", {"C1", "B2", "D2"}),
    ],
)
def test_shapes_are_the_stones_around(moves: str, shapes: set[str]) -> None:
    assert fitting(*played(Go(6), moves)) == shapes
    assert fitting(*played(Go(6), "pass " + moves)) == shapes, "with colours reversed"


@pytest.mark.parametrize(
    ("moves", "answer"),
    [
        ("C3 C2 A5 D3 A4 B3", "C4"),  # out of atari
        ("A2 A3 B3 E5 E1 B2", "A4"),  # that saves A2, by a capture
        ("pass A3 pass B3 pass C3 pass C2 pass A1 pass C1", "B2"),  # else White lives there
        ("C4 D4 A1", "D5 C5 D3 C3"),
    ],
)
def test_playouts_answer_the_last_move(moves: str, answer: str) -> None:
    game, state = played(Go(5), moves)
    if answer.count(" "):
        state = state._replace(last=point_of(5 + 3, 5))  # D4
    places = {playout_point(state, 5, mix(seed)) for seed in range(20)}
    assert {game.rules.action_text(state, place - place // 6 - 6) for place in places} == set(answer.split())


def test_playouts_seldom_put_stones_into_atari() -> None:
    game, state = played(Go(3), "A1 C1 pass B2 pass A3 pass B3")
    assert game.rules.text(state) == "O O .\n. O .\nX . O"
    places = [playout_point(state, 3, mix(seed)) for seed in range(400)]
    joined = [place for place in places if place in (point_of(3, 3), point_of(7, 3))]
    assert 0 < len(joined) < 100 < len(places) - len(joined), "A2 and B1, of four points"


def priors_of(moves: str) -> dict[str, float]:
    """What each move begins with, by name."""
    game, state = played(Go(9), moves)
    actions = game.legal_actions(state)
    priors = game.action_priors(state, actions)
    return {game.rules.action_text(state, action): prior for action, prior in zip(actions, priors, strict=True)}


def test_priors_are_what_shows() -> None:
    priors = priors_of("E5")
    assert [priors[name] for name in ("E4", "E3", "E2", "E1")] == [24, 22, 8, -10], "by steps from the last move"
    assert [priors[name] for name in ("A1", "C3", "C2", "pass")] == [-10, 10, -10, -10]
    priors = priors_of("A1 B1 E5 E4 A9 A8")
    assert priors["B9"] == 22 + 10 - 10, "near and a hane, but caught at the edge"
    assert priors["A2"] == 10 - 10
    assert priors_of("A1 B1 E5 E4 A9")["A2"] == 15 + 10, "a capture"
    assert priors_of("A1 B2 E5 A3")["A2"] == 24 - 10, "two stones with one liberty"


def test_playouts_are_cut_off_before_they_go_in_circles() -> None:
    game = RulesGame(Go(5, superko=0))
    start = RootSetup(game, game.initial_state(), MCTSAgent().config, 1)
    assert PlainMonteCarlo(start, Budget(Limits())).playout_moves == 100
    assert Go(19).search_settings("mcts")["playout_moves"] > 19 * 19


@pytest.mark.parametrize(
    ("moves", "caught"),
    [
        ("D5 E5 E4 A1 F5 B1 D6", True),
        ("D5 E5 E4 A1 F5 G8 D6", False),  # White has a stone where the ladder goes
        ("D5 E5 E4 A1 F5 B8 D6", True),
        ("A1 E5 E4 A2 D5 A3 F5", False),  # it is three liberties that White gets
    ],
)
def test_ladders_are_read(moves: str, caught: bool) -> None:
    _, state = played(Go(9), moves)
    group = group_of(single(state.white, point_of(40, 9)), state.white, 9)  # E5, which has one liberty, E6
    assert is_caught(group, state.white, state.black, state.empty, 9) is caught
    assert (priors_of(moves)["E6"] < 30) is caught


@pytest.mark.thorough
def test_playouts_fill_no_eyes_and_end() -> None:
    game, generator = RulesGame(Go(5, superko=0)), random.Random(1)
    lengths = []
    for _ in range(5):
        state, moves = game.initial_state(), 0
        while not game.is_terminal(state):
            action = game.rules.playout_action(state, generator.getrandbits(63))
            assert action in game.legal_actions(state)
            state = game.result(state, action)
            moves += 1
        lengths.append(moves)
        board = game.rules.text(state).replace(" ", "")
        assert "X" in board or "O" in board
    assert max(lengths) < 200


@pytest.mark.thorough
@pytest.mark.parametrize("superko", [0, 1])
def test_compiled_search_is_the_plain_one(superko: int) -> None:
    game = RulesGame(Go(4, superko=superko))
    start = RootSetup(game, game.initial_state(), MCTSAgent(rave=50.0).config, 5)
    plain = PlainMonteCarlo(start, Budget(Limits()), evaluation=None, plays_out=True)
    compiled = CompiledMonteCarlo(game, None, Budget(Limits()), limits=Limits(), start=start)
    for search in (plain, compiled):
        search.simulate(40)
    assert plain.root_actions() == compiled.root_actions()
    assert plain.budget.nodes == compiled.budget.nodes
