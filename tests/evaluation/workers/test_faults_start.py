"""Agents that cannot start stop the run before any game; and which agents get processes of their own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from doubles import policies, toy_envs
from doubles.bad_agents import First, Good, Slow
from doubles.processes import left_running

from zermelo.agents import AlphaBetaAgent, PolicyAgent, RandomAgent
from zermelo.agents.policies.observation import Observation
from zermelo.envs import ZermeloError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.make import make
from zermelo.evaluation import round_robin
from zermelo.evaluation.errors import AgentStartError
from zermelo.evaluation.match.faults import AgentFault
from zermelo.evaluation.match.readiness import rehearse
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.workers.forked_process import ForkedProcess, servers
from zermelo.evaluation.workers.games import participants
from zermelo.evaluation.workers.isolated_agent import IsolatedAgent
from zermelo.evaluation.workers.meters import children
from zermelo.evaluation.workers.settings import AgentLimits, Isolate

pytestmark = pytest.mark.skipif(os.name != "posix", reason="agents' own processes need fork")

SHORT = AgentLimits(start_seconds=1.5)
EVERYONE = AgentLimits(isolate=Isolate.ALL)


@pytest.mark.parametrize(
    ("agent", "error", "said"),
    [
        ("doubles.hostile_agents:NeverMade", AgentStartError, "it did not answer within 1.5 s"),
        (
            "doubles.hostile_agents:DiesWhenMade",
            AgentStartError,
            "(exit code 3), and wrote 'no graphics card found'",
        ),
        ("doubles.hostile_agents:Nobody", ZermeloError, "Nobody"),
        ("doubles.nothing:Good", ZermeloError, "doubles.nothing"),
        ("doubles.bad_agents:Good(speed=3)", InvalidSettingError, "has no setting 'speed'"),
        ("doubles.bad_agents:legal_actions(env=1)", InvalidSettingError, "legal_actions"),
    ],
)
def test_an_agent_that_cannot_start_stops_the_run_before_any_game(agent, error, said):
    games = []
    before = left_running()
    with pytest.raises(error) as caught:
        round_robin(toy_envs.ToyEnv, ["random", agent], isolation=SHORT, on_game=games.append)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "Extension modules" not in str(caught.value)
    assert not games
    assert left_running() == before


def test_by_default_agents_of_ones_own_get_processes():
    default = AgentLimits()
    assert default.applies_to("mymodule:MyAgent(depth=3)")
    assert default.applies_to("alphabeta(depth=2, evaluator=mymodule:evaluate)")
    for source in ("random", "alphabeta(depth=6)", Good(), Good, AlphaBetaAgent()):
        assert not default.applies_to(source)


@pytest.mark.parametrize("limits", [{"move_seconds": 1}, {"memory_mb": 500}])
def test_with_limits_everyone_gets_a_process_but_random(limits):
    limited = AgentLimits(**limits)
    for source in ("mymodule:MyAgent", "alphabeta", Good(), Good, AlphaBetaAgent()):
        assert limited.applies_to(source)
    for source in ("random", "random(seed=3)", RandomAgent(), RandomAgent):
        assert not limited.applies_to(source)


def test_all_and_none():
    for source in ("mymodule:MyAgent", "random", Good()):
        assert EVERYONE.applies_to(source)
        assert not AgentLimits(isolate="none").applies_to(source)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"isolate": "some"}, "isolate must be one of 'all', 'own', 'none', not 'some'"),
        ({"move_seconds": 0}, "move_seconds must be a number of seconds above 0, not 0"),
        ({"move_seconds": float("nan")}, "move_seconds must be a number of seconds above 0, not nan"),
        ({"move_seconds": True}, "move_seconds must be a number of seconds above 0, not True"),
        ({"start_seconds": None}, "start_seconds must be a number of seconds above 0, not None"),
        ({"memory_mb": 3}, "memory_mb must be a whole number of at least 16, not 3"),
        ({"memory_mb": 100.5}, "memory_mb must be a whole number of at least 16, not 100.5"),
        ({"output_kb": None}, "output_kb must be a whole number of at least 1, not None"),
        ({"isolate": "none", "move_seconds": 1}, "move_seconds cannot be enforced with isolate='none'"),
        ({"isolate": "none", "memory_mb": 100}, "memory_mb cannot be enforced with isolate='none'"),
    ],
)
def test_settings_are_checked(settings, said):
    with pytest.raises(InvalidSettingError, match=r"^[^\n]*$") as caught:
        AgentLimits(**settings)
    assert said in str(caught.value)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("env", "agents"),
    [
        pytest.param(
            "classic/tictactoe-v3",
            ["random", "alphabeta(depth=2)", "doubles.bad_agents:Good"],
            marks=pytest.mark.slow,
        ),
        (toy_envs.DiceEnv, ["random", "greedy", "doubles.bad_agents:Good"]),
    ],
)
def test_isolation_changes_nothing_about_the_games(env, agents):
    here, there = (
        round_robin(env, agents, games=2, seed=4, isolation=AgentLimits(isolate=isolate)).records
        for isolate in ("none", "all")
    )
    assert [record.without_timings() for record in here] == [record.without_timings() for record in there]
    assert all(record.failure is None for record in there)


def test_agents_without_importable_names_are_sent_by_value():
    class Local(Good):
        def act(self, env):
            return super().act(env)

    standings = round_robin(toy_envs.ToyEnv, {"a": Local(), "b": lambda: Local()}, games=2, isolation=EVERYONE)
    assert [record.failure for record in standings.records] == [None, None]


def test_an_agent_that_cannot_be_sent_is_said_before_any_game():
    agent = Good()
    agent.moves = iter([1, 2]).__next__, (move for move in [1, 2])
    with pytest.raises(AgentStartError, match="cannot be sent to a process of its own"):
        round_robin(toy_envs.ToyEnv, {"a": Good, "b": agent}, isolation=EVERYONE)


@pytest.mark.thorough
@pytest.mark.alone
def test_a_limit_on_time_binds_searches_too():
    standings = round_robin(
        "classic/chess-v6",
        ["random", "alphabeta(depth=30)"],
        games=1,
        isolation=AgentLimits(move_seconds=0.7),
    )
    failure = standings.records[0].failure
    assert failure.kind is FailureKind.TIMEOUT
    assert standings.records[0].agents[failure.seat] == "alphabeta(depth=30)"


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are counted in /proc")
@pytest.mark.alone
def test_kill_9_of_the_tournament_leaves_no_process(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "from zermelo.evaluation import round_robin\n"
        "if __name__ == '__main__':\n"
        "    agents = ['doubles.bad_agents:Slow(seconds=0.2)', 'doubles.hostile_agents:LeavesProcess']\n"
        "    round_robin('doubles.toy_envs:ToyEnv', agents, games=999, on_game=lambda _: print(1, flush=True))\n"
    )
    run = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert run.stdout.readline() == b"1\n"
    found, fresh = set(), {run.pid}
    while fresh:
        fresh = {child for pid in fresh for child in children(pid)} - found
        found |= fresh
    assert len(found) >= 2  # the fork server and at least one agent
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    deadline = time.monotonic() + 20
    while (left := [pid for pid in found if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


@pytest.fixture
def good(monkeypatch):
    """An isolated agent, from a fork server that no other test uses."""
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    agent = participants({"good": Good}, EVERYONE)[0].player()
    assert isinstance(agent, IsolatedAgent)
    yield agent
    agent.close()


@pytest.mark.alone
def test_a_killed_fork_server_costs_a_game_at_most(good):
    env = toy_envs.ToyEnv()
    env.reset(seed=1)
    good.get_ready(1, env)
    first = good.act(env)
    os.kill(servers()[0], signal.SIGKILL)
    with pytest.raises(AgentFault, match="ended its process"):
        [good.act(env) for _ in range(10_000)]  # the first of them may still be answered
    good.get_ready(1, env)
    assert good.act(env) == first


@pytest.mark.slow
@pytest.mark.alone
def test_a_fork_server_that_is_stopped_is_replaced(good, monkeypatch):
    monkeypatch.setattr("zermelo.evaluation.workers.forked_process._ANSWER", 8.0)
    good.start()
    stopped = servers()[0]
    os.kill(stopped, signal.SIGSTOP)
    try:
        assert ForkedProcess("doubles.processes:wait", []).is_alive()
    finally:
        os.kill(stopped, signal.SIGKILL)
    assert good.start() == "good"


def test_searches_and_models_rehearse_before_their_time_is_taken_and_other_agents_do_not():
    env = make("classic/tictactoe-v3")
    env.reset(seed=1)
    states = []
    agent = AlphaBetaAgent(depth=3, evaluator=lambda game, state: states.append(state) or (0.0, 0.0))
    rehearse(agent, env)
    assert len(states) == 9  # as the agent would search, but one move deep
    recorder = policies.Recorder()
    rehearse(PolicyAgent(recorder), Observation("player_0", 0, np.array([True]), 0, 1))
    assert recorder.given == []


def test_what_a_rehearsal_shows_of_the_game_is_nothing():
    seen = {"cards": np.array([3, 1]), "bets": (2, 1.5), "name": "flush"}
    view = Observation("player_0", seen, np.array([True, False]), 4, 2)
    blank = view.blank()
    assert blank.observation["cards"].tolist() == [0, 0]
    assert blank.observation["bets"] == (0, 0.0)
    assert blank.observation["name"] is None
    assert blank.action_mask.tolist() == [True, True]
    assert (blank.agent, blank.first_action, blank.actions) == ("player_0", 4, 2)
    assert view.observation["cards"].tolist() == [3, 1]


@pytest.mark.parametrize("clock", ["", "x", "0", "1+", "+1", "-1", 60])
def test_a_clock_is_written_as_people_do(clock):
    with pytest.raises(InvalidSettingError, match="a clock is seconds for the game and for each move"):
        AgentLimits(clock=clock)
    assert AgentLimits(clock="60+0.6").time_control == (60, 0.6)
    assert AgentLimits(clock="0.5").time_control == (0.5, 0)


@pytest.mark.thorough
@pytest.mark.alone
def test_clocks_count_a_game():
    sleepy = {"sleepy": Slow(0.3), "first": First("first")}

    def lost(**limits):
        standings = round_robin(toy_envs.ToyEnv, sleepy, games=1, isolation=AgentLimits(**limits))
        return {str(kind): count for kind, count in standings.row("sleepy").failures.items()}

    assert lost(clock="0.45") == {"TIMEOUT": 1}, "two moves of 0.3 s"
    assert lost(clock="0.45+0.4") == {}
    assert lost(move_seconds=0.2) == {"TIMEOUT": 1}
