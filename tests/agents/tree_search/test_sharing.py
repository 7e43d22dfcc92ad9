"""Trees that several processes search together: the same answers, sooner, whatever becomes of a process."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from doubles.assumed_envs import Line
from doubles.lost_workers import pids_of, wait_for_end
from doubles.slow_trees import SlowTree, hashed
from doubles.small_games import Leaf, Node, random_tree

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, MaxNAgent, make_agent
from zermelo.agents.base.clock import GameClock
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.tree_search.chance.textbook_expectiminimax import expectiminimax
from zermelo.agents.tree_search.many_players.textbook_max_n import max_n
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import CHANCE, Chance, RewardSum
from zermelo.envs.games import MNK

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="worker processes need a Unix system")

EVALUATOR = "doubles.slow_trees:lead"
GAME = Chance.NONE, {}
DICE = Chance.EXACT, {"bounds": (-9.0, 9.0)}


def tree(seed: int, depth: int = 6, **settings: Any) -> Node:
    """A random tree of a good many nodes."""
    rng = np.random.default_rng(seed)
    while True:
        root = random_tree(rng, depth, **settings)
        if isinstance(root, Node) and root.mover != CHANCE and 60 < size(root) < 250:
            return root


def size(node: Any) -> int:
    return 1 if isinstance(node, Leaf) else 1 + sum(map(size, node.children))


def slow_game(seed: int, chance: Chance, settings: dict[str, Any]) -> SlowTree:
    return SlowTree(tree(seed, chance=chance is Chance.EXACT), chance=chance, **settings)


def three_seats(seed: int) -> SlowTree:
    """A tree of three players with many ties."""
    rng = np.random.default_rng(seed)

    def grow(depth: int) -> Any:
        if depth == 0:
            values = [float(value) for value in rng.integers(0, 3, 3)]
            leaf = Leaf(0.0)
            leaf.utility = (values[0], values[1], -values[0] - values[1])
            return leaf
        return Node(int(rng.integers(3)), [grow(depth - 1) for _ in range(3)], utility=(0.0, 0.0, 0.0))

    return SlowTree(grow(4), seats=3, bounds=(-4.0, 4.0), reward_sum=RewardSum.ZERO)


def check_equal(together: Any, alone: Any, game: Any) -> Any:
    """Both find the same; returns that."""
    found, expected = together.search_state(game), alone.search_state(game)
    where = f"{alone.name}, tree {game.root}"
    assert found.stats["workers"] == together.workers, where
    assert (found.action, found.value) == (expected.action, pytest.approx(expected.value)), where
    assert (found.proven, found.stopped_by) == (expected.proven, expected.stopped_by), where
    if alone.is_exact:
        assert found.action_values == pytest.approx(expected.action_values), where
    return found


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"exact": True},
        *(pytest.param(more, marks=THOROUGH) for more in ({"ties": "first"}, {"ordering": "fixed"})),
    ],
)
def test_alpha_beta_finds_the_same_together(settings: dict[str, Any]) -> None:
    check_agents(AlphaBetaAgent, settings, GAME, range(3))


@pytest.mark.thorough
@pytest.mark.parametrize("depth", [4, "full"])
@pytest.mark.parametrize("settings", [{}, {"memory_mb": 0}, {"prefer_short_wins": False}])
def test_alpha_beta_of_any_kind_does(settings: dict[str, Any], depth: Any) -> None:
    check_agents(AlphaBetaAgent, settings | {"depth": depth}, GAME, range(10, 16))


@pytest.mark.parametrize("pruning", ["star1", *(pytest.param(more, marks=THOROUGH) for more in ("none", "star2"))])
def test_expectiminimax_does(pruning: str) -> None:
    check_agents(ExpectiminimaxAgent, {"pruning": pruning}, DICE, range(3))


def check_agents(kind: Any, settings: dict[str, Any], of: Any, seeds: Any) -> None:
    settings = {"depth": "full"} | settings
    together, alone = kind(workers=2, **settings), kind(**settings)
    for seed in seeds:
        game = slow_game(seed, *of)
        for agent in (together, alone):
            agent.reset(seed)
        found = check_equal(together, alone, game)
        if settings["depth"] == "full":
            value = expectiminimax(game, game.root)
            assert found.values_by_seat[0] == pytest.approx(value), seed


@pytest.mark.parametrize("tie_rule", ["first", pytest.param("spiteful", marks=THOROUGH)])
def test_max_n_does(tie_rule: str) -> None:
    settings: dict[str, Any] = {"depth": "full", "tie_rule": tie_rule}
    together, alone = MaxNAgent(workers=3, **settings), MaxNAgent(**settings)
    for seed in range(3):
        game = three_seats(seed)
        found = check_equal(together, alone, game)
        assert found.values_by_seat == pytest.approx(max_n(game, game.root, tie_rule)), seed


def prepared(env: Any, **settings: Any) -> AlphaBetaAgent:
    agent = AlphaBetaAgent(evaluator=EVALUATOR, **settings)
    agent.prepare(env)
    return agent


@pytest.mark.alone
@pytest.mark.thorough
def test_two_visit_more_nodes_and_look_deeper_in_the_same_time() -> None:
    env = hashed()
    together, alone = (prepared(env, workers=workers, seconds=2.0).search(env) for workers in (2, 1))
    assert together.nodes > 1.5 * alone.nodes
    assert together.depth >= alone.depth
    assert together.stopped_by is alone.stopped_by is StoppedBy.SECONDS
    assert together.seconds < 2.6


@pytest.mark.alone
@pytest.mark.thorough
def test_two_do_not_do_the_work_of_one_twice() -> None:
    env = hashed(width=20, pause=0.004)
    results = [prepared(env, workers=workers, depth=3).search(env) for workers in (1, 2)]
    assert results[0].action == results[1].action
    assert results[0].value == results[1].value
    assert results[1].nodes < 1.5 * results[0].nodes


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "text"), [(signal.SIGKILL, r"ended \(killed by SIGKILL\)"), (signal.SIGSTOP, "stood still")]
)
def test_one_that_is_lost_costs_nothing_but_time(number: signal.Signals, text: str) -> None:
    env = hashed()
    agent, expected = prepared(env, workers=2, depth=4), prepared(env, depth=4).search(env)
    for pid in list(pids_of(agent)):
        agent.reset(0)
        threading.Timer(0.3, os.kill, (pid, number)).start()
        with pytest.warns(RuntimeWarning, match=f"1 of 2 processes that searched small_v0 {text}"):
            result = agent.search(env)
        assert (result.action, result.value) == (expected.action, expected.value)
        assert (result.depth, result.stats["workers"]) == (4, 1)
        assert "new ones take their places" in result.note
    assert len(pids_of(agent)) == 2


@pytest.mark.alone
@pytest.mark.thorough
def test_ctrl_c_and_stop_end_a_search() -> None:
    env = hashed()
    agent = prepared(env, workers=2, depth=8)
    threading.Timer(0.5, agent.stop).start()
    stopped = agent.search(env)
    assert stopped.stopped_by is StoppedBy.INTERRUPT
    assert 0 < stopped.depth < 8
    pids = pids_of(agent)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        agent.search(env)
    assert wait_for_end(pids)


@pytest.mark.thorough
def test_limits_on_nodes_and_clocks_hold_for_all_together() -> None:
    env = hashed(pause=0.0005)
    result = prepared(env, workers=2, nodes=401).search(env)
    assert result.nodes == 401
    assert result.stopped_by is StoppedBy.NODES
    agent = prepared(env, workers=2)
    agent.tell_clock(GameClock(left=(4.0, 4.0), seat=0))
    began = time.monotonic()
    assert agent.search(env).depth >= 1
    assert time.monotonic() - began < 3.0


@pytest.mark.thorough
def test_what_a_process_sees_that_was_assumed_not_to_be_is_heeded() -> None:
    env = Line()
    env.reset(seed=0, options={"place": 36})
    agent = AlphaBetaAgent(workers=2, depth=8)
    with pytest.warns(UserWarning, match="searched by maxn instead of alphabeta and in one process"):
        result = agent.search(env)
    assert result.action == 1
    assert "reward_sum is general_sum" in result.note


def test_what_does_not_fit_is_refused_in_words() -> None:
    for name in ("on_iteration", "on_node"):
        with pytest.raises(InvalidSettingError, match=f"{name} is not called where several processes search"):
            AlphaBetaAgent(workers=2, **{name: print})
    game = as_game(MNK(3, 3, 3))
    with pytest.raises(UnsupportedGameError, match="alphabeta searches those in one process: give threads=2"):
        AlphaBetaAgent(workers=2).search_state(game)
    with pytest.raises(UnsupportedGameError, match="in one process: give no workers, or compile='never'"):
        MaxNAgent(workers="ray:2").search_state(game)
    for text in ("alphabeta(workers=2)", "expectiminimax(workers='ray')", "maxn(workers='ray:2')"):
        assert make_agent(text).name == text
