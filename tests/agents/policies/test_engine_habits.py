"""Engines as they are: what they write besides answers, how they end, and what is left of them."""

import gc
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from doubles.processes import ends, left_running

from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import GameClock
from zermelo.agents.policies import engines
from zermelo.agents.policies.engines import EngineError, EngineTimeoutError
from zermelo.agents.policies.gtp import GtpAgent
from zermelo.agents.policies.uci import UciAgent
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.make import make
from zermelo.evaluation import play_match
from zermelo.evaluation.errors import AgentStartError
from zermelo.evaluation.match.record import EndReason, FailureKind
from zermelo.evaluation.match.score import SeatOutcome
from zermelo.evaluation.workers.games import participants
from zermelo.evaluation.workers.settings import AgentLimits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="engines are read by selecting among pipes")
CHESS = "zermelo/Chess-v0"
PROGRAM = Path(__file__).parents[2] / "doubles" / "uci_engine.py"
GO = """
import sys
answers = {"genmove": sys.argv[1]}
for line in sys.stdin:
    if sys.argv[2:]: open(sys.argv[2], "a").write(line)
    refused = line.startswith("time_") and sys.argv[1] == "A1"
    print(("? unknown command" if refused else "= " + answers.get(line.split()[0], "")) + "\\n", flush=True)
"""


def path_of(habit, *log):
    return " ".join(f"'{word}'" for word in (sys.executable, PROGRAM, habit, *log))


def played(habit, **settings):
    return play_match(CHESS, [UciAgent(path=path_of(habit)), "random"], seed=1, **{"max_moves": 4} | settings)


def pids_of(log, until=0.0):
    """The processes that an engine's log names."""
    while not (found := re.findall(r"pid (\d+)", log.read_text() if log.exists() else "")):
        assert time.monotonic() < until
        time.sleep(0.05)
    return list(map(int, found))


@pytest.mark.parametrize(
    "habit", ["plays", "ponders", "shouts", "floods", "long line", "complains", "noise", "has a child"]
)
def test_what_is_no_answer_is_not_minded(habit):
    record = played(habit)
    assert record.failure is None
    assert len(record.moves) == 4


@pytest.mark.parametrize(
    ("habit", "kind", "said"),
    [
        ("none", "ILLEGAL_ACTION", "answered 'bestmove (none)', which is no legal move"),
        ("null", "ILLEGAL_ACTION", "answered 'bestmove 0000', which is no legal move"),
        ("bare", "ILLEGAL_ACTION", "answered 'bestmove', which is no legal move"),
        ("illegal", "ILLEGAL_ACTION", "answered 'bestmove e2e5', which is no legal move"),
        ("hangs", "TIMEOUT", "did not answer in time"),
        ("never ends", "TIMEOUT", "did not answer in time"),
        ("line without end", "TIMEOUT", "did not answer in time"),
        ("dies", "CRASH", "ended, with exit code 1, and wrote 'cannot open network.nn'"),
        ("is killed", "CRASH", "ended, with signal SIGSEGV"),
    ],
)
def test_failures_go_by_their_kind(habit, kind, said, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 1.0)
    record = played(habit)
    assert record.failure.kind is FailureKind(kind)
    assert said in record.failure.message
    assert record.outcomes == (SeatOutcome.LOSS, SeatOutcome.WIN)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_resignation_is_a_loss_at_once(seat, tmp_path):
    (tmp_path / "go.py").write_text(GO)
    go = GtpAgent(path=f"{sys.executable} {tmp_path / 'go.py'} resign")
    for env, agent in ((CHESS, UciAgent(path=path_of("resigns"))), ("classic/go-v5(board_size=5)", go)):
        record = play_match(env, [agent, "random"][:: 1 - 2 * seat], seed=1)
        assert record.end is EndReason.RESIGNATION
        assert record.failure is None
        assert record.outcomes[seat] is SeatOutcome.LOSS
        assert record.outcomes[1 - seat] is SeatOutcome.WIN
        assert len(record.moves) == seat
        assert type(record).from_json(record.to_json()) == record


class Quits:
    name = "quits"
    needs = "environment"

    def act(self, env):
        raise Resignation("enough")

    def reset(self, seed=None):
        pass


def test_any_agent_may_resign():
    record = play_match("classic/tictactoe-v3", ["random", Quits()], seed=1)
    assert (record.end, record.rewards) == (EndReason.RESIGNATION, (1.0, -1.0))


def test_a_resignation_passes_between_processes():
    from zermelo.evaluation import round_robin

    standings = round_robin(
        "classic/tictactoe-v3", {"quits": Quits, "first": "random"}, games=2, isolation=AgentLimits(isolate="all")
    )
    assert [record.end for record in standings.records] == [EndReason.RESIGNATION] * 2
    assert standings.row("quits").score == 0
    assert not standings.row("quits").failures


@pytest.mark.parametrize("habit", ["deaf", "hangs", "has a child", "illegal"])
def test_nothing_of_an_engine_outlives_its_match(habit, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.5)
    wrapper = tmp_path / "wrapper.sh"
    wrapper.write_text(f"#!/bin/sh\n{path_of(habit, tmp_path / 'log')}\nexit 0\n")
    wrapper.chmod(0o755)
    before = left_running()
    play_match(CHESS, [f"uci(path='{wrapper}')", "random"], seed=1, max_moves=2)
    found = pids_of(tmp_path / "log")
    assert len(found) == 1 + (habit == "has a child")
    assert all(map(ends, found))
    assert left_running() == before


