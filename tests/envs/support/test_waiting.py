"""A limit on how long something may take, on a machine that others use too."""

from __future__ import annotations

import time

import pytest

from zermelo.envs.support import waiting
from zermelo.envs.support.waiting import MOST_STARVED, Deadline, DeadlinePassed, starved


def test_seconds_that_others_had_the_processors_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    had = 0.0
    monkeypatch.setattr(waiting, "starved", lambda: had)
    patience = Deadline(0.05)
    time.sleep(0.12)  # by the clock it lasts twice as long
    assert patience.left < 0.0
    had = 0.15
    assert patience.left > 0.0
    patience.check()
    had = 60.0
    time.sleep(0.05 * (2 + MOST_STARVED))
    with pytest.raises(DeadlinePassed):
        patience.check()


def test_a_part_of_a_limit_keeps_what_the_whole_was_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    had = 0.0
    monkeypatch.setattr(waiting, "starved", lambda: had)
    patience = Deadline(0.2)
    with patience.part(0.1):
        time.sleep(0.1)
        had = 0.3
        assert patience.left > 0.0
    time.sleep(0.4)
    assert patience.left > 0.0


def test_what_the_system_does_not_say_is_nothing() -> None:
    assert starved() >= 0.0
    assert starved("no such task") == 0.0
