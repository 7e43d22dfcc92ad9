"""Time until a policy can hardly be exploited, beside OpenSpiel's solvers in Python and in C++."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyspiel
from open_spiel.python.algorithms import cfr, discounted_cfr, exploitability

from zermelo.agents.equilibrium.equilibrium import measured
from zermelo.agents.equilibrium.regrets import CFR, Variant
from zermelo.agents.equilibrium.sequence_form import sequence_form
from zermelo.envs import as_game

Solver = tuple[Callable[[], Any], Callable[[], float]]
"""A function that makes one iteration, and one that measures the exploitability."""


def ours(game: Any, variant: str, backend: str = "auto") -> Solver:
    """A solver of ours."""
    form = sequence_form(as_game(game, backend=backend))
    solver = CFR(form, Variant(variant))
    return lambda: solver.iterate(1), lambda: measured(form, solver.average()).exploitability


def theirs(game: Any, make: Callable[[Any], Any], measure: Callable[[Any, Any], float]) -> Solver:
    """One of OpenSpiel's solvers."""
    solver = make(game)
    return solver.evaluate_and_update_policy, lambda: measure(game, solver.average_policy())


SOLVERS: dict[str, Callable[[Any], Solver]] = {
    "zermelo, discounted": lambda game: ours(game, "discounted"),
    "zermelo, CFR+": lambda game: ours(game, "plus"),
    "same, by OpenSpiel's states": lambda game: ours(game, "plus", "environment"),
    "OpenSpiel C++, CFR+": lambda game: theirs(game, pyspiel.CFRPlusSolver, pyspiel.exploitability),
    "OpenSpiel Python, discounted": lambda game: theirs(
        game, discounted_cfr.DCFRSolver, exploitability.exploitability
    ),
    "OpenSpiel Python, CFR+": lambda game: theirs(game, cfr.CFRPlusSolver, exploitability.exploitability),
}


def cells_of(name: str, solver: str, gains: tuple[float, ...], most: float) -> list[str]:
    """A cell for each number: seconds and iterations."""
    game, started = pyspiel.load_game(name), time.process_time()
    step, measure = SOLVERS[solver](game)
    spent = time.process_time() - started
    cells: list[str] = []
    due = 16
    for done in itertools.count(1):
        started = time.process_time()
        step()
        spent += time.process_time() - started
        if done < due and spent < most:
            continue
        due += due // 4
        gain = measure()
        while len(cells) < len(gains) and gain <= gains[len(cells)]:
            cells.append(f"{spent:.3g} s ({done:,})")
        if len(cells) == len(gains):
            break
        if spent >= most:
            return [*cells, f"{gain:.2g} after {spent:.0f} s ({done:,})"]
    return cells


def equilibrium(
    games: tuple[str, ...] = ("kuhn_poker", "leduc_poker"),
    gains: tuple[float, ...] = (0.01, 0.001),
    most: float = 120.0,
) -> Iterator[dict[str, Any]]:
    """Processor time, and iterations, until a player could gain at most so much on average.

    The exploitability is measured after 16 iterations, 20, 25 and so on, a quarter more each time, which is not
    timed; writing the game out, which ours does first, is. OpenSpiel's own function measures all policies of
    its solvers. Our rules of Leduc do not tell the cards of one rank apart, which leaves fewer information states;
    the row by OpenSpiel's states has as many as OpenSpiel. A solver may take the most seconds.
    """
    for name in games:
        for solver in SOLVERS:
            cells = [*cells_of(name, solver, gains, most), *("" for _ in gains)]
            shown = {f"to {gain:g}": cell for gain, cell in zip(gains, cells, strict=False)}
            yield {"game": name, "solver": solver, **shown}
