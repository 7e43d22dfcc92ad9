"""Many positions of one game at once: for those who label, train, or judge.

Compiled searches hold no interpreter lock, so threads make them quicker; plain Python is no quicker for threads,
and gets just one.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zermelo.agents.compiled.proof import Prover, can_prove, default_threads
from zermelo.agents.compiled.two_player import can_search
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.checks import check_number, check_whole
from zermelo.agents.core.gate import require_decision
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.result import SearchResult
from zermelo.agents.players.alpha_beta import AlphaBetaAgent
from zermelo.agents.solving.progress import values_by_seat
from zermelo.agents.solving.solve import require_solvable, solve
from zermelo.envs import GameOverError, InvalidSettingError, as_game

__all__ = ["ExactValue", "exact_values", "search_many"]

_POLL: Final = 0.02


def search_many(
    game: Any,
    states: Iterable[Any],
    *,
    agent: AlphaBetaAgent | None = None,
    threads: int | None = None,
    **settings: Any,
) -> list[SearchResult]:
    """Searches many states of one game by alpha-beta, each on its own, in as many threads as there are processors.

    The results do not depend on the number of threads (unless there is a limit in seconds): each state is searched
    by one thread, with an empty table. Ties are drawn for state number ``i`` from the agent's seed and ``i``.

    Args:
        game: A ``Game``, rules, or a live environment.
        states: Its states, none of them finished.
        agent: Whose settings to search with; instead of ``settings``.
        threads: How many; None for one a processor that this process may use.
        **settings: As ``AlphaBetaAgent`` takes them: ``depth``, ``nodes``, ``exact``, and so on. ``table_mb`` is 1
            if not given, for each thread.

    Returns:
        A result for each state, in the order of the states.

    Raises:
        UnsupportedGameError: Alpha-beta cannot search the game.
        GameOverError: There is nothing to decide in one of the states; the message says in which.
        InvalidSettingError: A setting has a value it cannot have.
    """
    known = [field.name for field in dataclasses.fields(AlphaBetaAgent)]
    for name in settings:
        if name not in known:
            raise InvalidSettingError(f"search_many has no setting {name!r}: it has {', '.join(known)}")
    if agent is not None and (settings or not isinstance(agent, AlphaBetaAgent)):
        raise InvalidSettingError(
            f"search_many takes an AlphaBetaAgent, or settings of one: not both, and not agent={agent!r}"
        )
    if agent is None:
        agent = AlphaBetaAgent(**{"table_mb": 1, **settings})
    threads = _number_of_threads(threads)
    stop = threading.Event()
    searcher = _Stoppable(**{name: getattr(agent, name) for name in known})
    searcher.stop_with(stop)
    game = as_game(game)
    searcher.check_game(game.traits)
    waiting = list(states)
    _require_decisions(game, waiting)
    found: list[SearchResult | None] = [None] * len(waiting)
    order = iter(range(len(waiting)))

    def work() -> None:
        for number in order:  # each thread takes the next one
            mine = dataclasses.replace(searcher, seed=searcher.seed + number)
            mine.stop_with(stop)
            found[number] = mine.search_state(game, waiting[number])
            if stop.is_set():
                return

    compiled = can_search(game) and searcher.cutoff is None and _can_be_compiled(searcher.evaluator)
    _in_threads(work, min(threads, max(len(waiting), 1)) if compiled else 1, stop)
    return [result for result in found if result is not None]


class ExactValue(NamedTuple):
    """What perfect play gives.

    Attributes:
        values_by_seat: Each seat's, in seat order.
        plies: Moves to the end of the game under best play, where that is known: not for draws and for games that
            are won by a margin.
    """

    values_by_seat: tuple[float, ...]
    plies: int | None


def exact_values(
    game: Any, states: Iterable[Any], *, threads: int | None = None, table_mb: float = 16
) -> list[ExactValue]:
    """The exact values of many states of one game, finished ones too.

    Args:
        game: As ``solve`` takes it.
        states: Its states.
        threads: How many work, each on states of its own; None for one a processor that this process may use.
        table_mb: Memory for the table, which they share, in MiB.

    Returns:
        A value for each state, in the order of the states.

    Raises:
        UnsupportedGameError: The game cannot be solved, as ``solve`` says.
    """
    check_number("table_mb", table_mb, least=0, above=True)
    threads = _number_of_threads(threads)
    game = as_game(game)
    require_solvable(game.traits)
    everything = list(states)
    over = [game.is_terminal(state) for state in everything]
    waiting = [state for state, ended in zip(everything, over, strict=True) if not ended]
    for state in waiting:
        require_decision(game, state)
    constant = game.traits.constant
    if can_prove(game):
        prover = Prover(game, table_mb=table_mb, threads=threads)
        told = [prover.value(score.least) for score in prover.scores(waiting)]
    else:
        solutions = [solve(game, state, table_mb=table_mb) for state in waiting]
        told = [(s.value_bounds[0], None if s.value == constant / 2 else s.plies) for s in solutions]
    solved = iter(
        ExactValue(values_by_seat(value, constant, game.to_move(state)), plies)
        for state, (value, plies) in zip(waiting, told, strict=True)
    )
    return [
        ExactValue(tuple(game.utility(state)), 0) if ended else next(solved)
        for state, ended in zip(everything, over, strict=True)
    ]


# -- how -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class _Stoppable(AlphaBetaAgent):
    """Stops in the middle of a search when told to."""

    def stop_with(self, stop: threading.Event) -> None:
        """Sets what tells it."""
        self._set("_stop", stop)

    def new_budget(self, started: float) -> Budget:
        """Counts what is spent, and looks whether to stop."""
        return _StoppableEffort(self.limits, started, self.__dict__["_stop"])


class _StoppableEffort(Budget):
    def __init__(self, limits: Any, started: float, stop: threading.Event) -> None:
        super().__init__(limits, started)
        self._stop = stop

    def check_clock(self) -> None:
        super().check_clock()
        if self._stop.is_set():
            raise SearchStopped(StoppedBy.INTERRUPT)


def _require_decisions(game: Any, states: Sequence[Any]) -> None:
    for number, state in enumerate(states):
        try:
            require_decision(game, state)
        except GameOverError as error:
            raise GameOverError(f"state number {number} of {len(states)} (from 0): {error}") from None


def _can_be_compiled(evaluator: Any) -> bool:
    return evaluator is None or getattr(evaluator, "spec", str)() in ("game", "rewards")


def _number_of_threads(threads: int | None) -> int:
    if threads is not None:
        check_whole("threads", threads, least=1)
    return threads or default_threads()


def _in_threads(work: Callable[[], None], threads: int, stop: threading.Event) -> None:
    """Has the work done by so many threads; whatever goes wrong, or Ctrl-C, stops them all."""
    if threads == 1:
        work()
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="zermelo-batch") as pool:
        running: set[Future[None]] = {pool.submit(work) for _ in range(threads)}
        try:
            while running:
                done, running = wait(running, timeout=_POLL, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        finally:
            stop.set()
