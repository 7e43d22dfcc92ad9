"""Proofs inside a time limit: what they settle is right, and what they leave to the search keeps it."""

from __future__ import annotations

import dataclasses
import functools
import random
from typing import Any

import pytest
from doubles.small_games import CoinRow

from zermelo.agents import AlphaBetaAgent, make_agent, solve
from zermelo.agents.effort import Effort
from zermelo.agents.kernels.background import in_background
from zermelo.agents.kernels.proof import Prover, proof_kernel
from zermelo.agents.kernels.tree_search import CompiledSearch
from zermelo.agents.limits import Limits
from zermelo.agents.proving_root import SettledSearch, can_settle, proof_megabytes, settle
from zermelo.envs import InvalidSettingError
from zermelo.envs.rules import MNK, ConnectFour, Hexapawn, Kalah, RulesGame

GAME = RulesGame(ConnectFour())
LONG = 600.0
"""Seconds: more than anything here can take."""


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    """Proofs are only made by kernels that are ready: have them ready."""
    make_ready(GAME.rules)


def make_ready(rules: Any) -> None:
    task = in_background((type(rules), "proof"), functools.partial(proof_kernel, rules))
    assert task.ready_within(LONG)


def late_states(game: Any, seed: int, number: int, plies: int) -> list[Any]:
    generator = random.Random(seed)
    found: list[Any] = []
    while len(found) < number:
        state = game.initial_state()
        for _ in range(plies):
            if not game.is_terminal(state):
                state = game.result(state, generator.choice(game.legal_actions(state)))
        if not game.is_terminal(state):
            found.append(state)
    return found


def settled(game: Any, state: Any, *, until: float = LONG, agent: Any = None) -> SettledSearch | None:
    limits = Limits(seconds=LONG)
    effort = Effort(limits)
    search = CompiledSearch(game, effort, limits=limits, table_mb=1)
    return settle(agent or AlphaBetaAgent(), search, state, effort, until=until, table_mb=1, threads=1)


