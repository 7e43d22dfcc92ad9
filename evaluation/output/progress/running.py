"""How far a run is, and who leads.

The store counts the games when the table is drawn, at most twice a second and in a fiftieth of the time at most,
so that a run of very many games is hardly held up. Ratings are not drawn: fitting them would take longer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.writing import printable
from zermelo.evaluation.output.cells import score_texts
from zermelo.evaluation.results import Results
from zermelo.evaluation.stats.ranking import Ranking

SHARE = 0.02
"""Share of the time that may go into the table."""

Watcher = Callable[[GameRecord], None]
"""Is called with each game that is stored."""


class Pace:
    """Games done and to do, and how fast."""

    def __init__(self, total: int, at_most: bool = False, before: int = 0) -> None:
        self.total, self.at_most, self.done, self._before = total, at_most, before, before
        self._started = time.monotonic()
        self._first = self._last = self._started

    def step(self) -> None:
        """One more game."""
        self.done += 1
        self._last = time.monotonic()
        if self.done == self._before + 1:
            self._first = self._last

    @property
    def rate(self) -> float:
        """Games a second since the first, before which much may be compiled; 0 if that is not known."""
        spent = self._last - self._first
        return (self.done - self._before - 1) / spent if spent > 0 else 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._started

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take if it goes on like this; None if that cannot be said."""
        rate = self.rate
        if not rate:
            return None
        # While a game goes on, what is left of it shrinks.
        return max(0.0, (self.total - self.done) / rate - min(time.monotonic() - self._last, 1 / rate))

    def __str__(self) -> str:
        share = f" ({100 * self.done // self.total} %)" if self.total else ""
        return f"{self.done:,} of {'at most ' * self.at_most}{self.total:,} games{share}, {self.speed}"

    @property
    def speed(self) -> str:
        """The rate and what is left, in words."""
        rate, left = self.rate, self.left
        if left is None:
            return f"{duration(self.elapsed)} so far"
        speed = f"{rate:,.0f} games/s" if rate >= 10 else f"{rate:.2g} games/s" if rate >= 0.5 else ""
        speed = speed or f"{duration(1 / rate)} a game"
        return f"{speed}, {'at most ' * self.at_most}{duration(left)} left"


def duration(seconds: float) -> str:
    """Seconds as people write them: 42 s, 3:07 min, 2:05 h, 3 days 4 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    hours, minutes = divmod(whole // 60, 60)
    if hours < 48:
        return f"{hours}:{minutes:02} h"
    return f"{hours // 24} days {hours % 24} h"


class RunningTable:
    """The ranking while games come in; safe to read from another thread."""

    def __init__(
        self,
        agents: Sequence[str],
        env: str,
        seat_names: Sequence[str],
        results: Callable[[], Results],
        score: Scoring = Scoring.AUTO,
    ) -> None:
        self._agents, self._env, self._seats, self._score = agents, env, seat_names, score
        self._results = results
        self._lock = threading.Lock()
        self._ranking: Ranking | None = None
        self._due = 0.0

    def ranking(self) -> Ranking:
        """The table; that of a moment ago while a new one is not due."""
        with self._lock:
            now = time.monotonic()
            if self._ranking is None or now >= self._due:
                self._ranking = Ranking(
                    env=self._env, seat_names=tuple(self._seats), results=self._results(), agents=self._agents,
                    score=self._score,
                )  # fmt: skip
                assert self._ranking.rows is not None, "counted now, and not when it is drawn"
                self._due = now + (time.monotonic() - now) / SHARE
            return self._ranking


def line(pace: Pace, standings: Ranking) -> str:
    """How far a run is, and its leaders, in one line."""
    rows = [row for row in standings.rows if row.games][:3]
    unit = " %" if standings.scoring is Scoring.WINS and len(standings.seat_names) > 1 else ""
    scores = (f"{row.agent} {score_texts(standings, row)[0]}{unit}" for row in rows)
    more = len(standings.rows) - len(rows)
    leaders = ", ".join(scores) + (f" and {more} more" if rows and more else "")
    return printable(f"zermelo: {pace}" + (f"; {leaders}" if leaders else ""))
