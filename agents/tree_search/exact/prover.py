"""Exact scores of games with compiled rules, by search to the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from zermelo.agents.base.budget import SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.machine import check_memory
from zermelo.agents.base.recursion import UNSOLVED, GameTooLongError
from zermelo.agents.kernels import layout
from zermelo.agents.kernels.blocks import zeros
from zermelo.agents.kernels.layout import KernelRecord, laid_out
from zermelo.agents.kernels.program import Program, fits
from zermelo.agents.kernels.threads import pad_row, run_all, run_first_done
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Chance
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN

_MAX_PLY: Final = WIN - 48
_MOST_LEGAL: Final = (1 << 16) - 1
_GREATEST_MARGIN: Final = 1000
_MOST_HUGE: Final = 16
"""Up to so many MiB a table is kept in huge pages: a proof of Connect Four then takes a tenth less time."""


@laid_out
class ProverRecord(KernelRecord):
    """One thread's numbers in a proof."""

    __slots__ = ()

    table: int
    table_bits: int  # the logarithm of the number of its entries
    key_bits: int
    in_search: int  # the address of marks of the positions that are being searched; 0 for one thread
    symmetries: int
    distances: int  # whether scores count moves
    total: int  # what the players' utilities add up to
    root_lower: int
    root_upper: int


PROOF: Final = Program("solve", "tree_search.exact.kernel", "find_score", ProverRecord, ("int64",) * 3)


@dataclass(frozen=True)
class Score:
    """The score that a proof found, for the player to move.

    Attributes:
        lower: The score is at least this.
        upper: The score is at most this; equal to ``lower`` where it is exact.
        stopped_by: What ended the search.
    """

    lower: int
    upper: int
    stopped_by: StoppedBy = StoppedBy.COMPLETED


def can_prove(game: Any) -> bool:
    """True if a ``Prover`` can work on this game: compiled rules, two players, constant sum, no chance."""
    if not fits(game):
        return False
    traits = game.traits
    if game.max_legal_actions > _MOST_LEGAL:
        return False
    opposed = traits.is_opposed and traits.chance is Chance.NONE
    return opposed and max(map(abs, traits.utility_bounds)) <= _GREATEST_MARGIN