@pytest.mark.parametrize(
    ("game", "plies", "number"),
    [
        (GAME, 22, 30),
        pytest.param(RulesGame(ConnectFour(rows=5, columns=5)), 6, 60, marks=pytest.mark.slow),
        pytest.param(RulesGame(Hexapawn(columns=4, rows=4)), 3, 20, marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_value_and_actions_are_those_of_the_solver(game, plies, number):
    make_ready(game.rules)
    agent = AlphaBetaAgent()
    seen = set()
    for state in late_states(game, 17, number, plies):
        found = settled(game, state, agent=agent)
        exact = solve(game, state)
        assert found is not None
        assert found.value == exact.value
        seen.add(found.value)
        if found.value >= 0:
            assert list(found.actions) == [a for a, v in sorted(exact.action_values.items()) if v == exact.value]
            assert sorted(found.root_actions(state)) == list(found.actions)
        else:
            assert found.actions == ()
            assert sorted(found.root_actions(state)) == game.legal_actions(state)
    assert seen >= {-1, 1}


def test_agents_say_what_is_proven_and_play_it():
    """Stopped after one move's depth, a search would know nothing of the end."""
    for state in late_states(GAME, 5, 10, 20):
        agent = AlphaBetaAgent(seconds=LONG, table_mb=4, on_iteration=lambda result: False)
        result = agent.search_state(GAME, state)
        exact = solve(GAME, state)
        assert result.proven
        assert result.value == exact.value
        mover = GAME.to_move(state)
        assert result.values_by_seat[mover] == exact.value == -result.values_by_seat[1 - mover]
        assert exact.action_values[result.action] == exact.value
        assert result.action in result.best_actions
        assert result.action_values
        for action, value in result.action_values.items():
            assert exact.action_values[action] == value


def test_the_proof_takes_no_more_than_its_share():
    """From the empty board nothing is proven in no time, and the search then has all its actions."""
    state = GAME.initial_state()
    assert settled(GAME, state, until=0.0) is None


def test_an_answer_is_given_when_all_time_is_gone():
    """A machine that is busy with other things may take all of it before the first node."""
    state = GAME.initial_state()
    limits = Limits(seconds=1e-9)
    effort = Effort(limits)
    search = CompiledSearch(GAME, effort, limits=limits, table_mb=1)
    assert settle(AlphaBetaAgent(), search, state, effort, until=LONG, table_mb=1, threads=1) is None
    result = AlphaBetaAgent(seconds=1e-9).search_state(GAME, state)
    assert result.action in GAME.legal_actions(state)
    assert not result.proven


def test_an_interrupted_proof_leaves_the_prover_to_later_moves(monkeypatch):
    state = late_states(GAME, 3, 1, 16)[0]
    agent = AlphaBetaAgent()

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Prover, "score", interrupted)
        with pytest.raises(KeyboardInterrupt):
            settled(GAME, state, agent=agent)
    assert settled(GAME, state, agent=agent) is not None


def test_nodes_of_proofs_are_counted():
    state = late_states(GAME, 3, 1, 16)[0]
    found = settled(GAME, state)
    assert found is not None
    assert found.effort.nodes > 0


def test_a_result_that_the_search_has_proven_stays_as_it_is():
    """A search that sees the end knows more: how soon."""
    pairs = ((state, settled(GAME, state)) for state in late_states(GAME, 9, 20, 26))
    state, found = next((state, found) for state, found in pairs if found is not None and found.value == 1)
    result = AlphaBetaAgent().search_state(GAME, state)
    assert result.proven
    assert result.plies
    assert found.told(state, result) is result
    vague = dataclasses.replace(result, proven=False, value=0.1, plies=3)
    told = found.told(state, vague)
    assert (told.value, told.values_by_seat, told.proven, told.plies) == (1.0, (1.0, -1.0), True, None)
    assert told.action_values == dict.fromkeys(found.actions, 1.0)


def test_only_games_that_are_won_drawn_or_lost_and_have_the_hook():
    assert can_settle(GAME)
    assert can_settle(RulesGame(Hexapawn()))
    assert not can_settle(RulesGame(MNK()))  # no bounds
    assert not can_settle(RulesGame(Kalah(margin=True)))
    assert not can_settle(object())


@pytest.mark.parametrize(
    "settings",
    [
        {"depth": 2},
        {"nodes": 50},
        {"exact": True},
        {"window": "full"},
        {"table_mb": 0},
        {"proof_share": 0},
        {"cutoff": lambda game, state, ply: False},
        {"evaluator": "playout(games=1)"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_that_leave_no_room_for_proofs(settings, monkeypatch):
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("settle was called")

    monkeypatch.setattr("zermelo.agents.alpha_beta.settle", never)
    state = late_states(GAME, 1, 1, 30)[0]
    AlphaBetaAgent(seconds=0.2, **settings).search_state(GAME, state)


def test_memory_is_shared():
    assert proof_megabytes(64) == 16
    assert proof_megabytes(4) == 1
    assert proof_megabytes(1000) == 16


@pytest.mark.parametrize(("share", "part"), [(1.5, "at most 1"), (-0.1, "at least 0"), ("x", "a finite number")])
def test_a_share_is_a_part(share, part):
    with pytest.raises(InvalidSettingError, match=part):
        AlphaBetaAgent(proof_share=share)


def test_the_share_is_part_of_the_spec():
    agent = make_agent("alphabeta(seconds=0.5, proof_share=0.25)")
    assert isinstance(agent, AlphaBetaAgent)
    assert agent.proof_share == 0.25
    assert agent.spec() == "alphabeta(seconds=0.5, proof_share=0.25)"


def test_agents_can_be_prepared(monkeypatch):
    """Both kernels where a time limit is set, so that no move pays for them; nothing where nothing is compiled."""
    asked: list[str] = []
    monkeypatch.setattr(
        "zermelo.agents.alpha_beta.search_kernel", lambda rules, full_width: asked.append("search")
    )
    monkeypatch.setattr("zermelo.agents.alpha_beta.proof_kernel", lambda rules: asked.append("proof"))
    AlphaBetaAgent(seconds=1).prepare(GAME)
    assert asked == ["search", "proof"]
    AlphaBetaAgent(depth=3).prepare(GAME)
    assert asked == ["search", "proof", "search"]
    AlphaBetaAgent(seconds=1).prepare(CoinRow((1, 2, 3)))
    assert asked == ["search", "proof", "search"]