def test_an_agent_can_end_its_engine_and_start_it_again(tmp_path):
    agent = UciAgent(path=path_of("deaf", tmp_path / "log"))
    agent.close()
    assert ends(*pids_of(tmp_path / "log"))
    record = play_match(CHESS, [agent, "random"], seed=1, max_moves=2)
    assert record.failure is None
    del agent
    gc.collect()
    assert all(map(ends, pids_of(tmp_path / "log")))


@pytest.mark.alone
@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_an_engine_outlives_a_program_that_is_ended(number, tmp_path):
    script = (
        "import signal\n"
        "from zermelo.agents.policies.uci import UciAgent\n"
        "from zermelo.evaluation import play_match\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"agent = UciAgent(path={path_of('hangs', tmp_path / 'log')!r}, seconds=60)\n"
        f"play_match({CHESS!r}, [agent, 'random'], seed=1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    [engine] = pids_of(tmp_path / "log", until=time.monotonic() + 60)
    process.send_signal(number)
    process.wait(30)
    assert ends(engine)


# -- settings and the start


def test_an_engine_has_its_time_to_start(monkeypatch):
    start = engines.START_SECONDS.set(0.5)
    monkeypatch.setattr(engines, "PATIENCE", 0.5)
    try:
        with pytest.raises(EngineTimeoutError, match="did not answer in time"):
            UciAgent(path=path_of("never ready"))
    finally:
        engines.START_SECONDS.reset(start)
    with pytest.raises(AgentStartError, match=r"it did not answer within 1\.5 s"):
        participants([f'uci(path="{path_of("never ready")}")'], AgentLimits(start_seconds=1.5))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"elo": 100}, "elo must be from 1320 to 3190 for .*, not 100"),
        ({"threads": 2}, "has no option Threads: leave threads out"),
        ({"seconds": 0}, "seconds must be a finite number greater than 0, not 0"),
        ({"seconds": "1"}, "seconds must be a finite number greater than 0, not '1'"),
        ({"nodes": 0}, "nodes must be a whole number of at least 1, not 0"),
    ],
)
def test_settings_that_an_engine_cannot_have(settings, said):
    with pytest.raises(InvalidSettingError, match=said):
        UciAgent(path=path_of("plays"), **settings)


def test_a_file_that_is_no_program(tmp_path):
    program = tmp_path / "engine"
    program.write_text("no program\n")
    program.chmod(0o755)
    with pytest.raises(EngineError, match=r"cannot be started .*: give path a program for this machine"):
        UciAgent(path=str(program))


def test_an_engine_that_has_not_been_started():
    agent = UciAgent(path=path_of("plays"))
    agent.close()
    env = make(CHESS)
    env.reset(seed=0)
    with pytest.raises(EngineError, match="is not running: call reset first"):
        agent.act(env)


# -- clocks


def told(tmp_path, seat=0, clock="60+0.5", **settings):
    """The commands to search that an engine got in a game with a clock."""
    agent = UciAgent(path=path_of("plays", tmp_path / "log"), **settings)
    record = play_match(CHESS, [agent, "random"][:: 1 - 2 * seat], seed=1, clock=clock, max_moves=4)
    assert record.failure is None
    return [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("go")]


@pytest.mark.parametrize("seat", [0, 1])
def test_uci_engines_are_told_the_clock(tmp_path, seat):
    first, second = told(tmp_path, seat)
    times = [int(number) for number in re.findall(r"[wb]time (\d+)", first)]
    assert re.fullmatch(r"go wtime \d+ btime \d+ winc 500 binc 500", first)
    assert 59_000 < times[seat] < 60_000, "a reserve is kept"
    assert 59_900 < times[1 - seat] <= 60_500
    later = [int(number) for number in re.findall(r"[wb]time (\d+)", second)]
    assert times[seat] < later[seat] < times[seat] + 500, "what the move added, less what it took"


def test_what_limits_an_engine_besides_stays(tmp_path):
    assert told(tmp_path, nodes=5) == ["go nodes 5"] * 2
    (tmp_path / "log").unlink()
    assert told(tmp_path, depth=2) == ["go depth 2"] * 2
    (tmp_path / "log").unlink()
    assert all(command.endswith(" movetime 50") for command in told(tmp_path, seconds=0.05))
    (tmp_path / "log").unlink()
    assert told(tmp_path, clock=None) == ["go movetime 100"] * 2


def test_little_time_left_is_told_as_a_positive_time(tmp_path):
    agent = UciAgent(path=path_of("plays", tmp_path / "log"))
    env = make(CHESS)
    env.reset(seed=0)
    agent.tell_clock(GameClock(left=(0.01, 0.0), seat=0))
    agent.act(env)
    assert "go wtime 1 btime 1 winc 0 binc 0" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("answer", ["B2", "A1"], ids=["knows clocks", "refuses clocks"])
def test_gtp_engines_are_told_the_clock(tmp_path, answer):
    (tmp_path / "go.py").write_text(GO)
    agent = GtpAgent(path=f"{sys.executable} {tmp_path / 'go.py'} {answer} {tmp_path / 'log'}")
    record = play_match("classic/go-v5(board_size=5)", ["random", agent], seed=3, clock="90+2.5", max_moves=2)
    assert record.failure is None
    commands = (tmp_path / "log").read_text().splitlines()
    at = commands.index("genmove white")
    assert commands[at - 3 : at] == ["time_settings 90 2 1", "time_left black 92 0", "time_left white 89 0"]
