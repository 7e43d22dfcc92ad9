"""One agent object, many searches: every search agent answers wherever it is asked as if it were new.

It goes through a game for all seats, to an unrelated position and back, to another game and back, after Ctrl-C and
after errors; trees and tables are kept. What is proven is checked by the textbook's algorithms.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import pytest
from doubles.grown_rules import Grown
from doubles.small_games import Leaf, Node, TreeGame
from oracles.contract import KINDS, Position, textbook
from oracles.signatures import Uncompiled

from zermelo.agents import SearchResult, list_agents, make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.experts import by_name
from zermelo.envs import CHANCE
from zermelo.envs.games import MNK, DotsAndBoxes, Goofspiel, Kuhn, Leduc
from zermelo.envs.rules import RulesGame


def puzzle(*ends: int) -> TreeGame:
    """A game of one player, of two moves."""
    halves = [Node(0, [Leaf(end) for end in part]) for part in (ends[:2], ends[2:])]
    return TreeGame(Node(0, halves), seats=1, bounds=(0, 9))


RULES: dict[str, tuple[Any, Any, int]] = {
    # By kind of game: rules or a game, others, and how many moves are played at random first.
    "puzzle": (puzzle(1, 3, 2, 0), puzzle(2, 0, 5, 4), 0),
    "two": (MNK(3, 3, 3), MNK(3, 2, 2), 3),
    "dice": (Grown(seed=77_000, height=5, width=20), Grown(seed=78_000, height=5, width=20), 0),
    "many": (DotsAndBoxes(1, 2, players=3), DotsAndBoxes(2, 1, players=3), 1),
    "cards": (Kuhn(2), Leduc(), 0),
    "at once": (Goofspiel(3), Goofspiel(4, False), 0),
}
SEARCHES: dict[str, tuple[str, ...]] = {
    **KINDS,
    "auto": (*KINDS["auto"], "cards", "at once"),
    "best_first": ("puzzle",),
    "ismcts": ("cards", "at once"),
    "simultaneous_mcts": ("at once",),
    "backward_induction": ("at once",),
}
ELSEWHERE = frozenset(
    (
        "best_response", "cfr", "gtp", "level", "noisy", "onnx", "openspiel_mcts", "policy", "policytable",
        "random", "sb3", "torch", "uci", *by_name("agents"), *by_name("programs"),
    )
)  # fmt: skip
"""Agents that play what they have learned or looked up, or one game, or ask another agent or program."""
SETTINGS: dict[str, Any] = {
    # Those that an agent has of these are set.
    "depth": "full",
    "reuse": True,
    "memory_mb": 4,
    "most_states": 100_000,
}
SIMULATIONS = {"mcts": 1_500, "ismcts": 60, "simultaneous_mcts": 60}
PLAIN_ONLY = ("cards", "at once")
COMPILED = (
    # Those whose kernels other tests need too.
    ("alphabeta", "two"),
    ("minimax", "two"),
    ("mcts", "two"),
    ("auto", "two"),
    ("expectiminimax", "dice"),
    ("mcts", "dice"),
    ("maxn", "many"),
    ("paranoid", "many"),
    ("bestreply", "many"),
)


def new_agent(kind: str, **settings: Any) -> Any:
    agent: Any = make_agent(kind)
    known = {field.name for field in dataclasses.fields(agent)}
    settings = {name: value for name, value in (SETTINGS | settings).items() if name in known}
    if kind in SIMULATIONS:
        settings["simulations"] = SIMULATIONS[kind]
    if kind == "auto":
        settings["nodes"] = 3_000
    return dataclasses.replace(agent, name="", **settings)


def random_game(game: Any, generator: random.Random) -> list[Any]:
    """The states of a random game in which a player is to move."""
    state, states = game.initial_state(), []
    while not game.is_terminal(state):
        if game.to_move(state) == CHANCE:
            actions = [outcome for outcome, _ in game.chance_outcomes(state)]
        else:
            actions = list(game.legal_actions(state))
            states.append(state)
        state = game.result(state, generator.choice(actions))
    return states


def journey(kind: str, how: str) -> Iterator[tuple[Any, Any]]:
    """Games and states: down a game, sideways to another line of it, back, to another game and back."""
    rules, others, opening = RULES[kind]
    make = Uncompiled if how == "plain" and kind not in PLAIN_ONLY else RulesGame
    game, other = (each if isinstance(each, TreeGame) else make(each) for each in (rules, others))
    generator = random.Random(f"{kind} {how}")
    walk, sideways = (random_game(game, generator)[opening:] for _ in range(2))
    elsewhere = random_game(other, generator)[opening:]
    for state in (*walk, *sideways[-2:], *walk[:2]):
        yield game, state
    for state in (*elsewhere, *elsewhere[:1]):
        yield other, state
    for state in (*walk[-2:], *sideways[:1]):
        yield game, state


@contextlib.contextmanager
def failing(error: type[BaseException], after: int) -> Iterator[None]:
    """Has a search end in an error once it has counted so many nodes or looked at the clock so often."""
    calls = 0

    def watched(before: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > after:
                raise error
            return before(*arguments)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "visit", watched(Budget.visit))
        patch.setattr(Budget, "check_clock", watched(Budget.check_clock))
        yield


def _cases() -> Iterator[Any]:
    for kind, games in SEARCHES.items():
        for game in games:
            ways = ["plain", "compiled"] if (kind, game) in COMPILED else ["plain"]
            if "compiled" in ways and kind in ("alphabeta", "mcts"):
                ways.append("threads")
            for how in ways:
                yield pytest.param(kind, game, how, id=f"{kind} {game} {how}")


def test_every_search_is_covered() -> None:
    listed = {entry.name for entry in list_agents(learned=True)}
    assert listed == set(SEARCHES) | ELSEWHERE


@pytest.mark.parametrize(("kind", "game_kind", "how"), list(_cases()))
def test_one_agent_goes_anywhere(kind: str, game_kind: str, how: str) -> None:
    threads = {"threads": 3} if how == "threads" else {}
    agent = new_agent(kind, **threads)
    generator = random.Random(f"{kind} {game_kind}")
    for number, (game, state) in enumerate(journey(game_kind, how)):
        if number % 3 == 1:
            error = KeyboardInterrupt if number % 2 else ValueError
            with failing(error, generator.choice((1, 20, 100))), contextlib.suppress(error):
                agent.search_state(game, state)
        check(kind, game_kind, game, state, agent.search_state(game, state))
    if threads:
        return  # no two searches are the same
    game, state = next(journey(game_kind, how))
    agent.reset(7)
    again, fresh = agent.search_state(game, state), new_agent(kind, seed=7).search_state(game, state)
    same = [dataclasses.replace(result, seconds=0.0, compiling=0.0, leaf_seconds=0.0) for result in (again, fresh)]
    assert same[0] == same[1], "as a new agent after reset"


def check(kind: str, game_kind: str, game: Any, state: Any, result: SearchResult) -> None:
    what = kind, state, result
    seat = game.to_move(state)
    assert result.action in game.legal_actions(state), what
    assert set(result.action_values) <= set(game.legal_actions(state)), what
    assert result.values_by_seat[seat] == pytest.approx(result.value), what
    position = Position(game, state, None, "")
    if kind == "greedy" or game_kind in PLAIN_ONLY or (game_kind == "many" and kind in ("mcts", "auto")):
        return
    oracle = kind if kind in ("expectimax", "maxn", "paranoid", "bestreply") else "expectiminimax"
    assert result.proven or kind in ("bestreply", "value_iteration", "auto"), what
    if result.proven or kind != "auto":
        found = result.values_by_seat if kind == "maxn" else result.value
        assert found == pytest.approx(textbook(oracle, position, 99), abs=1e-6), what
        assert found == pytest.approx(textbook(oracle, position, 99, result.action), abs=1e-6), what
    if result.proven:
        check_line(kind, position, result, what)


def check_line(kind: str, position: Position, result: SearchResult, what: Any) -> None:
    """The principal variation of a proven result ends in its value, unless chance comes before."""
    game, state = position.game, position.state
    for action in result.principal_variation:
        assert action in game.legal_actions(state), what
        state = game.result(state, action)
        if not game.is_terminal(state) and game.to_move(state) == CHANCE:
            return
    if kind in ("expectimax", "bestreply"):
        return  # opponents' actions are drawn, or left out
    assert game.is_terminal(state), what
    assert game.utility(state)[position.seat] == pytest.approx(result.value), what
