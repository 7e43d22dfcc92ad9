"""Pondering: expected replies are counted, the search of the next move goes on, and nothing runs afterwards."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from zermelo.agents import AlphaBetaAgent, MCTSAgent, make_agent
from zermelo.agents.base.budget import StopFlag
from zermelo.envs import Game
from zermelo.envs.games import MNK, ConnectFour, Pig
from zermelo.envs.rules.rules_game import RulesGame

FOUR = RulesGame(ConnectFour(4, 5))


def after_own_move(agent: Any, game: Game[Any]) -> tuple[Any, int]:
    """The position after the agent's first move, and the reply that it expects."""
    found = agent.search_state(game)
    return game.result(game.initial_state(), found.action), found.principal_variation[1]


@pytest.mark.parametrize("agent", ["alphabeta(depth=6)", "mcts(simulations=400)", "auto(nodes=5000)"])
@pytest.mark.parametrize("is_expected", [True, False])
def test_hits_are_counted(agent: str, is_expected: bool) -> None:
    player = make_agent(agent)
    state, reply = after_own_move(player, FOUR)
    player.ponder()
    others = [action for action in FOUR.legal_actions(state) if action != reply]
    player.search_state(FOUR, FOUR.result(state, reply if is_expected else others[0]))
    assert player.pondered == (1, is_expected)
    player.search_state(FOUR)
    assert player.pondered.moves == 1, "it did not ponder before this move"
    player.reset()
    assert player.pondered == (0, 0)


def test_a_pondered_move_goes_on_in_the_same_tree() -> None:
    agent = MCTSAgent(simulations=200, solver=False)
    state, reply = after_own_move(agent, FOUR)
    flag = StopFlag()
    thread = threading.Thread(target=agent.ponder_until, args=(flag,))
    thread.start()
    time.sleep(0.05)
    flag.is_set = True
    thread.join(30)
    found = agent.search_state(FOUR, FOUR.result(state, reply))
    assert sum(found.visits.values()) > 1000
    assert found.stats["simulations"] <= 200


def test_the_tree_of_another_reply_stays() -> None:
    agent = MCTSAgent(simulations=2000, solver=False)
    state, reply = after_own_move(agent, FOUR)
    agent.ponder()
    others = [action for action in FOUR.legal_actions(state) if action != reply]
    found = agent.search_state(FOUR, FOUR.result(state, others[0]))
    assert sum(found.visits.values()) > 2000


@pytest.mark.parametrize("compile", ["wait", "never"])
def test_a_pondered_move_takes_fewer_nodes_to_the_same_value(compile: Any) -> None:  # noqa: A002
    game, depth = RulesGame(MNK(4, 4, 4)), 4
    agent = AlphaBetaAgent(depth=depth, ties="first", compile=compile)
    state, reply = after_own_move(agent, game)
    state = game.result(state, reply)
    assert agent.ponder_until(StopFlag())
    found = agent.search_state(game, state)
    fresh = AlphaBetaAgent(depth=depth, ties="first", compile=compile).search_state(game, state)
    assert (found.value, found.depth) == (fresh.value, fresh.depth)
    assert found.nodes < 0.8 * fresh.nodes


@pytest.mark.parametrize("end", ["stop_pondering", "reset"])
def test_nothing_runs_afterwards(end: str) -> None:
    agent = AlphaBetaAgent(nodes=2000)
    after_own_move(agent, RulesGame(ConnectFour()))
    before = threading.active_count()
    agent.ponder()
    assert threading.active_count() > before
    getattr(agent, end)()
    assert threading.active_count() == before
    used = time.process_time()
    time.sleep(0.1)
    assert time.process_time() - used < 0.05


def test_limits_and_callbacks_are_those_of_moves() -> None:
    seen: list[Any] = []
    agent = AlphaBetaAgent(nodes=50, on_iteration=seen.append)
    after_own_move(agent, RulesGame(ConnectFour()))
    shown = len(seen)
    agent.ponder()
    time.sleep(0.05)
    agent.stop_pondering()
    assert len(seen) == shown
    assert agent.search_state(RulesGame(ConnectFour())).nodes <= 50


def test_nobody_ponders_where_no_reply_is_expected() -> None:
    agent = make_agent("mcts(simulations=50)")
    assert not agent.ponder_until(StopFlag())  # nothing was searched
    agent.search_state(Pig(20))
    assert not agent.ponder_until(StopFlag())  # chance decides
    last = AlphaBetaAgent(depth=3)
    game = RulesGame(MNK(1, 2, 2))
    last.search_state(game, game.result(game.initial_state(), 0))
    assert not last.ponder_until(StopFlag())  # the game ends
