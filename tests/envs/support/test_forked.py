"""Work in a forked child."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from zermelo.envs.support.forked import can_fork, in_child

pytestmark = pytest.mark.skipif(not can_fork(), reason="no forks that may run Python")


def answer(text: bytes = b"done") -> bytes | None:
    return in_child(lambda: text, 10.0, lambda _: None)


def test_a_fork_that_a_hook_of_another_library_forbids_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fork, refusals = (
        os.fork,
        [RuntimeError("os.fork is unsafe while filelock is changing descriptor ownership")] * 3,
    )

    def refusing() -> int:
        if refusals:
            raise refusals.pop()
        return fork()

    monkeypatch.setattr(os, "fork", refusing)
    assert answer() == b"done"
    assert not refusals


def test_a_fork_that_is_always_forbidden_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing() -> int:
        raise RuntimeError("never")

    monkeypatch.setattr(os, "fork", refusing)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(RuntimeError, match="never"):
        answer()


def test_threads_fork_one_after_the_other() -> None:
    texts = [str(number).encode() for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(answer, texts)) == texts


def test_ctrl_c_at_the_moment_of_a_fork_leaves_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    children, fork = list[int](), os.fork

    def interrupted() -> int:
        child = fork()
        if child:
            children.append(child)
            os.kill(os.getpid(), signal.SIGINT)
        return child

    monkeypatch.setattr(os, "fork", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        in_child(lambda: b"", 5.0, lambda spent: None)
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(ChildProcessError):  # it was waited for
        os.waitpid(children[0], os.WNOHANG)
