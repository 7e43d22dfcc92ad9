"""Proofs inside a time limit: what they settle is right, and what they leave to the search keeps it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.tree_search.alpha_beta.compiled import CompiledAlphaBeta
from zermelo.agents.tree_search.exact.prover import PROOF, Prover
from zermelo.agents.tree_search.exact.root_proof import ProvenRoot, can_settle, prove_root
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, ConnectFour, Hexapawn, Kalah
from zermelo.envs.rules import RulesGame

GAME = RulesGame(ConnectFour())
LONG = 600.0
"""Seconds: more than anything here can take."""


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    """Proofs are only made by kernels that are ready: have them ready."""
    PROOF.load(GAME.rules)


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


@pytest.fixture
def no_short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that sees the end at once leaves nothing to prove: do without it."""
    monkeypatch.setattr("zermelo.agents.tree_search.exact.root_proof._short_search", lambda *_: None)


class Briefed:
    """A search whose root a proof was tried of."""

    def __init__(
        self, game: Any, state: Any, *, until: float = LONG, agent: Any = None, limit: float = LONG
    ) -> None:
        limits = Limits(seconds=limit)
        search = new_search(game, limits)
        how = {"until": until, "memory_mb": 1, "threads": 1}
        search.proof = prove_root(agent or AlphaBetaAgent(depth="full"), search, state, **how)
        self.value, self.actions = search.proof.value, search.proof.actions
        self.budget, self.corrections = search.budget, search.proof.corrections
        self.root_actions = lambda state: search.root_actions(search.root_node(state))


