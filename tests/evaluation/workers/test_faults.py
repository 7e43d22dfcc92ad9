"""Whatever an agent does: the fault has its name, costs that game only, and nothing is left of it."""

import os
from functools import partial
from pathlib import Path

import pytest
from doubles import bad_agents, hostile_agents
from doubles.bad_agents import Answers, Good, Raises
from doubles.processes import ends, left_running

from zermelo.evaluation import Standings
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.workers.games import GamePlayer, participants
from zermelo.evaluation.workers.pool import ProcessRunner
from zermelo.evaluation.workers.settings import AgentLimits, Isolate
from zermelo.evaluation.workers.work import SerialRunner

pytestmark = pytest.mark.skipif(os.name != "posix", reason="agents' own processes need fork")

TICTACTOE = "classic/tictactoe-v3"
LIMITS = AgentLimits(isolate=Isolate.ALL, move_seconds=2.0, start_seconds=2.0, memory_mb=220, output_kb=64)

GOOD = {
    "random": "random",
    "good": Good,
    "threads": hostile_agents.EndsItsThreads,
    "chatters": hostile_agents.Chatters,
}

Kind = FailureKind
BAD = {
    "raises": (Raises, Kind.CRASH, "act raised RuntimeError: no idea"),
    "raises later": (partial(Raises, after=1), Kind.CRASH, "act raised RuntimeError: no idea"),
    "sys.exit": (bad_agents.SysExits, Kind.CRASH, "act raised SystemExit: 3"),
    "raises KeyboardInterrupt": (hostile_agents.Interrupts, Kind.CRASH, "act raised KeyboardInterrupt"),
    "os._exit": (bad_agents.Exits, Kind.CRASH, "ended its process (exit code 7)"),
    "os._exit, child holds pipes": (hostile_agents.TwoFaced, Kind.CRASH, "ended its process (exit code 5)"),
    "segmentation fault": (hostile_agents.SegmentationFault, Kind.CRASH, "ended its process (SIGSEGV)"),
    "abort": (hostile_agents.Aborts, Kind.CRASH, "ended its process (SIGABRT)"),
    "closes its files": (hostile_agents.ClosesFiles, Kind.CRASH, "ended its process (exit code"),
    "loops in Python": (hostile_agents.Loops, Kind.TIMEOUT, "did not answer within 2 s"),
    "loops, catches all": (hostile_agents.Catches, Kind.TIMEOUT, "did not answer within 2 s"),
    "loops in C, holds the lock": (hostile_agents.LoopsInC, Kind.TIMEOUT, "did not answer within 2 s"),
    "sleeps in C, holds the lock": (hostile_agents.SleepsInC, Kind.TIMEOUT, "did not answer within 2 s"),
    "memory, bit by bit": (hostile_agents.Hogs, Kind.OUT_OF_MEMORY, ""),
    "memory, at once": (hostile_agents.Gulps, Kind.OUT_OF_MEMORY, "act raised MemoryError"),
    "floods standard output": (hostile_agents.Floods, Kind.FLOOD, "wrote more than 64 KB of output"),
    "floods standard error": (hostile_agents.FloodsBeneath, Kind.FLOOD, "wrote more than 64 KB of output"),
    "illegal action": (partial(Answers, 9), Kind.ILLEGAL_ACTION, "played 9, which is outside the action space"),
    "no action": (partial(Answers, None), Kind.ILLEGAL_ACTION, "played None, which is None, where an integer"),
    "text for an action": (partial(Answers, "e4"), Kind.ILLEGAL_ACTION, "played 'e4', which is text"),
    "hostile object": (hostile_agents.Impostor, Kind.ILLEGAL_ACTION, "played <an impostor>, which is of type Imp"),
    "refuses to start": (bad_agents.RefusesToStart, Kind.INVALID_START, "reset raised OSError: the model file"),
    "hangs at start": (hostile_agents.HangsAtStart, Kind.INVALID_START, "did not answer within 2 s"),
    "dies at start": (hostile_agents.DiesAtStart, Kind.INVALID_START, "ended its process (exit code 4)"),
    "steps the environment": (bad_agents.Steps, Kind.ENVIRONMENT_CHANGED, "changed the environment"),
    "resets the environment": (hostile_agents.Resets, Kind.ENVIRONMENT_CHANGED, "changed the environment"),
    "writes into the board": (hostile_agents.WritesInto, Kind.ENVIRONMENT_CHANGED, "changed the environment"),
    "leaves a thread": (hostile_agents.LeavesThread, Kind.LEFT_RUNNING, "left a thread running after its move"),
    "leaves a process": (hostile_agents.LeavesProcess, Kind.LEFT_RUNNING, "left a process running after its move"),
}  # fmt: skip


