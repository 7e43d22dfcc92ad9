"""Time until a policy can hardly be exploited, beside OpenSpiel's solvers in Python and in C++."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyspiel
from open_spiel.python.algorithms import cfr, discounted_cfr, exploitability

from zermelo.agents.solving.equilibrium.equilibrium import measured
from zermelo.agents.solving.equilibrium.regrets import CFR, Variant
from zermelo.agents.solving.equilibrium.sequence_form import sequence_form
from zermelo.envs import as_game


class Solver(NamedTuple):
    """A solver to be measured.

    Attributes:
        step: Makes one iteration.
        look: The exploitability now.
        seconds: What it took to make the solver.
    """

    step: Callable[[], Any]
    look: Callable[[], float]
    seconds: float


def ours(name: str, variant: str, backend: str = "auto") -> Solver:
    """A solver of ours."""
    started = time.process_time()
    form = sequence_form(as_game(pyspiel.load_game(name), backend=backend))
    solver = CFR(form, Variant(variant))
    taken = time.process_time() - started
    return Solver(lambda: solver.iterate(1), lambda: measured(form, solver.average()).exploitability, taken)


def theirs(name: str, make: Callable[[Any], Any], measure: Callable[[Any, Any], float]) -> Solver:
    """One of OpenSpiel's solvers."""
    game = pyspiel.load_game(name)
    started = time.process_time()
    solver = make(game)
    taken = time.process_time() - started
    return Solver(solver.evaluate_and_update_policy, lambda: measure(game, solver.average_policy()), taken)


def in_python(name: str, make: Callable[[Any], Any]) -> Solver:
    """One of OpenSpiel's solvers in Python."""
    return theirs(name, make, exploitability.exploitability)


SOLVERS: dict[str, Callable[[str], Solver]] = {
    "zermelo, discounted": lambda name: ours(name, "discounted"),
    "zermelo, CFR+": lambda name: ours(name, "plus"),
    "same, by OpenSpiel's states": lambda name: ours(name, "plus", "environment"),
    "OpenSpiel C++, CFR+": lambda name: theirs(name, pyspiel.CFRPlusSolver, pyspiel.exploitability),
    "OpenSpiel Python, discounted": lambda name: in_python(name, discounted_cfr.DCFRSolver),
    "OpenSpiel Python, CFR+": lambda name: in_python(name, cfr.CFRPlusSolver),
}


def looks() -> Iterator[int]:
    """After how many iterations the exploitability is looked at."""
    count = 16
    while True:
        yield count
        count += count // 4


def cells_of(name: str, solver: str, gains: tuple[float, ...], most: float) -> list[str]:
    """A cell for each number: seconds and iterations."""
    step, look, spent = SOLVERS[solver](name)
    cells: list[str] = []
    done = 0
    for count in looks():
        started = time.process_time()
        while done < count and spent + time.process_time() - started < most:
            step()
            done += 1
        spent += time.process_time() - started
        gain = look()
        while len(cells) < len(gains) and gain <= gains[len(cells)]:
            cells.append(f"{spent:.3g} s ({done:,})")
        if len(cells) == len(gains):
            return cells
        if done < count:
            return [*cells, f"{gain:.2g} after {spent:.0f} s ({done:,})"]
    raise AssertionError("looks() goes on for ever")


def equilibrium(
    games: tuple[str, ...] = ("kuhn_poker", "leduc_poker"),
    gains: tuple[float, ...] = (0.01, 0.001),
    most: float = 120.0,
) -> Iterator[dict[str, Any]]:
    """Processor time, and iterations, until a player could gain at most so much on average.

    The exploitability is looked at after 16 iterations, 20, 25 and so on, a quarter more each time, and looking is
    not timed; writing the game out, which ours does first, is. OpenSpiel's own function measures all policies of
    its solvers. Our rules of Leduc do not tell the cards of one rank apart, which leaves fewer information states;
    the row by OpenSpiel's states has as many as OpenSpiel. A solver may take the most seconds.
    """
    for name in games:
        for solver in SOLVERS:
            cells = [*cells_of(name, solver, gains, most), *("" for _ in gains)]
            shown = {f"to {gain:g}": cell for gain, cell in zip(gains, cells, strict=False)}
            yield {"game": name, "solver": solver, **shown}
