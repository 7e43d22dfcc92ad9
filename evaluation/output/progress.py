"""How far a run is and who leads (without ratings): drawn in a terminal, as a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import copy
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.text import printable
from zermelo.evaluation.output.cells import results, score_texts
from zermelo.evaluation.results import Results
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.text_table import TextTable

if TYPE_CHECKING:  # rich takes long to load
    from rich.console import Console, ConsoleOptions, RenderResult

SHARE: Final = 0.02  # share of the time that may go into the table
FIRST_LINE: Final = 10.0  # seconds until the first line, where nothing can be drawn: short runs are silent
LINES_APART: Final = 30.0  # seconds between lines
FRAMES: Final = 2  # drawings a second
HEADINGS: Final = 5  # lines of the drawing besides the agents' own
NARROW: Final = 64  # characters a line below which counts of results and the interval are left out
NAME: Final = 12  # characters of a name below which they are, too

_Item = TypeVar("_Item")
Watcher = Callable[[GameRecord], None]  # is called with each game that is stored


class Pace:
    """Games done and to do, and how fast; numbers are read from ``now``, as another thread may count meanwhile."""

    def __init__(self, total: int, at_most: bool = False, before: int = 0) -> None:
        self.total, self.at_most, self.done, self._before = total, at_most, before, before
        self._started = self._first = self._last = time.monotonic()
        self._lock = threading.Lock()
        self._moment: float | None = None

    def step(self) -> None:
        with self._lock:
            self.done += 1
            self._last = time.monotonic()
            if self.done == self._before + 1:
                self._first = self._last

    def now(self) -> Pace:
        """The pace of this moment, which changes no more."""
        with self._lock:
            still = copy.copy(self)
            still._moment = self._time()
        return still

    def _time(self) -> float:
        return time.monotonic() if self._moment is None else self._moment

    @property
    def rate(self) -> float:
        """Games a second since the first, before which much may be compiled; 0 if that is not known."""
        spent = self._last - self._first
        return (self.done - self._before - 1) / spent if spent > 0 else 0.0

    @property
    def elapsed(self) -> float:
        return self._time() - self._started

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take if it goes on like this; None if that cannot be said."""
        rate = self.rate
        if not rate:
            return None
        # While a game goes on, what is left of it shrinks.
        return max(0.0, (self.total - self.done) / rate - min(self._time() - self._last, 1 / rate))

    def __str__(self) -> str:
        share = f" ({100 * self.done // self.total} %)" if self.total else ""
        return f"{self.done:,} of {'at most ' * self.at_most}{self.total:,} games{share}, {self.speed}"

    @property
    def speed(self) -> str:
        rate, left = self.rate, self.left
        if left is None:
            return f"{duration(self.elapsed)} so far"
        speed = f"{rate:,.0f} games/s" if rate >= 10 else f"{rate:.2g} games/s" if rate >= 0.5 else ""
        return f"{speed or f'{duration(1 / rate)} a game'}, {'at most ' * self.at_most}{duration(left)} left"