def played(agents, games, *, workers=1, isolation=LIMITS):
    """The records of a round robin of which each bad agent plays but two games, against a good one."""
    found = participants(agents, isolation)
    player = GamePlayer(TICTACTOE, TICTACTOE, ("player_1", "player_2"), {one.name: one for one in found})
    schedule = [
        game
        for game in Schedule(list(agents), seats=2, games=games, seed=5)
        if set(game.seats) <= GOOD.keys() or ("good" in game.seats and game.game_id.startswith("0."))
    ]
    runner = SerialRunner() if workers == 1 else ProcessRunner(workers)
    records = {record.game_id: record for record in runner.run(player, schedule)}
    return [records[game.game_id] for game in schedule]


def among_the_good(records):
    return [record.without_timings() for record in records if set(record.agents) <= GOOD.keys()]


def same_but_for_the_place(record):
    """The game as text; its number in the schedule depends on how many agents there are."""
    return record.to_json().replace(f'"game_id":"{record.game_id}"', "")


def table(records):
    standings = Standings.from_records(records, agents=list(GOOD))
    return [(row.agent, row.score, row.games) for row in standings.rows], standings.crosstable


@pytest.fixture(scope="module")
def tournament():
    """Every bad agent against a good one, and the good against each other, in one run.

    Most of its time is spent waiting for limits, so there are more workers than processors.
    """
    before = left_running()
    records = played({**GOOD, **{name: source for name, (source, _, _) in BAD.items()}}, games=4, workers=3)
    assert left_running() == before
    return records


@pytest.fixture(scope="module")
def good_alone():
    """The good agents against each other, without the bad ones."""
    return played(GOOD, games=4)


@pytest.mark.thorough
def test_agents_commit_every_fault_there_is(tournament):
    """Only an environment can commit the one that is left."""
    assert {record.failure.kind for record in tournament if record.failure} == set(Kind) - {Kind.ENVIRONMENT_ERROR}


@pytest.mark.parametrize("name", BAD)
def test_every_fault_has_its_name_and_is_charged_to_its_seat(tournament, name):
    _, kind, said = BAD[name]
    games = [record for record in tournament if name in record.agents]
    assert len(games) == 2
    for record in games:
        assert record.failure is not None
        assert record.failure.kind is kind, f"{record.failure.message}\n{record.failure.detail}"
        assert record.agents[record.failure.seat] == name
        assert record.failure.message.startswith(said), record.failure
        assert record.scores[record.failure.seat] == 0.0
        assert record.scores[1 - record.failure.seat] == 1.0


def test_what_is_left_in_the_detail_helps_to_mend_the_agent(tournament):
    def detail(name):
        return next(record.failure.detail for record in tournament if name in record.agents)

    assert 'RuntimeError("no idea")' in detail("raises") or "RuntimeError: no idea" in detail("raises")
    assert "Segmentation fault" in detail("segmentation fault")
    assert "in act" in detail("segmentation fault")
    for name in ("loops in Python", "loops in C, holds the lock", "sleeps in C, holds the lock"):
        assert "in act" in detail(name)  # where it was when its time was up
    assert detail("leaves a thread") == "still running: thread pondering"
    flood = detail("floods standard error")
    assert flood.startswith("warning: warning: ")
    assert "bytes ...]" in flood
    assert len(flood) < 5000


def test_a_failing_game_keeps_the_moves_before_it(tournament):
    records = [record for record in tournament if "raises later" in record.agents]
    assert sorted(len(record.moves) for record in records) == [2, 3]


@pytest.mark.thorough
def test_good_agents_games_are_the_same_to_the_last_byte_without_the_bad_ones(tournament, good_alone):
    together = among_the_good(tournament)
    assert len(together) == 24
    assert all(record.failure is None for record in together)
    text = sorted(map(same_but_for_the_place, together))
    assert text == sorted(same_but_for_the_place(record.without_timings()) for record in good_alone)
    assert table(together) == table(among_the_good(good_alone))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are counted in /proc")
def test_daemons_of_agents_are_killed_too(tmp_path):
    written = tmp_path / "pids"
    played({"good": Good, "daemon": partial(hostile_agents.LeavesDaemon, str(written))}, games=2)
    pids = [int(line) for line in written.read_text().split()]
    assert pids
    assert all(map(ends, pids))


def test_what_an_agent_wrote_before_it_died_is_kept():
    records = played({"good": Good, "words": hostile_agents.LastWords}, games=1)
    assert records[0].failure.message == "ended its process (exit code 9)"
    assert records[0].failure.detail == "the model has no head\n"
