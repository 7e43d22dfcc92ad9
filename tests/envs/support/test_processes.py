"""Processes that run a fresh interpreter: what they are sent, how they end, and that none outlives this one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from doubles.lost_workers import pids_after_kill, wait_for_end

from zermelo.envs.support.processes import FreshProcess

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")
FUNCTION = "doubles.fresh:write_id"


def wait_until(happens: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 30
    while not happens() and time.monotonic() < ends:
        time.sleep(0.02)
    return happens()


def started(path: Path, *, ignores_interrupt: bool = False) -> FreshProcess:
    process = FreshProcess(FUNCTION, ignores_interrupt=ignores_interrupt)
    process.pipe.write(f"{path}\n".encode())
    process.pipe.flush()
    assert wait_until(path.exists)
    assert path.read_text() == str(process.pid)
    return process


def test_a_module_of_this_search_path_gets_what_is_sent(tmp_path: Path) -> None:
    process = started(tmp_path / "id")
    assert not process.has_ended()
    process.pipe.close()
    process.close()
    assert process.has_ended()
    assert process.end_text() == "exit code 0"


def test_a_start_that_fails_says_why() -> None:
    process = FreshProcess("doubles.fresh:nothing")
    assert wait_until(process.has_ended)
    assert process.end_text() == "exit code 1: AttributeError: module 'doubles.fresh' has no attribute 'nothing'"
    process.close()
    assert process.end_text() == "exit code 1"


@posix
def test_ctrl_c_ends_one_that_does_not_ignore_it(tmp_path: Path) -> None:
    ignores, other = (started(tmp_path / str(each), ignores_interrupt=each) for each in (True, False))
    for process in (ignores, other):
        os.kill(process.pid, signal.SIGINT)
    assert wait_until(other.has_ended)
    assert not ignores.has_ended()
    assert ignores.end_text() == "killed by SIGKILL"
    for process in (ignores, other):
        process.close()


@posix
def test_one_that_a_signal_has_stopped(tmp_path: Path) -> None:
    process = started(tmp_path / "id")
    assert not process.is_stopped()
    os.kill(process.pid, signal.SIGSTOP)
    assert wait_until(process.is_stopped)
    os.kill(process.pid, signal.SIGCONT)
    assert wait_until(lambda: not process.is_stopped())
    process.kill()
    process.close()
    assert not process.is_stopped()


@posix
def test_it_ends_with_this_process_though_a_fork_holds_its_pipe(tmp_path: Path) -> None:
    fresh, forked = pids_after_kill(
        "import os, time; from zermelo.envs.support.processes import FreshProcess; "
        f"process = FreshProcess({FUNCTION!r}); "
        "forked = os.fork(); forked or (time.sleep(60), os._exit(0)); "
        "print(process.pid, forked, flush=True); time.sleep(60)"
    )
    try:
        assert wait_for_end([fresh])
        os.kill(forked, 0)
    finally:
        os.kill(forked, signal.SIGKILL)
