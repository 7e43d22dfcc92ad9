"""Processes of a search that end, hang or are stopped: the search ends, says so, and others take their places."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from doubles.lost_workers import LosesOne, NeedsMemory, nim, pids_of, wait_for_end

from zermelo.agents import ISMCTSAgent, MCTSAgent
from zermelo.envs import make
from zermelo.envs.errors import EnvFailedError
from zermelo.evaluation.workers.meters import children

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="worker processes need a Unix system"),
    pytest.mark.alone,
    pytest.mark.thorough,
]


def lost(agent: Any, env: Any, text: str) -> Any:
    """The result of a search that warns of what it has lost, which its note says too."""
    with pytest.warns(RuntimeWarning, match=text):
        result = agent.search(env)
    assert re.search(text, result.note)
    return result


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_processes_lost_between_two_moves_are_replaced(number: signal.Signals) -> None:
    env, agent = nim(size=1 << 20), MCTSAgent(workers=2, simulations=20, solver=False)
    agent.prepare(env)
    pids = pids_of(agent)
    for pid in pids:
        os.kill(pid, number)
    how = "stood still" if number is signal.SIGSTOP else rf"ended \(killed by {number.name}\)"
    result = lost(agent, env, rf"all 2 processes that searched small_v0 {how} before it began, and new ones took")
    assert result.simulations == 20
    assert result.stats["workers"] == 2
    assert len(set(pids_of(agent)) - set(pids)) == 2
    assert wait_for_end(pids)
    assert agent.search(env).note == ""


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        ("exits", r"ended \(exit code 3\)"),
        ("is killed", r"ended \(killed by SIGKILL\)"),
        ("hangs", "did not answer in time"),
        ("is stopped", "did not answer in time|stood still"),
    ],
)
def test_one_that_is_lost_in_a_search_costs_its_share(loss: str, text: str, tmp_path: Path) -> None:
    env, agent = LosesOne(tmp_path, loss), MCTSAgent(workers=2, seconds=1, solver=False)
    env.reset(seed=0)
    agent.prepare(env)
    pids = pids_of(agent)
    (tmp_path / "go").mkdir()
    result = lost(
        agent, env, rf"1 of 2 processes that searched small_v0 ({text}): the answer is that of the others"
    )
    assert result.simulations > 0
    assert result.stats["workers"] == 1
    assert len(pids_of(agent)) == 2
    (gone,) = set(pids) - set(pids_of(agent))
    assert wait_for_end([gone])
    assert agent.search(env).stats["workers"] == 2


def test_one_that_runs_out_of_memory_costs_its_share(tmp_path: Path) -> None:
    env, agent = nim(), MCTSAgent(workers=2, simulations=40, evaluator=NeedsMemory(tmp_path))
    agent.prepare(env)
    (tmp_path / "go").mkdir()
    assert lost(agent, env, "1 of 2 processes that searched small_v0 ran out of memory").simulations == 20


def test_one_that_hangs_does_not_keep_a_search_without_a_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.agents.workers.pool._AT_LEAST", 0.5)
    env, agent = LosesOne(tmp_path, "hangs"), MCTSAgent(workers=2, simulations=40, solver=False)
    env.reset(seed=0)
    agent.prepare(env)
    (tmp_path / "go").mkdir()
    assert lost(agent, env, "1 of 2 processes .* did not answer in time").simulations == 20
    assert agent.search(env).simulations == 40


def test_all_that_are_stopped_end_a_search_without_a_time_limit() -> None:
    env, agent = nim(pause=0.001), MCTSAgent(workers=2, simulations=10**9, solver=False)
    agent.prepare(env)
    pids = pids_of(agent)
    threading.Timer(0.2, lambda: [os.kill(pid, signal.SIGSTOP) for pid in pids]).start()
    with pytest.raises(EnvFailedError, match="all 2 processes that searched small_v0 stood still: search with"):
        agent.search(env)
    assert wait_for_end(pids)


def test_one_that_is_stopped_before_it_knows_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    env, agent = nim(), MCTSAgent(workers=2, simulations=40, solver=False)
    agent.prepare(env)
    for pid in pids_of(agent):
        os.kill(pid, signal.SIGKILL)

    def stop_one() -> None:
        before = set(pids_of(agent))
        ends = time.monotonic() + 10
        while len(new := set(pids_of(agent)) - before) < 2 and time.monotonic() < ends:
            time.sleep(0.001)
        os.kill(min(new), signal.SIGSTOP)

    thread = threading.Thread(target=stop_one)
    thread.start()
    result = lost(agent, env, "1 of 2 processes that searched small_v0 stood still")
    thread.join()
    assert result.simulations == 40
    assert result.stats["workers"] == 1


def test_threads_that_share_an_agent_are_answered_one_after_the_other() -> None:
    agent = MCTSAgent(workers=2, simulations=600)
    envs = [nim(matches=matches) for matches in (5, 6, 7)] * 2
    with ThreadPoolExecutor(len(envs)) as pool:
        results = list(pool.map(agent.search, envs))
    assert [result.action for result in results] == [0, 1, 2] * 2
    assert all(result.proven and result.stats["workers"] == 2 for result in results)
    assert len(pids_of(agent)) == 2


def test_cards_are_dealt_again_to_a_process_that_takes_the_place_of_another() -> None:
    env, agent = make("zermelo/Leduc-v0"), ISMCTSAgent(workers=2, simulations=60)
    env.reset(seed=0)
    agent.prepare(env)
    os.kill(pids_of(agent)[0], signal.SIGKILL)
    assert lost(agent, env, r"1 of 2 processes .* ended \(killed by SIGKILL\)").simulations == 60


def search_until_ctrl_c(agent: Any, env: Any, timer: threading.Timer) -> None:
    timer.start()
    agent.search(env)
    timer.join()
    time.sleep(1)  # in which Ctrl-C comes


def test_ctrl_c_while_processes_start_leaves_none() -> None:
    env, before = nim(), set(children(os.getpid()))
    MCTSAgent(simulations=1).search(env)
    for after in (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1):
        agent = MCTSAgent(workers=3, simulations=10)
        timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            search_until_ctrl_c(agent, env, timer)
        timer.join()
        assert set(children(os.getpid())) <= before