def new_search(game: Any, limits: Limits) -> CompiledAlphaBeta:
    root = SearchSetup(game, game.initial_state(), make_evaluator("game"))
    return CompiledAlphaBeta(root, Budget(limits), AlphaBetaConfig(memory_mb=1))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "plies", "number"),
    [
        (GAME, 22, 30),
        pytest.param(RulesGame(ConnectFour(rows=5, columns=5)), 6, 60, marks=pytest.mark.slow),
        pytest.param(RulesGame(Hexapawn(columns=4, rows=4)), 3, 20, marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_value_and_actions_are_those_of_the_solver(game, plies, number, no_short_search):
    PROOF.load(game.rules)
    agent = AlphaBetaAgent(depth="full")
    seen = set()
    for state in late_states(game, 17, number, plies):
        found = Briefed(game, state, agent=agent)
        exact = solve(game, state)
        assert found.value == exact.value
        seen.add(found.value)
        if exact.value >= 0:
            assert found.actions
            assert {exact.action_values[action] for action in found.actions} == {exact.value}
            assert sorted(found.root_actions(state)) == list(found.actions)
        else:
            assert found.actions == ()
            assert sorted(found.root_actions(state)) == game.legal_actions(state)
    assert seen >= {-1, 1}


@pytest.mark.thorough
def test_agents_say_what_is_proven_and_play_it(no_short_search):
    """Stopped after one move's depth, a search would know nothing of the end."""
    for state in late_states(GAME, 5, 10, 20):
        agent = AlphaBetaAgent(seconds=LONG, memory_mb=4, on_iteration=lambda result: False)
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


def test_a_position_won_stays_proven_move_after_move(no_short_search):
    """The table of a move's proof proves the next ones, so that few nodes do."""
    states = late_states(GAME, 9, 30, 14)
    state = next(s for s in states if solve(GAME, s).value == 1)
    agent = AlphaBetaAgent(depth="full")
    seat = GAME.to_move(state)
    first = 0
    while not GAME.is_terminal(state):
        if GAME.to_move(state) == seat:
            found = Briefed(GAME, state, agent=agent)
            assert found.value == 1
            nodes = found.budget.nodes
            first = first or nodes
            assert nodes <= max(first, 200_000)
            state = GAME.result(state, found.root_actions(state)[0])
        else:
            state = GAME.result(state, max(GAME.legal_actions(state)))
    assert GAME.utility(state)[seat] == 1


def test_what_was_proven_is_known_when_all_time_is_gone(no_short_search):
    agent = AlphaBetaAgent(depth="full")
    for state in late_states(GAME, 9, 6, 16):
        found = Briefed(GAME, state, agent=agent)
        again = Briefed(GAME, state, agent=agent, until=1e-9, limit=1e-9)
        assert again.value == found.value
        assert set(again.actions) <= set(found.actions)
        assert again.actions or found.value < 0


def test_what_was_seen_before_the_proof_is_tried_first():
    state = late_states(GAME, 3, 1, 8)[0]
    limits = Limits(seconds=LONG)
    search = new_search(GAME, limits)
    node = search.root_node(state)
    plain = list(search.root_actions(node))
    for first in plain:
        search.proof = ProvenRoot(first)
        assert search.root_actions(node)[0] == first
        assert sorted(search.root_actions(node)) == sorted(plain)
    search.proof = ProvenRoot(plain[0], 0, tuple(plain[1:3]))
    assert sorted(search.root_actions(node)) == sorted(plain[1:3])


def test_a_search_that_saw_the_end_needs_no_proof(monkeypatch):
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the prover was asked")

    monkeypatch.setattr(Prover, "score", never)
    state = late_states(GAME, 2, 1, 36)[0]
    found = Briefed(GAME, state)
    assert found.value is None
    assert (
        found.root_actions(state)[0] == AlphaBetaAgent(depth="full", ties="first").search_state(GAME, state).action
    )


def test_the_proof_takes_no_more_than_its_share(no_short_search):
    """From the empty board nothing is proven in no time, and the search then has all its actions."""
    state = GAME.initial_state()
    found = Briefed(GAME, state, until=0.0)
    assert found.value is None
    assert len(found.root_actions(state)) == 7


def test_an_answer_is_given_when_all_time_is_gone():
    """A machine that is busy with other things may take all of it before the first node."""
    state = GAME.initial_state()
    assert Briefed(GAME, state, until=1e-9, limit=1e-9).value is None
    for column in (0, 3, 1, 3, 6, 3):  # X must stop a four in column 4
        state = GAME.result(state, column)
    found = Briefed(GAME, state, until=1e-9, limit=1e-9)
    assert found.value is None
    assert found.root_actions(state)[0] == 3


def test_an_interrupted_proof_leaves_the_prover_to_later_moves(monkeypatch, no_short_search):
    state = late_states(GAME, 3, 1, 16)[0]
    agent = AlphaBetaAgent(depth="full")

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Prover, "score", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Briefed(GAME, state, agent=agent)
    found = Briefed(GAME, state, agent=agent)
    assert found.value is not None
    assert found.budget.nodes > 0


def test_a_result_that_the_search_has_proven_stays_as_it_is(no_short_search):
    """A search that sees the end knows more: how soon."""
    pairs = ((state, Briefed(GAME, state)) for state in late_states(GAME, 9, 20, 26))
    state, found = next((state, found) for state, found in pairs if found.value == 1)
    result = AlphaBetaAgent(depth="full").search_state(GAME, state)
    assert result.proven
    assert result.plies
    assert not found.corrections(GAME, state, {"proven": True})
    told = found.corrections(GAME, state, {"proven": False, "value": 0.1, "plies": 3})
    assert (told["value"], told["values_by_seat"]) == (1.0, (1.0, -1.0))
    assert told["proven"]
    assert told["plies"] is None
    assert told["action_values"] == dict.fromkeys(found.actions, 1.0)


@pytest.mark.thorough
def test_a_win_is_not_called_the_soonest_where_another_was_left_out(monkeypatch, no_short_search):
    """With hardly any nodes for it, the proof finds one action that wins, and leaves others undecided."""
    monkeypatch.setattr("zermelo.agents.tree_search.exact.root_proof._FIRST_NODES", 1)
    monkeypatch.setattr("zermelo.agents.tree_search.exact.root_proof._MOST_NODES", 0)
    told = later = 0
    for state in late_states(GAME, 21, 25, 26):
        exact = solve(GAME, state)
        if exact.value != 1:
            continue
        result = AlphaBetaAgent(seconds=LONG, memory_mb=4).search_state(GAME, state)
        assert result.value == 1
        assert result.plies in (None, exact.plies)
        told += result.plies is not None
        later += len(result.principal_variation) > exact.plies
    assert told
    assert later, "a position in which the soonest win was left out"


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
        {"memory_mb": 0},
        {"proof_share": 0},
        {"stop_test": lambda game, state, ply: False},
        {"evaluator": "playout(games=1)"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_that_leave_no_room_for_proofs(settings, monkeypatch):
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("prove_root was called")

    monkeypatch.setattr("zermelo.agents.tree_search.exact.root_proof.prove_root", never)
    state = late_states(GAME, 1, 1, 30)[0]
    with pytest.raises(AssertionError, match="prove_root was called"):
        AlphaBetaAgent(seconds=0.2).search_state(GAME, state)
    assert AlphaBetaAgent(seconds=0.2, **settings).search_state(GAME, state).action in GAME.legal_actions(state)


@pytest.mark.parametrize(("share", "part"), [(1.5, "at most 1"), (-0.1, "at least 0"), ("x", "a finite number")])
def test_a_share_is_a_part(share, part):
    with pytest.raises(InvalidSettingError, match=part):
        AlphaBetaAgent(depth="full", proof_share=share)
