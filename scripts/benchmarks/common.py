"""What benchmarks share: timing in turns, matches between searches, and one kind of table."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zermelo.evaluation import elo, round_robin


def taken(
    rounds: int, *calls: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> list[list[float]]:
    """Seconds of each call in each round; in a round the calls take turns."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, spent in zip(calls, seconds, strict=True):
            started = clock()
            call()
            spent.append(clock() - started)
    return seconds


def fastest(rounds: int, *calls: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> list[float]:
    """The least seconds of each call."""
    return [min(spent) for spent in taken(rounds, *calls, clock=clock)]


def installed(module: str) -> bool:
    """Whether a module can be imported; says so if not."""
    found = importlib.util.find_spec(module) is not None
    if not found:
        print(f"({module} is not installed)", file=sys.stderr)
    return found


def match(env: Any, ours: Any, theirs: Any, games: int, openings: Any = 2) -> dict[str, Any]:
    """What the first of two agents won, each opening once in each seat; games of more than 400 moves are drawn."""
    agents = {"ours": ours, "theirs": theirs}
    row = round_robin(env, agents, games=games, openings=openings, max_moves=400, workers=1).row("ours")
    return result_of(row.wins, row.draws, row.losses)


def result_of(wins: int, draws: int, losses: int) -> dict[str, Any]:
    """The cells of a match."""
    share = 100 * (wins + draws / 2) / max(wins + draws + losses, 1)
    difference = str(elo(wins, draws, losses)).removeprefix("Elo ")
    return {"won": wins, "drawn": draws, "lost": losses, "points": f"{share:.1f} %", "Elo": difference}


def cell(value: Any) -> str:
    """A value as text: three digits, or all that stand before the point."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines of a table in Markdown, numbers to the right."""
    right = [isinstance(value, int | float) for value in rows[0].values()]
    cells = [list(rows[0]), *([cell(value) for value in row.values()] for row in rows)]
    widths = [max(4, *map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        [text.rjust(width) if number else text.ljust(width) for text, width, number in zip(*line, strict=True)]
        for line in ((row, widths, right) for row in cells)
    ]
    lines.insert(1, ["-" * (width - 1) + "-:"[number] for width, number in zip(widths, right, strict=True)])
    return [f"| {' | '.join(line)} |" for line in lines]


def show(rows: Iterable[Mapping[str, Any]]) -> str:
    """Prints each row as soon as it is there, and returns the table."""
    known: list[Mapping[str, Any]] = []
    for row in rows:
        known.append(row)
        lines = table(known)
        print(*(lines if len(known) == 1 else lines[-1:]), sep="\n", flush=True)
    return "\n".join(table(known)) if known else ""
