"""Values of games that may go on for ever, written out as policies and played."""

from __future__ import annotations

import pytest

from zermelo.agents import make_agent
from zermelo.agents.solutions.policy_table import Plan, PolicyTable, stable_key
from zermelo.agents.solving.solve_policy import policy_of_values
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.envs import CHANCE, UnsupportedGameError, as_game, make
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Game2048, Pig
from zermelo.envs.rules import RulesGame

PIG = RulesGame(Pig(target=8))


@pytest.fixture(scope="module")
def values():
    return value_iteration(PIG, 1e-10)


def states_met(table, seat):
    """The states in which a seat is to move, if it plays by the table; None plays nothing by it."""
    met, waiting = set(), [PIG.initial_state()]
    for state in waiting:
        if PIG.is_terminal(state):
            continue
        mover = PIG.to_move(state)
        if mover == CHANCE:
            ways = [outcome for outcome, _ in PIG.chance_outcomes(state)]
        elif mover == seat:
            ways = table.entries[stable_key(PIG, state)][1]
        else:
            ways = PIG.legal_actions(state)
        after = [PIG.result(state, way) for way in ways]
        new = [state for state in dict.fromkeys(after) if state not in met]
        met.update(new)
        waiting += new
    return {s for s in (*met, PIG.initial_state()) if not PIG.is_terminal(s) and PIG.to_move(s) != CHANCE}


@pytest.mark.parametrize("seat", [0, 1])
def test_a_plan_for_one_seat_has_what_may_come_up(values, seat):
    table = policy_of_values(values, PIG.initial_state(), seat=seat)
    met = {state for state in states_met(table, seat) if PIG.to_move(state) == seat}
    assert set(table.entries) == {stable_key(PIG, state) for state in met}
    for state in met:
        value, actions = table.entries[stable_key(PIG, state)]
        assert tuple(actions) == values.best_actions(state)
        assert value == pytest.approx(max(values.action_values(state).values()))
    assert (table.seat, table.plan, table.tolerance) == (seat, Plan.SEAT, 1e-10)


def test_a_full_plan_has_every_state(values):
    table = policy_of_values(values, PIG.initial_state(), plan="full")
    assert set(table.entries) == {stable_key(PIG, state) for state in states_met(table, None)}
    assert table.seat is None


def test_a_file_keeps_what_there_is_and_is_played(values, tmp_path):
    path = tmp_path / "pig.jsonl.gz"
    table = policy_of_values(values, PIG.initial_state(), plan="full")
    table.save(path)
    assert PolicyTable.load(path) == table
    live = make("zermelo/Pig-v0", target=8)
    live.reset(seed=4)
    agent = make_agent(f'policytable(path="{path}")')
    while live.agents and not any(live.terminations.values()):
        result = agent.search(live)
        assert result.action in values.best_actions(as_game(live).snapshot(live))
        assert not result.proven, "it is close, not proven"
        assert sum(result.values_by_seat) == pytest.approx(0)
        live.step(result.env_action)


def test_one_player(tmp_path):
    game = RulesGame(Game2048(1, 3))
    values = value_iteration(game)
    start = game.result(game.result(game.initial_state(), 0), 2)
    policy_of_values(values, start).save(tmp_path / "2048")
    agent = make_agent(f'policytable(path="{tmp_path / "2048"}")')
    result = agent.search_state(game, start)
    assert result.values_by_seat == (pytest.approx(values.value(start)),)


def test_what_cannot_be_is_said(values):
    with pytest.raises(UnsupportedGameError, match="more than 10 states for a seat plan"):
        policy_of_values(values, PIG.initial_state(), most_states=10)
    with pytest.raises(InvalidSettingError, match=r"seat must be a number below 2, or None .*, not 2"):
        policy_of_values(values, PIG.initial_state(), seat=2)