def duration(seconds: float) -> str:
    """Seconds as people write them: 42 s, 3:07 min, 2:05 h, 3 days 4 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02} h" if hours < 48 else f"{hours // 24} days {hours % 24} h"


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
        self._settings: Any = {"agents": agents, "env": env, "seat_names": tuple(seat_names), "score": score}
        self._results = results
        self._lock = threading.Lock()
        self._ranking: Ranking | None = None
        self._due = 0.0

    def ranking(self) -> Ranking:
        """The table; that of a moment ago while a new one is not due."""
        with self._lock:
            now = time.monotonic()
            if self._ranking is None or now >= self._due:
                self._ranking = Ranking(results=self._results(), **self._settings)
                assert self._ranking.rows is not None, "counted now, and not when it is drawn"
                self._due = now + (time.monotonic() - now) / SHARE
            return self._ranking


def line(pace: Pace, standings: Ranking) -> str:
    """How far a run is, and its leaders, in one line; where these are of fewer games, it says of how many."""
    pace = pace.now()
    rows = [row for row in standings.rows if row.games][:3]
    unit = " %" if standings.scoring is Scoring.WINS and len(standings.seat_names) > 1 else ""
    scores = (f"{row.agent} {score_texts(standings, row)[0]}{unit}" for row in rows)
    more = len(standings.rows) - len(rows)
    leaders = ", ".join(scores) + (f" and {more} more" if rows and more else "")
    if leaders and standings.games < pace.done:
        leaders = f"after {standings.games:,} games {leaders}"
    return printable(f"zermelo: {pace}" + (f"; {leaders}" if leaders else ""))


class ProgressDisplay:
    """A bar, games a second, the time left, and the standings as they form, as large as the terminal allows."""

    def __init__(self, pace: Pace, table: RunningTable) -> None:
        self._pace, self._table = pace, table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        ranking, pace = self._table.ranking(), self._pace.now()  # to count games may take a while
        bar = ProgressBar(total=pace.total, completed=pace.done, width=max(10, min(40, options.max_width - 46)))
        line = Table.grid(padding=(0, 1))
        line.add_column(no_wrap=True)
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_row(bar, f"{pace.done:,}/{pace.total:,}  {pace.speed}")
        yield line
        if (rows := console.size.height - HEADINGS) > 0:
            yield Text(_table(ranking, rows, options.max_width), no_wrap=True)


def _table(ranking: Ranking, most: int, width: int) -> str:
    wide = width >= NARROW
    headings, lines = results(ranking, counts=wide, interval=wide)
    lines = lines[:most]
    numbers = [max(len(text) for text in column) for column in zip(headings, *lines, strict=True)]
    room = width - len(str(most)) - sum(numbers) - 2 * (len(numbers) + 1)
    if wide and room < NAME:
        return _table(ranking, most, NARROW - 1)
    rows = []
    for rank, (row, cells) in enumerate(zip(ranking.rows, lines, strict=False), start=1):
        name, longest = printable(row.agent), max(6, room)
        rows.append([str(rank), name if len(name) <= longest else f"{name[: longest - 1]}…", *cells])
    if len(ranking.rows) > most:
        rows.append(["", f"and {len(ranking.rows) - most} more", *[""] * len(headings)])
    return TextTable(["#", "agent", *headings], rows, names=(1,)).text()


@contextlib.contextmanager
def drawn(pace: Pace, table: RunningTable, console: Console | None = None) -> Iterator[Watcher]:
    """Draws until the block ends, by default on standard error, then wipes the drawing away."""
    from rich.console import Console
    from rich.live import Live

    # What agents print to a terminal goes above the drawing; what they print to a file goes there.
    with Live(
        ProgressDisplay(pace, table),
        console=console or Console(stderr=True),
        refresh_per_second=FRAMES,
        transient=True,
        vertical_overflow="crop",
        redirect_stdout=sys.stdout.isatty(),
    ):
        yield lambda record: pace.step()


@contextlib.contextmanager
def watcher(table: Callable[[], RunningTable], pace: Pace, *, shown: bool | None = None) -> Iterator[Watcher]:
    """Gives what takes each game; where ``shown`` is None, it shows something in a terminal only."""
    is_terminal = sys.stderr.isatty()
    if pace.done >= pace.total or not (is_terminal if shown is None else shown):
        yield lambda record: None
    elif is_terminal and os.environ.get("TERM") not in ("dumb", "unknown"):
        with drawn(pace, table()) as on_record:
            yield on_record
    else:
        yield _lines(pace, table())


def _lines(pace: Pace, table: RunningTable) -> Watcher:
    due, stream = FIRST_LINE, sys.stderr

    def on_record(record: GameRecord) -> None:
        nonlocal due
        pace.step()
        if pace.elapsed >= due and pace.done < pace.total:
            due = pace.elapsed + LINES_APART
            with contextlib.suppress(OSError, ValueError):  # whoever read it has gone: the games go on
                print(line(pace, table.ranking()), file=stream, flush=True)

    return on_record


def tracked(items: Iterable[_Item], total: int, what: str) -> Iterator[_Item]:
    """The items, one after another, while a bar in a terminal says what is done and how many are through."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total=total, console=Console(stderr=True), transient=True)
