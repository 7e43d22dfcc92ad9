"""What every searching agent keeps to: plain, compiled and in threads, with any table, under any limit.

The textbook (``zermelo.agents.textbook``) says what is true. A new agent is covered here or said not to search;
else the first test fails.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from doubles.grown_rules import Grown
from oracles.contract import GAMES, KINDS, NOT_A_SEARCH, Position, game_kind, positions, textbook
from oracles.signatures import Uncompiled

from zermelo.agents import SearchResult, list_agents, make_agent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.specs import describe_settings
from zermelo.envs import CHANCE
from zermelo.envs.games import MNK, DotsAndBoxes
from zermelo.envs.rules import RulesGame

LIMITED = [kind for kind in KINDS if kind not in ("auto", "greedy", "mcts", "value_iteration")]
"""Agents with limits on depth; ``test_monte_carlo`` has those that simulate."""

SETTINGS: dict[str, list[dict[str, Any]]] = {
    # What decides how an agent searches, but not what it finds.
    "minimax": [{}],
    "alphabeta": [
        {},
        {"memory_mb": 0},
        {"memory_mb": 0.01, "exact": True},
        {"memory_mb": 1, "prefer_short_wins": False, "window": "full", "ordering": "fixed"},
        {"memory_mb": 1, "threads": 2},
    ],
    "expectiminimax": [
        {},
        {"memory_mb": 0, "pruning": "star1"},
        {"memory_mb": 1, "pruning": "star2"},
        {"memory_mb": 0.01, "pruning": "star2", "exact": True, "prefer_short_wins": False},
    ],
    "expectimax": [{}, {"memory_mb": 0}],
    "maxn": [
        {},
        {"memory_mb": 0, "exact": True},
        {"memory_mb": 0.01, "shallow": False, "prefer_short_wins": False},
    ],
    "paranoid": [
        {},
        {"memory_mb": 0},
        {"memory_mb": 0.01, "exact": True},
        {"memory_mb": 1, "prefer_short_wins": False},
    ],
    "bestreply": [{}, {"memory_mb": 0}, {"memory_mb": 0.01, "exact": True}],
}
ALWAYS: dict[str, dict[str, Any]] = {
    "alphabeta": {"quiescence": 0},
    "expectiminimax": {"chance_at_limit": "average"},
    "expectimax": {"chance_at_limit": "average"},
}
COMPILED = {
    # The rules that each agent is compiled for here: every one more costs seconds where no machine code is kept.
    # Those that a kernel is compiled for in no other test are left to the slow tests (``COMPILED_SLOWLY``).
    "minimax": ("MNK(3,3,3)", "Nim"),
    "alphabeta": ("MNK(3,3,3)", "Nim", "DotsAndBoxes(2,2)", "Kalah"),
    "expectiminimax": ("Grown",),
    "expectimax": (),
    "maxn": ("MNK(3,2,2", "DotsAndBoxes(1,2", "Grown"),
    "paranoid": ("MNK(3,2,2", "DotsAndBoxes(1,2", "Grown"),
    "bestreply": ("MNK(3,2,2", "DotsAndBoxes(1,2", "Grown"),
}
COMPILED_SLOWLY = {
    "maxn": "MNK(3,2,2,players=3) compiled",
    "paranoid": "MNK(3,2,2,players=3) compiled",
    "bestreply": "MNK(3,2,2,players=3) compiled",
}
LIMITS = (1, 2, 4, 8, 13, 20, 32, 60, 150)


def _cases() -> Iterator[Any]:
    for kind in LIMITED:
        for game in GAMES:
            compiled = game.endswith(" compiled")
            if game_kind(game) not in KINDS[kind] or (compiled and not game.startswith(COMPILED[kind])):
                continue
            is_apt = kind in ("minimax", "alphabeta") or game_kind(game) != "two"
            for settings in SETTINGS[kind] if is_apt else SETTINGS[kind][-1:]:
                if compiled or settings.get("threads", 1) == 1:
                    told = "".join(f" {name}={value}" for name, value in settings.items())
                    marks = [pytest.mark.slow] if game == COMPILED_SLOWLY.get(kind) else []
                    yield pytest.param(kind, game, settings, id=f"{kind} {game}{told}", marks=marks)


every_search = pytest.mark.parametrize(("kind", "game", "settings"), list(_cases()))


def searched(kind: str, position: Position, settings: dict[str, Any], **limits: Any) -> SearchResult:
    """What an agent finds."""
    agent: Any = made(kind, position, settings, **limits)
    result: SearchResult = agent.search_state(position.game, position.state)
    return result


def made(kind: str, position: Position, settings: dict[str, Any], **limits: Any) -> Any:
    agent: Any = make_agent(kind)
    return dataclasses.replace(
        agent,
        name="",
        evaluator=position.evaluator,
        **ALWAYS.get(kind, {}),
        **settings,
        **({"depth": "full"} | limits),
    )


def close(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9)


def answer(kind: str, result: SearchResult) -> Any:
    return result.values_by_seat if kind == "maxn" else result.value


def for_mover(position: Position, value: Any) -> float:
    return float(value[position.seat] if isinstance(value, tuple) else value)


def actions_of(position: Position) -> list[int]:
    return list(position.game.legal_actions(position.state))


def check_truth(kind: str, position: Position, result: SearchResult, what: Any) -> None:
    """What is proven is true, and a line of play that ends the game ends in the value."""
    if result.proven:
        assert answer(kind, result) == close(textbook(kind, position, 99)), ("proven, but wrong", what)
        assert answer(kind, result) == close(textbook(kind, position, 99, result.action)), ("not best", what)
        for action, value in result.action_values.items():
            if result.stopped_by is not StoppedBy.COMPLETED and value != result.value:
                continue  # of an action that is not the best an evaluation may be all that is known
            true = for_mover(position, textbook(kind, position, 99, action))
            assert value == close(true), (f"action {action}", what)
    state, game = position.state, position.game
    for action in result.principal_variation:
        assert not game.is_terminal(state), ("the line goes on after the end", what)
        assert game.to_move(state) != CHANCE, ("the line knows what is rolled", what)
        assert action in game.legal_actions(state), ("the line is not legal", what)
        state = game.result(state, action)
    if game.is_terminal(state) and (result.depth or result.action_values):  # else nothing was searched
        values = tuple(map(float, game.utility(state)))
        known = values if kind == "maxn" else values[position.seat]
        assert answer(kind, result) == close(known), ("the line ends otherwise", result.principal_variation, what)
    assert result.action == result.principal_variation[0], what


def test_every_agent_is_covered() -> None:
    listed = {entry.name for entry in list_agents(learned=True)}
    assert listed == set(KINDS) | NOT_A_SEARCH, "a new agent belongs into oracles.contract"
    assert set(SETTINGS) == set(LIMITED) == set(COMPILED)


@every_search
def test_to_the_end(kind: str, game: str, settings: dict[str, Any]) -> None:
    """Without limits the value is the textbook's, it is proven, and the action achieves it."""
    for position in positions(game):
        result = searched(kind, position, settings)
        what = position.name, result
        assert answer(kind, result) == close(textbook(kind, position, 99)), what
        assert answer(kind, result) == close(textbook(kind, position, 99, result.action)), what
        assert result.proven or (kind == "bestreply" and position.game.traits.seats > 2), what
        check_truth(kind, position, result, what)


