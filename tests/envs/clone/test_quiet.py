"""What environments print in copies is not heard, and ``sys.stdout`` is replaced no longer than that takes."""

from __future__ import annotations

import contextlib
import io
import sys
import threading

import pytest

from zermelo.envs.clone.quiet import OUTPUT_GUARD


def test_a_stream_is_given_back_at_the_end_of_the_outermost_context(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with OUTPUT_GUARD:
        with OUTPUT_GUARD:
            print("not heard")
            sys.stdout.writelines(["nor", "this"])
        print("not heard")
        assert sys.stdout is not before
    assert sys.stdout is before
    with pytest.raises(KeyboardInterrupt), OUTPUT_GUARD, OUTPUT_GUARD:
        raise KeyboardInterrupt
    assert sys.stdout is before
    print("heard")
    assert capsys.readouterr().out == "heard\n"


def test_a_stream_that_somebody_put_in_place_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, before = io.StringIO(), sys.stdout
    with OUTPUT_GUARD, contextlib.redirect_stdout(theirs):
        print("to the environment's own text")
    assert theirs.getvalue() == "to the environment's own text\n"
    assert sys.stdout is before
    with contextlib.redirect_stdout(theirs), OUTPUT_GUARD:
        print("not heard")
    assert sys.stdout is before
    with OUTPUT_GUARD:
        monkeypatch.setattr(sys, "stdout", theirs)
    assert sys.stdout is theirs
    monkeypatch.setattr(sys, "stdout", None)  # as it is without a terminal
    with OUTPUT_GUARD:
        print("nowhere")
    assert sys.stdout is None


def test_a_kept_stream_is_replaced_until_it_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    theirs, before = io.StringIO(), sys.stdout
    OUTPUT_GUARD.keep()
    try:
        kept = sys.stdout
        assert kept is not before
        assert OUTPUT_GUARD.unfiltered(kept) is before
        for _ in range(2):
            print("heard")
            with OUTPUT_GUARD, OUTPUT_GUARD:
                print("not heard")
            assert sys.stdout is kept
        with contextlib.redirect_stdout(theirs):
            with OUTPUT_GUARD:
                print("not heard")
            print("redirected")
            OUTPUT_GUARD.keep()  # inside of it, as a search inside of another does
            OUTPUT_GUARD.leave(0)
        print("again")
        with contextlib.suppress(KeyboardInterrupt):
            OUTPUT_GUARD.__enter__()
            raise KeyboardInterrupt
        OUTPUT_GUARD.leave(0)
        print("at last")
    finally:
        OUTPUT_GUARD.leave()
    assert OUTPUT_GUARD.depth is None
    assert sys.stdout is before
    assert theirs.getvalue() == "redirected\n"
    assert capsys.readouterr().out == "heard\nheard\nagain\nat last\n"


def test_other_threads_are_heard_and_quiet_ones_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    before, entered, leave = sys.stdout, threading.Barrier(4), threading.Event()

    def run() -> None:
        with OUTPUT_GUARD:
            entered.wait(20)
            leave.wait(20)
            print("not heard")

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    entered.wait(20)
    print("heard")
    with OUTPUT_GUARD:
        print("not heard")
    print("again")
    leave.set()
    for thread in threads:
        thread.join()
    assert sys.stdout is before
    assert capsys.readouterr().out == "heard\nagain\n"


def test_many_threads_that_come_and_go_leave_the_stream(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout

    def run() -> None:
        for _ in range(2_000):
            with OUTPUT_GUARD:
                print("not heard")

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.stdout is before
    assert capsys.readouterr().out == ""
