"""The exact values of many positions of one game at once: for those who label positions, or train on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from zermelo.agents.compiled.proof.prover import Prover, can_prove, default_threads
from zermelo.agents.core.checks import check_number, check_whole
from zermelo.agents.core.gate import require_decision, require_facts
from zermelo.agents.solving.solve import require_solvable, solve
from zermelo.envs.position import search_game


class ExactValue(NamedTuple):
    """Each seat's value under perfect play, and the moves to the end, if known.

    It is not for draws and for games that are won by a margin.
    """

    values_by_seat: tuple[float, ...]
    plies: int | None


def exact_values(
    game: Any, states: Iterable[Any], *, threads: int | None = None, memory_mb: float = 16
) -> list[ExactValue]:
    """The exact values of many states of one game, as ``solve`` takes it, finished ones too, in their order.

    ``threads`` work, each on states of its own (None for one a processor that this process may use); they share a
    table of ``memory_mb`` MiB.

    Raises:
        UnsupportedGameError: The game cannot be solved, as ``solve`` says.
    """
    check_number("memory_mb", memory_mb, lower=0, above=True)
    threads = number_of_threads(threads)
    game = search_game(game)
    require_solvable(game.traits)
    require_facts(game.traits, "exact_values")
    everything = list(states)
    over = [game.is_terminal(state) for state in everything]
    waiting = [state for state, ended in zip(everything, over, strict=True) if not ended]
    for state in waiting:
        require_decision(game, state)
    constant = game.traits.constant
    if can_prove(game):
        prover = Prover(game, memory_mb=memory_mb, threads=threads)
        found = [prover.value(score.lower) for score in prover.scores(waiting)]
    else:
        solutions = [solve(game, state, memory_mb=memory_mb) for state in waiting]
        found = [(s.value_bounds[0], None if s.value == constant / 2 else s.plies) for s in solutions]
    solved = iter(
        ExactValue(game.traits.values_by_seat(game.to_move(state), value), plies)
        for state, (value, plies) in zip(waiting, found, strict=True)
    )
    return [
        ExactValue(tuple(game.utility(state)), 0) if ended else next(solved)
        for state, ended in zip(everything, over, strict=True)
    ]


def number_of_threads(threads: int | None) -> int:
    """The ``threads`` setting as a number: one for each processor that this process may use, if not given."""
    if threads is not None:
        check_whole("threads", threads, lower=1)
    return threads or default_threads()