DEEPENING = [kind for kind in LIMITED if "deepening" in {setting.name for setting in describe_settings(kind)}]


@pytest.mark.parametrize("kind", DEEPENING)
def test_deepening_needs_no_limit(kind: str) -> None:
    for name in ("Nim(1,2,2) plain", "MNK(3,2,2,players=3) plain", "Grown(2) plain"):
        if game_kind(name) in KINDS[kind]:
            position = positions(name)[0]
            agent: Any = dataclasses.replace(make_agent(kind), name="", deepening=True)  # type: ignore[type-var]
            result = agent.search_state(position.game, position.state)
            assert answer(kind, result) == close(textbook(kind, position, 99)), result


@every_search
def test_at_every_depth(kind: str, game: str, settings: dict[str, Any]) -> None:
    """The value is that of the textbook's search of the same depth, the action's too."""
    for position in positions(game):
        for depth in (1, 2, 3, 5):
            result = searched(kind, position, settings, depth=depth)
            what = position.name, depth, result
            assert result.depth <= depth, what
            assert answer(kind, result) == close(textbook(kind, position, depth)), what
            assert answer(kind, result) == close(textbook(kind, position, depth, result.action)), what
            check_truth(kind, position, result, what)


@every_search
def test_under_node_limits(kind: str, game: str, settings: dict[str, Any]) -> None:
    """A limit loses no finished iteration, and what an unfinished one adds is true of the action played."""
    for position in positions(game):
        for nodes in LIMITS:
            finished: list[SearchResult] = []
            result = searched(kind, position, settings, nodes=nodes, on_iteration=finished.append)
            what = position.name, nodes, result
            assert result.nodes <= nodes * settings.get("threads", 1), what
            check_truth(kind, position, result, what)
            assert result.depth == (finished[-1].depth if finished else 0), what
            if finished:
                check_half_way(kind, position, result, finished[-1], what)


