"""Shows how far a run is: drawn in a terminal, as a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.output.progress.running import Pace, RunningTable, Watcher, line

FIRST_LINE = 10.0
"""Seconds until the first line, where nothing can be drawn: short runs are silent."""
LINES_APART = 30.0
"""Seconds between lines."""


@contextlib.contextmanager
def watcher(table: Callable[[], RunningTable], pace: Pace, *, shown: bool | None = None) -> Iterator[Watcher]:
    """Gives what takes each game; where ``shown`` is None, it shows something in a terminal only."""
    stream = sys.stderr
    is_terminal = stream.isatty()
    if pace.done >= pace.total or not (is_terminal if shown is None else shown):
        yield _ignore
    elif is_terminal and os.environ.get("TERM") not in ("dumb", "unknown"):
        from zermelo.evaluation.output.progress.live import drawn  # rich's live display takes long to load

        with drawn(pace, table()) as on_record:
            yield on_record
    else:
        yield _lines(pace, table(), stream)


def _ignore(record: GameRecord) -> None:
    """Ignores progress."""


def _lines(pace: Pace, table: RunningTable, stream: TextIO) -> Watcher:
    due = FIRST_LINE

    def on_record(record: GameRecord) -> None:
        nonlocal due
        pace.step()
        if pace.elapsed >= due and pace.done < pace.total:
            due = pace.elapsed + LINES_APART
            with contextlib.suppress(OSError, ValueError):  # whoever read it has gone: the games go on
                print(line(pace, table.ranking()), file=stream, flush=True)

    return on_record


def tracked(games: Iterable[GameRecord], total: int, what: str) -> Iterator[GameRecord]:
    """The games, one after another, while a bar in a terminal says what is done and how many are through."""
    if not sys.stderr.isatty():
        yield from games
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(games, what, total=total, console=Console(stderr=True), transient=True)
