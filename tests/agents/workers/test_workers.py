"""Searches in several processes: what is merged, and that no process is left."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import re
import signal
import sys
import threading
from typing import Any

import pytest
from doubles.game_envs import SmallEnv
from doubles.lost_workers import Nim, is_alive, nim, pids_after_kill, pids_of, wait_for_end

from zermelo.agents import ISMCTSAgent, MCTSAgent, make_agent
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.monte_carlo.interface import RootEdge
from zermelo.agents.workers.orders import shares_of
from zermelo.envs import UnsupportedGameError, make, register_information
from zermelo.envs.errors import EnvFailedError, InvalidSettingError, MissingDependencyError
from zermelo.envs.games import MNK
from zermelo.envs.rules import RulesGame
from zermelo.envs.support.installing import install_command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="worker processes need a Unix system")


def test_visits_of_all_processes_are_added_up_and_equal_seeds_give_equal_answers() -> None:
    env = nim()
    first, second = (MCTSAgent(workers=2, simulations=101, seed=5) for _ in range(2))
    second.prepare(env)
    found = [agent.search(env) for agent in (first, second)]
    assert found[0].visits == found[1].visits
    assert found[0].value == found[1].value
    assert found[0].action == found[1].action
    assert sum(found[0].visits.values()) == found[0].simulations == 101
    assert found[0].stats["simulations"] == 101
    assert found[0].stats["workers"] == 2
    assert found[0].stopped_by is StoppedBy.SIMULATIONS
    assert MCTSAgent(workers=2, simulations=101, seed=6).search(env).visits != found[0].visits


def test_each_process_keeps_its_tree_between_moves_until_a_reset() -> None:
    env, agent = nim(pause=0.0005), MCTSAgent(workers=2, simulations=200, solver=False)
    result = agent.search(env)
    pids = pids_of(agent)
    env.step(result.env_action)
    env.step(result.principal_variation[1])
    kept = agent.search(env)
    assert sum(kept.visits.values()) > kept.simulations == 200
    agent.reset(1)
    fresh = agent.search(env)
    assert sum(fresh.visits.values()) == 200
    assert pids_of(agent) == pids


def test_a_proof_by_any_process_counts() -> None:
    result = MCTSAgent(workers=2, simulations=2_000).search(nim(matches=5))
    assert result.proven
    assert result.value == 1.0
    assert result.stopped_by is StoppedBy.COMPLETED


def test_games_with_rules_and_states_are_searched_too() -> None:
    game = RulesGame(MNK(3, 3, 3))
    state = game.initial_state()
    for action in (0, 4, 1, 8):
        state = game.result(state, action)
    result = MCTSAgent(workers=2, simulations=3_000).search_state(game, state)
    assert result.action == 2
    assert result.proven


def test_hidden_cards_are_dealt_again() -> None:
    env = make("zermelo/Leduc-v0")
    env.reset(seed=0)
    found = [ISMCTSAgent(workers=2, simulations=60, seed=3).search(env) for _ in range(2)]
    assert found[0].visits == found[1].visits
    assert sum(found[0].visits.values()) == 60
    assert found[0].stats["workers"] == 2


@pytest.mark.alone
def test_no_process_is_left_when_the_agent_is_gone() -> None:
    agent = MCTSAgent(workers=2, simulations=10)
    agent.search(nim())
    pids = pids_of(agent)
    assert len(pids) == 2
    assert all(map(is_alive, pids))
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert pids_of(other) == []
    del agent, other
    gc.collect()
    assert wait_for_end(pids)


@pytest.mark.alone
def test_ctrl_c_ends_the_search_and_the_processes() -> None:
    env, agent = nim(pause=0.002), MCTSAgent(workers=2, seconds=60)
    agent.prepare(env)
    pids = pids_of(agent)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        agent.search(env)
    assert wait_for_end(pids)
    again = MCTSAgent(workers=2, simulations=10)
    assert again.search(env).simulations == 10


@pytest.mark.alone
def test_processes_end_with_the_one_that_started_them() -> None:
    pids = pids_after_kill(
        "from doubles.lost_workers import *; from zermelo.agents import MCTSAgent; "
        "env, agent = nim(pause=0.01), MCTSAgent(workers=2, seconds=60); "
        "agent.prepare(env); print(*pids_of(agent), flush=True); agent.search(env)"
    )
    assert len(pids) == 2
    assert wait_for_end(pids)


@pytest.mark.alone
def test_a_search_goes_on_without_a_process_that_is_killed() -> None:
    env, agent = nim(pause=0.001), MCTSAgent(workers=2, simulations=400, solver=False)
    agent.prepare(env)
    pids = pids_of(agent)
    threading.Timer(0.1, os.kill, (pids[0], signal.SIGKILL)).start()
    with pytest.warns(
        RuntimeWarning, match=r"1 of 2 processes that searched small_v0 ended \(killed by SIGKILL\)"
    ):
        result = agent.search(env)
    assert result.simulations == 200
    assert result.stats["workers"] == 1
    agent.reset(0)
    assert len(pids_of(agent)) == 2
    assert agent.search(env).simulations == 400


@pytest.mark.alone
def test_a_search_whose_processes_are_all_killed_says_so() -> None:
    env, agent = nim(pause=0.001), MCTSAgent(workers=2, seconds=60)
    agent.prepare(env)
    pids = pids_of(agent)
    threading.Timer(0.1, lambda: [os.kill(pid, signal.SIGKILL) for pid in pids]).start()
    with pytest.raises(
        EnvFailedError, match=r"all 2 processes .* ended \(killed by SIGKILL\): search with workers=1"
    ):
        agent.search(env)


@pytest.mark.alone
def test_stop_ends_a_search_with_what_was_found() -> None:
    env, agent = nim(pause=0.001), MCTSAgent(workers=2, seconds=60)
    agent.prepare(env)
    threading.Timer(0.3, agent.stop).start()
    result = agent.search(env)
    assert result.stopped_by is StoppedBy.INTERRUPT
    assert result.simulations > 0


class HoldsAMatch(Nim):
    """Copies share a match of a pattern, which cannot be pickled."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        self.match = re.match("a", "a")


