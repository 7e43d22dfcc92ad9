"""The server that processes are forked from: what they are like, and what becomes of them when it ends."""

import json
import os
import signal
import sys
import threading

import pytest

from zermelo.envs.support.local_modules import search_path
from zermelo.evaluation.workers.forked_process import ForkedProcess, servers

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks into /proc")


def described():
    """What a process says of itself."""
    here, there = os.pipe()
    try:
        process = ForkedProcess("doubles.processes:describe", [there])
        os.close(there)
        found = json.loads(os.read(here, 2**20))
    finally:
        os.close(here)
    process.join(10)
    assert process.exitcode == 0
    return found


@pytest.mark.thorough
def test_a_process_finds_what_a_fresh_interpreter_would_and_nothing_else(tmp_path, monkeypatch, capfd):
    first, server = described(), servers()
    monkeypatch.setenv("COLOUR", "blue")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.setattr(sys, "argv", ["run.py", "--fast"])
    open_file = (tmp_path / "file").open("w")
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    with open_file:
        found = described()
    release.set()
    thread.join()
    assert servers() == server
    assert found["environ"] == dict(os.environ)
    assert found["folder"] == str(tmp_path)
    assert found["path"] == search_path()
    assert found["argv"] == ["run.py", "--fast"]
    assert capfd.readouterr().out == "said\nsaid\n"
    assert found["files"] == first["files"], "nothing of this process is open there"
    assert len(found["files"]) == 5  # the standard three, the pipe, and the folder that is listed
    assert found["threads"] == first["threads"]
    assert not set(found["numbers"]) & set(first["numbers"]), "random generators that nobody seeded differ"


@pytest.mark.thorough
def test_variables_that_count_at_the_start_of_an_interpreter_take_a_new_server(monkeypatch):
    older = ForkedProcess("doubles.processes:wait", [])
    before = servers()[0]
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert described()["environ"]["OMP_NUM_THREADS"] == "3"
    assert servers()[0] != before
    assert before in servers()
    assert older.is_alive(), "what the other server started goes on"
    older.kill()
    older.join(10)
    assert older.exitcode == -signal.SIGKILL


@pytest.mark.thorough
def test_an_error_is_shown_and_is_exit_code_1(capfd):
    here, there = os.pipe()
    process = ForkedProcess("doubles.processes:fail", [there])
    os.close(here)
    os.close(there)
    process.join(10)
    assert process.exitcode == 1
    assert "ValueError: on purpose" in capfd.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_server_stays_when_all_are_asked_to_end(number):
    described()
    server = servers()
    os.kill(server[0], number)
    described()
    assert servers() == server


@pytest.mark.thorough
def test_a_server_that_is_killed_is_replaced():
    process = ForkedProcess("doubles.processes:wait", [])
    os.kill(servers()[0], signal.SIGKILL)
    process.join(10)
    assert process.exitcode == -signal.SIGKILL, "nobody would say when it ends"
    assert described()["threads"] >= 1


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # which Python 3.12 says to who has threads
def test_a_process_that_this_one_forks_has_a_server_of_its_own():
    described()
    pid = os.fork()
    if pid == 0:
        os._exit(len(servers()))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_what_forks_has_one_thread_whatever_this_process_has():
    """Python 3.12 warns of a fork beside other threads: they may hold locks that the copy waits for."""
    release = threading.Event()
    threads = [threading.Thread(target=release.wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        described()
        for server in servers():
            with open(f"/proc/{server}/status") as status:
                assert "Threads:\t1\n" in status.readlines()
    finally:
        release.set()
        for thread in threads:
            thread.join()
