"""A run drawn in a terminal: a bar, games a second, the time left, and below it the standings as they form."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.writing import printable
from zermelo.evaluation.output.cells import results
from zermelo.evaluation.output.progress.running import Pace, RunningTable, Watcher
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.text_table import TextTable

FRAMES: Final = 2
"""Drawings a second."""
HEADINGS: Final = 5
"""Lines of the drawing besides the agents' own: the bar, the table's head, and what is left out."""
NARROW: Final = 64
"""Characters a line below which the counts of games won, drawn and lost and the interval are left out."""
NAME: Final = 12
"""Characters of a name below which they are, too."""


class Drawing:
    """The drawing, as large as the terminal allows at that moment."""

    def __init__(self, pace: Pace, table: RunningTable) -> None:
        self._pace, self._table = pace, table

    def add(self, record: GameRecord) -> None:
        """One more game."""
        self._pace.step()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pace, ranking = self._pace, self._table.ranking()
        bar = ProgressBar(total=pace.total, completed=pace.done, width=max(10, min(40, options.max_width - 46)))
        line = Table.grid(padding=(0, 1))
        line.add_column(no_wrap=True)
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_row(bar, f"{pace.done:,}/{pace.total:,}  {pace.speed}")
        yield line
        rows = max(0, console.size.height - HEADINGS)
        if rows:
            yield Text(_table(ranking, rows, options.max_width), no_wrap=True)


def _table(ranking: Ranking, most: int, width: int) -> str:
    """The first agents, one a line; long names are cut, numbers are not."""
    wide = width >= NARROW
    headings, lines = results(ranking, counts=wide, interval=wide)
    lines = lines[:most]
    numbers = [max(len(text) for text in column) for column in zip(headings, *lines, strict=True)]
    room = width - len(str(most)) - sum(numbers) - 2 * (len(numbers) + 1)
    if wide and room < NAME:
        return _table(ranking, most, NARROW - 1)
    names = [_cut(printable(row.agent), max(6, room)) for row in ranking.rows]
    rows = [
        [str(rank), name, *cells] for rank, (name, cells) in enumerate(zip(names, lines, strict=False), start=1)
    ]
    left_out = len(ranking.rows) - most
    if left_out > 0:
        rows.append(["", f"and {left_out} more", *[""] * len(headings)])
    return TextTable(["#", "agent", *headings], rows, names=(1,)).text()


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


@contextlib.contextmanager
def drawn(pace: Pace, table: RunningTable, console: Console | None = None) -> Iterator[Watcher]:
    """Draws until the block ends, by default on standard error, then wipes the drawing away."""
    drawing = Drawing(pace, table)
    live = Live(
        drawing,
        console=console or Console(stderr=True),
        refresh_per_second=FRAMES,
        transient=True,
        vertical_overflow="crop",
        # What agents print to a terminal goes above the drawing; what they print to a file goes there.
        redirect_stdout=sys.stdout.isatty(),
    )
    with live:
        yield drawing.add