def test_an_environment_that_cannot_be_sent_is_refused() -> None:
    env = HoldsAMatch()
    env.reset(seed=0)
    assert MCTSAgent(simulations=10).search(env).simulations == 10
    agent = MCTSAgent(workers=2, simulations=10)
    with pytest.raises(
        UnsupportedGameError, match=r"small_v0 cannot be sent to other processes .*: search with workers=1"
    ):
        agent.search(env)


def test_settings() -> None:
    for wrong in (0, -1, True, "rey", "ray:0", "4", None, 1.5):
        with pytest.raises(InvalidSettingError, match="workers"):
            MCTSAgent(workers=wrong)
    with pytest.raises(InvalidSettingError, match="on_iteration is not called where several processes search"):
        MCTSAgent(workers=2, on_iteration=print)
    with pytest.raises(InvalidSettingError, match="on_simulation is not called where several processes search"):
        MCTSAgent(workers=2, on_simulation=print)
    for text in ("mcts(workers=2)", "mcts(workers='ray')", "ismcts(workers='ray:2')"):
        assert make_agent(text).name == text
    assert make_agent("mcts(workers=ray)").name == "mcts(workers='ray')"


def test_without_ray_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=re.escape(f"ray is not installed: {install_command('ray')}")):
        MCTSAgent(workers="ray:2").search(nim())
    with pytest.raises(MissingDependencyError, match="ray is not installed"):
        MCTSAgent(workers="ray").check_fit(nim())


def test_limits_are_shared_out() -> None:
    shares = shares_of(Limits(simulations=5, seconds=2.0), 3)
    assert [share.simulations for share in shares if share] == [2, 2, 1]
    assert all(share is not None and share.seconds == 2.0 for share in shares)
    assert shares_of(Limits(nodes=1), 2) == [Limits(nodes=1), None]


def test_fewer_simulations_than_processes() -> None:
    result = MCTSAgent(workers=3, simulations=2).search(nim())
    assert result.simulations == 2
    assert result.action in (0, 1, 2)


def test_means_are_weighted_by_visits() -> None:
    from zermelo.agents.monte_carlo.merging import merged_action

    moves = [RootEdge(4, 1, (1.0,), -1.0, 1.0), RootEdge(4, 3, (0.0,), -1.0, 0.0), RootEdge(4, 0, ())]
    assert merged_action(moves) == RootEdge(4, 4, (0.25,), -1.0, 0.0)


@pytest.mark.thorough
def test_a_ray_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(EnvFailedError, match=r"cannot connect to a Ray cluster at '127\.0\.0\.1:1': .*refused"):
        MCTSAgent(workers="ray:2", simulations=10).search(nim())


@pytest.mark.slow
def test_processes_on_ray() -> None:
    ray = pytest.importorskip("ray")
    env, agent = nim(), MCTSAgent(workers="ray:2", simulations=101, seed=5)
    try:
        result = agent.search(env)
        assert result.simulations == 101
        assert result.visits == MCTSAgent(workers=2, simulations=101, seed=5).search(env).visits
    finally:
        ray.shutdown()


class HighCard(SmallEnv):
    """Each has a card that only it sees; who bets and has the higher one wins."""

    def __init__(self) -> None:
        super().__init__(["a", "b"], 2)

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.cards = {"a": 4, "b": 2}
        self.bets: list[int] = []

    def play(self, agent: Any, action: Any) -> None:
        self.bets.append(int(action))
        if len(self.bets) == 2:
            sign = 1 if self.cards["a"] > self.cards["b"] else -1
            stake = 1 + sum(self.bets)
            self.rewards = {"a": sign * stake, "b": -sign * stake}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = "b"


def deal_high_card(env: Any, agent: Any, generator: Any) -> None:
    other = "b" if agent == "a" else "a"
    left = [card for card in range(6) if card != env.cards[agent]]
    env.cards[other] = left[int(generator.integers(len(left)))]


@pytest.mark.thorough
def test_what_was_registered_of_hidden_information_is_known_to_the_processes() -> None:
    register_information(
        HighCard,
        information_state_key=lambda env, agent: (env.cards[agent], *env.bets),
        resample=deal_high_card,
    )
    env = HighCard()
    env.reset(seed=0)
    results = []
    for other in (1, 2, 5):
        env.cards["b"] = other
        results.append(ISMCTSAgent(workers=2, simulations=200, ties="first").search(env))
    assert [result.action for result in results] == [1, 1, 1]
    assert all(sum(result.visits.values()) == 200 for result in results)
    assert results[0].visits == results[1].visits == results[2].visits, "the other card plays no part"