def check_half_way(kind: str, position: Position, result: SearchResult, finished: SearchResult, what: Any) -> None:
    """The answer is the finished iteration's; or what the next one, unfinished, has found of the action."""
    depth = result.depth
    best = textbook(kind, position, depth)
    assert answer(kind, finished) == close(best), ("not the value at that depth", finished, what)
    worst = position.game.traits.utility_bounds[0]
    if result.value == worst and not result.proven:
        for other in actions_of(position):
            at_depth = for_mover(position, textbook(kind, position, depth, other))
            deeper = for_mover(position, textbook(kind, position, depth + 1, other))
            assert worst in (at_depth, deeper), ("was seen to lose, unlike", other, what)
    here = textbook(kind, position, depth, result.action)
    if answer(kind, result) == close(best) and here == close(best):
        return  # as the finished iteration has it
    if answer(kind, result) == close(textbook(kind, position, depth + 1, result.action)):
        return  # as the unfinished iteration has it
    if result.proven:
        return  # checked against the whole tree
    # The finished iteration's best has been refuted, and the next best is known by a bound, or not at all.
    value = for_mover(position, best)
    refuted = [a for a in actions_of(position) if for_mover(position, textbook(kind, position, depth, a)) == value]
    deeper_ones = [for_mover(position, textbook(kind, position, depth + 1, action)) for action in refuted]
    assert min(deeper_ones) < value, ("neither the finished nor the unfinished iteration's", what)
    assert for_mover(position, here) <= result.value + 1e-9, ("worth less than it was known to be", what)


@every_search
def test_the_same_seed_gives_the_same_answer(kind: str, game: str, settings: dict[str, Any]) -> None:
    if settings.get("threads", 1) > 1:
        settings = {**settings, "ties": "first"}  # which ties are resolved depends on who is first
    for position in positions(game)[:1]:
        for limits in ({"depth": 3, "seed": 5}, {"nodes": 40, "seed": 8}):
            results = [searched(kind, position, settings, **limits) for _ in range(2)]
            if settings.get("threads", 1) > 1:
                if "depth" in limits:
                    assert results[0].value == results[1].value, position.name
                continue
            same = [dataclasses.replace(result, seconds=0.0, compiling=0.0) for result in results]
            assert same[0] == same[1], position.name


@pytest.mark.parametrize("game", [game for game in GAMES if not game.endswith(" compiled")])
def test_greedy_looks_one_move_ahead(game: str) -> None:
    for position in positions(game):
        agent: Any = make_agent("greedy")
        agent = dataclasses.replace(agent, name="", evaluator=position.evaluator)
        result = agent.search_state(position.game, position.state)
        assert result.value == close(textbook("greedy", position, 1)), position.name
        assert result.value == close(textbook("greedy", position, 1, result.action)), position.name
        assert not result.proven


@pytest.mark.parametrize("game", [game for game in GAMES if game_kind(game) in KINDS["value_iteration"]])
def test_value_iteration_is_right_to_its_tolerance(game: str) -> None:
    for position in positions(game)[:1]:
        agent: Any = make_agent("value_iteration(tolerance=1e-6)")
        result = agent.search_state(position.game, position.state)
        assert result.value == pytest.approx(textbook("expectiminimax", position, 99), abs=1e-6), position.name


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["compiled", "plain"])
@pytest.mark.alone
@pytest.mark.parametrize("kind", [*LIMITED, "mcts"])
def test_a_time_limit_is_kept(kind: str, how: str) -> None:
    """Within 50 milliseconds, once it is compiled; the best of five, as the machine may be busy."""
    rules: Any = MNK(m=6, n=6, k=5)
    if kind == "expectiminimax":
        rules = Grown(height=60)
    elif kind in ("maxn", "paranoid", "bestreply"):
        rules = DotsAndBoxes(players=3)
    game = RulesGame(rules) if how == "compiled" else Uncompiled(rules)
    state = game.initial_state()
    agent: Any = make_agent(f"{kind}(seconds=0.2)")
    if kind != "expectimax" and how == "compiled":
        limit = "simulations=10" if kind == "mcts" else "depth=2"
        make_agent(f"{kind}({limit})").search_state(game, state)  # type: ignore[attr-defined]
    assert any(agent.search_state(game, state).seconds < 0.25 for _ in range(5))
