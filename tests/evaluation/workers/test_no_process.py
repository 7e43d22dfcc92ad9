"""No process can be started, or one never gets ready: no agent is charged, and no other process is killed."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from doubles.processes import ends, is_running

from zermelo.evaluation import round_robin
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.workers import isolated_agent, pool
from zermelo.evaluation.workers.forked_process import AgentProcess, ForkedProcess, servers
from zermelo.evaluation.workers.isolated_agent import IsolatedAgent
from zermelo.evaluation.workers.settings import AgentLimits

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks into /proc")
MNK = "zermelo/MNK-v0"


@pytest.fixture
def waiting():
    """A process that lives while others cannot be started."""
    process = ForkedProcess("doubles.processes:wait", [])
    yield process
    process.kill()
    process.join(10)


def _no_more_files(number):
    """Lets a process open no further file; what undoes it."""
    before = resource.prlimit(number, resource.RLIMIT_NOFILE)
    resource.prlimit(number, resource.RLIMIT_NOFILE, (3, before[1]))
    return lambda: resource.prlimit(number, resource.RLIMIT_NOFILE, before)


@pytest.mark.thorough
@pytest.mark.parametrize("whose", ["ours", "the server's"])
def test_too_many_open_files_kill_no_living_process(waiting, whose):
    server = servers()[0]
    restore = _no_more_files(os.getpid() if whose == "ours" else server)
    try:
        if whose == "ours":
            with pytest.raises(OSError, match="open files"):
                ForkedProcess("doubles.processes:wait", [])
        else:  # another server serves
            ForkedProcess("doubles.processes:wait", []).kill()
    finally:
        restore()
    time.sleep(0.05)
    assert waiting.is_alive()
    assert server in servers()
    ForkedProcess("doubles.processes:wait", []).kill()


@pytest.mark.thorough
@pytest.mark.parametrize("may_fork", [False, True])
def test_a_fork_that_the_system_refuses_kills_no_living_process(waiting, monkeypatch, may_fork):
    monkeypatch.setenv("OMP_NUM_THREADS", "1" if may_fork else "2")  # a server of its own
    other = ForkedProcess("doubles.processes:wait", [])
    server = servers()
    try:
        with pytest.raises(BlockingIOError):
            ForkedProcess("doubles.refused_forks:wait", [], may_fork=may_fork)
        assert servers() == server
        assert other.is_alive()
        assert waiting.is_alive()
        ForkedProcess("doubles.refused_forks:wait", [], may_fork=may_fork).kill()
    finally:
        other.kill()


def test_an_agent_whose_process_cannot_start_is_not_at_fault_and_others_live(waiting, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "pipe", _refused)
        lonely = IsolatedAgent("random", "lonely", AgentLimits(isolate="all"))
        with pytest.raises(WorkerError, match="open files"):
            lonely.get_ready(0, None)
    assert waiting.is_alive()
    lonely.start()
    lonely.close()


def _refused(*_):
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_an_agents_process_that_cannot_start_ends_the_run_and_charges_no_seat(monkeypatch):
    """Its agents were made before the first game: then the processes of one run out."""
    started = [0]

    def seldom(*given, **settings):
        started[0] += 1
        if started[0] > 3:
            raise WorkerError("no process can be started for an agent: Too many open files")
        return AgentProcess(*given, **settings)

    monkeypatch.setattr(isolated_agent, "AgentProcess", seldom)
    with pytest.raises(WorkerError, match="open files"):
        round_robin(MNK, ["random", "minimax(depth=1)"], games=4, isolation=AgentLimits(isolate="all"))


@pytest.mark.thorough
def test_with_fewer_workers_than_wanted_the_run_goes_on(monkeypatch):
    start, tries = pool.start, [0]

    def once(player):
        tries[0] += 1
        if tries[0] == 2:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return start(player)

    monkeypatch.setattr(pool, "start", once)
    standings = round_robin(MNK, ["random", "minimax(depth=1)"], games=20, workers=2)
    assert standings.games == 20
    assert not any(row.failures for row in standings.rows)


def test_without_any_worker_the_run_ends_with_a_sentence(monkeypatch):
    monkeypatch.setattr(pool, "start", _refused)
    with pytest.raises(WorkerError, match=r"a worker process could not start: .*open files"):
        round_robin(MNK, ["random", "minimax(depth=1)"], games=2, workers=2)


@pytest.mark.thorough
@pytest.mark.parametrize("whole_group", [False, True])
def test_what_agents_in_a_worker_have_started_ends_with_a_killed_run(tmp_path, whole_group):
    children = tmp_path / "children"
    tests = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": str(tests), "ZERMELO_TEST_CHILDREN": str(children)}
    words = [
        "tournament",
        MNK,
        "doubles.bad_agents:StartsAnother",
        "random",
        "--isolate",
        "none",
        "--workers",
        "2",
    ]
    program = [sys.executable, "-c", "from zermelo.evaluation.cli import main; main()", *words]
    with subprocess.Popen(program, env=environment, start_new_session=True, stderr=subprocess.DEVNULL) as run:
        due = time.monotonic() + 60
        while not (children.exists() and children.read_text().endswith("\n")) and time.monotonic() < due:
            time.sleep(0.02)
        (os.killpg if whole_group else os.kill)(run.pid, signal.SIGKILL)
    assert all(ends(int(pid)) for pid in children.read_text().split())


HANGING = """
import time
from zermelo.evaluation import round_robin
from zermelo.evaluation.workers import pool
from zermelo.evaluation.workers.settings import AgentLimits

if __name__ == "__main__":
    pool.START = 0.5
    try:
        limits = AgentLimits(hang_seconds=0.5)
        round_robin("zermelo/MNK-v0", ["random", "random"], games=2, workers=2, isolation=limits)
    except Exception as error:
        print(type(error).__name__, error)
else:
    time.sleep(60)
"""


@pytest.mark.thorough
def test_a_worker_that_never_gets_ready_ends_the_run_with_a_sentence(tmp_path):
    script = tmp_path / "hangs.py"
    script.write_text(HANGING)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        try:
            said, _ = run.communicate(timeout=15)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
    assert said.startswith("WorkerError a worker process did not get ready within 0.5 s")


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_what_a_process_has_started_ends_with_it(how):
    here, there = os.pipe()
    process = ForkedProcess("doubles.processes:start_another", [there])
    os.close(there)
    child = int(os.read(here, 100))
    os.close(here)
    assert is_running(child)
    if how == "killed":
        process.kill()
    else:
        os.kill(process.pid, signal.SIGKILL)
    process.join(10)
    assert ends(child)
