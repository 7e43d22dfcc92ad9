"""The progress bar of a tournament: games, games a second, time left; silent when nobody watches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

__all__ = ["progress_bar"]


@contextlib.contextmanager
def progress_bar(total: int, shown: bool | None = None) -> Iterator[Callable[[], None]]:
    """Gives a function to call after each game.

    Args:
        total: Games to play.
        shown: Whether to draw; None draws on standard error if that is a terminal.
    """
    if shown is None:
        shown = sys.stderr.isatty()
    if not shown:
        yield _nothing
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("playing"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("games", total=total)
        yield lambda: bar.advance(task)


def _nothing() -> None:
    """Where there is no bar."""
