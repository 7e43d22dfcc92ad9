"""What benchmarks share: timing in turns, matches between searches, and one kind of table."""

from __future__ import annotations

import importlib.util
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zermelo.evaluation import elo

LONGEST = 400
"""Games of more moves are drawn."""
Player = Callable[[Any, Any], int]
"""Chooses an action for a state of a game."""


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


def openings(game: Any, count: int, moves: int, initial: Any = None, seed: int = 1) -> list[Any]:
    """Unfinished states after some random moves."""
    generator, found = random.Random(seed), []
    while len(found) < count:
        state = game.initial_state() if initial is None else initial
        for _ in range(moves):
            if not game.is_terminal(state):
                state = game.result(state, generator.choice(game.legal_actions(state)))
        if not game.is_terminal(state):
            found.append(state)
    return found


def searching(kind: Any, **settings: Any) -> Callable[[int], Player]:
    """Makes players of an agent, one for each seed."""

    def make(seed: int) -> Player:
        agent = kind(seed=seed, **settings)
        return lambda game, state: int(agent.search_state(game, state).action)

    return make


def match(
    game: Any, starts: Sequence[Any], first: Callable[[int], Player], second: Callable[[int], Player]
) -> dict[str, Any]:
    """What the first player won from each start, once in each seat."""
    counts = {1: 0, 0: 0, -1: 0}
    for number, start in enumerate(starts):
        for seat in (0, 1):
            players, state, moves = [first(number), second(number)], start, 0
            while not game.is_terminal(state) and (moves := moves + 1) <= LONGEST:
                player = players[game.to_move(state) != seat]
                state = game.result(state, player(game, state))
            values = game.utility(state)
            counts[(values[seat] > values[1 - seat]) - (values[seat] < values[1 - seat])] += 1
            if sys.stderr.isatty():
                print(f"    {2 * number + seat + 1} of {2 * len(starts)}: {counts}", end="\r", file=sys.stderr)
    return result_of(counts[1], counts[0], counts[-1])


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
