"""A run drawn in a terminal: a bar, games a second, the time left, and below it the standings as they form."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.writing import printable
from zermelo.evaluation.output.progress.running import Pace, RunningTable, Watcher
from zermelo.evaluation.stats.tables import score_texts

if TYPE_CHECKING:
    from zermelo.evaluation.stats.standings import Standings
    from zermelo.evaluation.stats.tally import Row

FRAMES: Final = 2
"""Drawings a second."""
HEADINGS: Final = 5
"""Lines of the drawing besides the agents' own: the bar, the table's head, and what is left out."""
NARROW: Final = 64
"""Characters a line below which the counts of games won, drawn and lost and the interval are left out."""
NAME: Final = 12
"""Characters of a name below which they are, too."""


class Drawing:
    """What is drawn, as large as the terminal allows at that moment."""

    def __init__(self, pace: Pace, table: RunningTable) -> None:
        self._pace, self._table = pace, table

    def add(self, record: GameRecord) -> None:
        """One more game."""
        self._pace.step()
        self._table.add(record)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pace, standings = self._pace, self._table.standings()
        bar = ProgressBar(total=pace.total, completed=pace.done, width=max(10, min(40, options.max_width - 46)))
        line = Table.grid(padding=(0, 1))
        line.add_column(no_wrap=True)
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_row(bar, f"{pace.done:,}/{pace.total:,}  {pace.speed}")
        yield line
        rows = max(0, console.size.height - HEADINGS)
        if rows:
            yield _table(standings, rows, options.max_width)


def _table(standings: Standings, most: int, width: int) -> Table:
    """The first agents of the standings, one a line; long names are cut, numbers are not."""
    wide = width >= NARROW
    counts = wide and len(standings.seat_names) > 1 and standings.scoring is not Scoring.TEAM
    failed = any(row.failures for row in standings.rows)
    headings = ["games"] + ["won", "drawn", "lost"] * counts + ["failed"] * failed
    rewarded = standings.scoring is Scoring.REWARDS and len(standings.seat_names) > 1
    headings += ["reward" if rewarded else "score"] + ["95 % interval"] * wide
    lines = [_cells(standings, row, counts, wide, failed) for row in standings.rows[:most]]
    numbers = [max(len(text) for text in column) for column in zip(headings, *lines, strict=True)]
    room = width - len(str(most)) - sum(numbers) - 2 * (len(numbers) + 1)
    if wide and room < NAME:
        return _table(standings, most, NARROW - 1)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("agent", no_wrap=True, overflow="ellipsis", max_width=max(6, room))
    for name in headings:
        table.add_column(name, justify="right", no_wrap=True)
    for number, (row, cells) in enumerate(zip(standings.rows, lines, strict=False), start=1):
        table.add_row(str(number), Text(printable(row.agent)), *cells)
    left_out = len(standings.rows) - most
    if left_out > 0:
        table.add_row("", Text(f"and {left_out} more", style="dim"))
    return table


def _cells(standings: Standings, row: Row, counts: bool, wide: bool, failed: bool) -> list[str]:
    cells = [f"{row.games:,}"]
    if counts:
        cells += [f"{count:,}" for count in (row.wins, row.draws, row.losses)]
    cells += [f"{sum(row.failures.values()):,}"] * failed
    return cells + [*(score_texts(standings, row) if row.games else ("", ""))][: 1 + wide]


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
