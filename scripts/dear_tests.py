"""Chooses the tests that ``scripts/test`` leaves to ``.ci/run``, the dearest ones: a plugin of pytest.

    PYTHONPATH=scripts scripts/test -m "not slow" -p dear_tests     # on an idle machine

runs them all and writes those that took too long into ``tests/thorough.txt``, of which ``tests/conftest.py`` makes
the mark ``thorough``. What counts is processor time, of child processes too, or a third of the time on the clock
where a test waits. Who compiles a kernel that others use too is charged with it, so a second round may choose some
more: what was chosen before stays, as long as there is a test of that name.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

DEAR = 0.3
"""Seconds."""
WAITING = 3
FILE = Path(__file__).resolve().parents[1] / "tests" / "thorough.txt"


def _processor_time() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport]:
    """Notes what the phase of a test took, for the process that runs the others."""
    report = yield
    now = _processor_time()
    before = item.config.stash.get(BEFORE, now)
    item.config.stash[BEFORE] = now
    report.user_properties.append(("seconds", max(now - before, call.duration / WAITING)))
    return report


BEFORE = pytest.StashKey[float]()
taken: dict[str, float] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds up a test's phases."""
    if report.user_properties:
        taken[report.nodeid] = taken.get(report.nodeid, 0.0) + report.user_properties[-1][1]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the list."""
    if hasattr(session.config, "workerinput") or not taken:
        return
    before = set(FILE.read_text().splitlines()) if FILE.exists() else set()
    dear = {name for name, seconds in taken.items() if seconds >= DEAR} | before
    FILE.write_text("".join(f"{name}\n" for name in sorted(dear)))
    left = sum(seconds for name, seconds in taken.items() if name not in dear)
    spent = f"{left:.0f} of {sum(taken.values()):.0f} s"
    print(f"\n{len(dear)} of {len(taken)} tests are dear; the others took {spent}")