class Prover:
    """Proves scores of one game, and remembers positions from one question to the next.

    Args:
        game: A game that ``can_prove`` accepts; any other raises ``UnsupportedGameError``.
        memory_mb: Memory for the table, in MiB. More than the processor's cache holds makes every node slower.
        threads: How many threads work: on one position together, or each on its own of many.
        symmetric: Whether symmetric positions share their entries near the root.
        nodes: The most states to visit for one position.
    """

    def __init__(
        self,
        game: RulesGame,
        *,
        memory_mb: float = 16,
        threads: int = 1,
        symmetric: bool = True,
        nodes: int | None = None,
    ) -> None:
        if not can_prove(game):
            raise UnsupportedGameError(
                f"{game.traits.name} cannot be proven by compiled search: it takes rules for two players with a "
                "constant sum and no chance, that can be compiled here"
            )
        check_memory("memory_mb", memory_mb)
        self.game = game
        self._kernel = PROOF.load(game.rules)
        rules = game.rules
        narrow_key = hasattr(rules, "key") and hasattr(rules, "key_bits") and not has_history(rules)
        key_bits = int(rules.key_bits()) if narrow_key else 64
        bits = max(int(memory_mb * (1 << 20)) // 8, 2).bit_length() - 1
        bits = min(bits, key_bits)
        narrow = key_bits - bits <= 32
        if not narrow:
            bits -= 1
        self._table = zeros((1 if narrow else 2) << bits, huge_pages=memory_mb <= _MOST_HUGE)
        self._busy = np.zeros(1 << layout.BUSY_BITS if threads > 1 else 0, np.int64)
        self._busy_address = int(self._busy.ctypes.data) if threads > 1 else 0
        self._unclaimed = np.zeros(1, np.int64)
        self._distances: bool = game.traits.utility_bounds == (-1.0, 1.0) and not game.traits.constant
        self._no_guess = LOSS - 1 if self._distances else 0
        width = game.max_legal_actions
        self._most = np.iinfo(np.int64).max if nodes is None else nodes
        self._searches = [ProverRecord() for _ in range(max(threads, 1))]
        for search in self._searches:
            search.width = width
            search.max_ply = _MAX_PLY - 1
            search.row = pad_row(3 * width)
            search.attach("rows", np.empty((_MAX_PLY + 2) * search.row, np.int64))
            search.attach("table", self._table)
            search.table_bits = bits
            search.key_bits = key_bits
            search.distances = self._distances
            search.total = int(game.traits.constant)
            search.start = argument_maker(rules, _MAX_PLY + 2)
            search.symmetries = game.symmetries if symmetric else 1
        self.nodes = 0

    def clear_memory(self) -> None:
        """Empties the table."""
        self._table[:] = 0

    def score(
        self,
        state: Any,
        *,
        guess: int | None = None,
        lower: int = LOSS,
        upper: int = WIN,
        check: Callable[[], None] = lambda: None,
        nodes: int | None = None,
    ) -> Score:
        """The score of an unfinished position for its player to move.

        Args:
            state: The position.
            guess: What is asked first: whether the score is at least this.
            lower: Nothing below this is of interest: of a score that is less, only that is found out.
            upper: Nothing above this is of interest.
            check: Called every hundredth of a second. After ``SearchStopped`` the bounds found so far are
                returned; anything else that it raises is passed on.
            nodes: The most states that each thread may visit, instead of the prover's own limit.

        Raises:
            UnsupportedGameError: The game goes on for too long, or for ever.
        """
        kernel = self._kernel
        most = self._most if nodes is None else nodes
        first = self._no_guess if guess is None else guess
        for search in self._searches:
            self._start(search, most)
            search.in_search = self._busy_address
            if len(self._searches) > 1:
                search.node_limit = 0
                search.attach("unclaimed", self._unclaimed)
        self._unclaimed[0] = most

        def call(search: ProverRecord) -> int:
            return int(kernel(*search.start(state), lower, upper, first, search))

        try:
            reason, _ = run_first_done(call, self._searches, check)
            why = StoppedBy.NODES if reason == layout.OUT_OF_NODES else StoppedBy.COMPLETED
        except SearchStopped as stopped:
            reason, why = layout.GOING, stopped.reason
        finally:
            self.nodes = self.nodes_now
            for worker in self._searches:
                worker.nodes = worker.unclaimed = 0
        self._refuse_endless(reason)
        return Score(*self._bounds_now(), why)

    def scores(self, states: Iterable[Any], *, check: Callable[[], None] = lambda: None) -> Sequence[Score]:
        """The scores of many unfinished positions.

        Each thread works on positions of its own; when there are no more to begin, it helps with one that another
        is at.
        """
        waiting = list(states)
        found: list[Score | None] = [None] * len(waiting)
        kernel = self._kernel
        order = iter(range(len(waiting)))
        at_work: dict[int, list[ProverRecord]] = {}
        lock = threading.Lock()

        def begin(search: ProverRecord) -> int | None:
            """The number of the position to work on next."""
            with lock:
                self._start(search, self._most)
                if search.asked:
                    return None
                number = next(order, None)
                if number is None:
                    # One that few are at, of those the one begun first.
                    number = min(at_work, key=lambda number: len(at_work[number]), default=None)
                if number is None:
                    return None
                workers = at_work.setdefault(number, [])
                workers.append(search)
                for worker in workers:
                    worker.in_search = 0 if len(workers) == 1 else self._busy_address
                return number

        def end(search: ProverRecord, number: int) -> None:
            """Takes the answer to a position, and has those stop who helped."""
            with lock:
                self.nodes += search.nodes
                search.nodes = 0
                superseded = number not in at_work
                if not superseded and search.stop != layout.ASKED:
                    for worker in at_work.pop(number):
                        if worker is not search:
                            worker.stop = layout.ASKED
                    found[number] = self._read(search)

        def call(search: ProverRecord) -> int:
            while (number := begin(search)) is not None:
                kernel(*search.start(waiting[number]), LOSS, WIN, self._no_guess, search)
                end(search, number)
            return 0

        for search in self._searches:
            search.asked = False
        run_all(call, self._searches, check)
        return [score for score in found if score is not None]

    @property
    def nodes_now(self) -> int:
        """States visited so far; grows while a search is under way."""
        return self.nodes + sum(search.nodes for search in self._searches)

    def _bounds_now(self) -> tuple[int, int]:
        """The tightest bounds that any thread has found; they never cross."""
        lower = max(search.root_lower for search in self._searches)
        return lower, max(min(search.root_upper for search in self._searches), lower)

    @property
    def counts_moves(self) -> bool:
        """True if scores say how soon the game ends (``zermelo.envs.rules.scores``)."""
        return self._distances

    def value(self, score: int) -> tuple[float, int | None]:
        """A score as utility for the player to move, and the moves to the end where the score tells them."""
        if not self._distances:
            return (score + self.game.traits.constant) / 2, None
        if score == 0:
            return 0.0, None
        return (1.0, WIN - score) if score > 0 else (-1.0, WIN + score)

    def _start(self, search: ProverRecord, most_nodes: int) -> None:
        search.node_limit = most_nodes
        search.stop = layout.GOING
        search.nodes = 0
        search.deepest = -1
        search.root_lower = LOSS
        search.root_upper = WIN

    def _read(self, search: ProverRecord) -> Score:
        self._refuse_endless(search.stop)
        stopped = StoppedBy.NODES if search.stop == layout.OUT_OF_NODES else StoppedBy.COMPLETED
        return Score(search.root_lower, search.root_upper, stopped)

    def _refuse_endless(self, reason: int) -> None:
        if reason in (layout.TOO_DEEP, layout.OUT_OF_STACK):
            raise GameTooLongError(self.game, _MAX_PLY, UNSOLVED)
