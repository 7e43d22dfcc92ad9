"""The interface of a search, plain or compiled, to its root; and the records that they exchange."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import Frame, Scale, Score
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import Ties
from zermelo.agents.core.tree_config import TreeConfig
from zermelo.envs import Game

StopTest: TypeAlias = Callable[[Game[Any], Any, int], bool]


class Visit(NamedTuple):
    """Knowledge of a state after searching it.

    Attributes:
        score: For the maximizing seat, as totals; outside the window it is a bound, inside it is exact.
        proven: No evaluation, cut-off or sample entered the score.
        line: The principal variation from there.
        variance: Of the score's value, where chance was sampled.
        values: Every seat's total, where the score does not say them (more than two seats, or sums that vary).
        plies: Moves to the end of the line, for searches whose score does not say it.
    """

    score: Score
    proven: bool
    line: tuple[int, ...] = ()
    variance: float = 0.0
    values: tuple[float, ...] = ()
    plies: float = 0.0


class Root(NamedTuple):
    """The start of a search.

    Attributes:
        game: The game.
        state: A state of it, or of ``searched``, that is not finished.
        evaluator: Values states at the depth limit; None only where the search never stops early.
        stop_test: ``stop_test(game, state, ply)``: true where the search evaluates instead of going on; or None.
        width: How many draws a chance state stands for, where chance can only be simulated; else None.
        searched: The game whose states the tree is built of, if it is a view of ``game``.
        fitted: The lookup tables of a fitted evaluation, for compiled searches; or None.
    """

    game: Any
    state: Any
    evaluator: Any = None
    stop_test: StopTest | None = None
    width: int | None = None
    searched: Any = None
    fitted: Any = None

    @property
    def is_sampled(self) -> bool:
        """True if what a search finds is an estimate."""
        return self.width is not None

    def max_seat(self, config: TreeConfig) -> int:
        """The seat that maximizes."""
        view = self.game if self.searched is None else self.searched
        return int(view.to_move(self.state)) if config.depends_on_seat else 0


class TreeSearch:
    """A search as the root sees it.

    Attributes:
        scale, order: How scores read, and in which order actions are tried.
        table: The transposition table, which counts its ``hits`` and ``stores``; None if there is none.
        max_seat: The seat that maximizes; every other seat minimizes.
        transposes: Whether the table may answer with what an iteration before, less deep, has left unfinished.
        selective: Whether some moves are searched less deep than others.
        prefers: Whether it has a rule of its own for root moves of equal score, ``preferred``.
        evaluator_name: What judges states at the depth limit; empty where nothing has to.
        leaves, leaf_seconds: How many were judged in plain Python, and the time that took.
        watcher: Tells an observer of each node (``search.observer``); None where nobody watches.
        compiled: Whether a kernel visits the nodes.
        why_plain: Why none does, of rules that can be compiled.
        proof: What is proven of the root, if that was tried: an object with ``order(actions)``.
        made_for: Game, seat, evaluator, settings and limits, if another search with the same may go on with it.
    """

    game: Game[Any]
    budget: Budget
    scale: Scale
    order: MoveOrder
    table: Any = None
    max_seat: int = 0
    transposes: bool = False
    selective: bool = False
    prefers: bool = False
    compiled: bool = False
    why_plain: str = ""
    proof: Any = None
    made_for: tuple[Any, ...] = ()
    evaluator_name: str = ""
    leaves: int = 0
    leaf_seconds: float = 0.0
    watcher: Any = None

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        return self.scale.frame(state)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta to start with."""
        frame = self.scale.frame(state)
        return frame.lowest, frame.highest

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions at the root, the most promising first."""
        actions = self.order.order_moves(state, self.game.legal_actions(state), self.game.to_move(state), 0, None)
        return actions if self.proof is None else self.proof.order(actions)

    def search_moves(
        self,
        state: Any,
        iteration: Iteration,
        actions: Sequence[int],
        *,
        exact: bool,
        ties: Ties | None,
        best_lines: int,
        window: tuple[Score, Score],
    ) -> None:
        """Searches the root's actions in the given order, and writes into ``iteration`` what each one gave.

        With ``exact`` every action gets the full window. Otherwise an action gets a window that only shows whether
        it is better than the best so far (than the last of the ``best_lines`` best) or, where the rule for ties
        could prefer it, as good; None prefers nothing. Another ``window`` than the search's own may turn out too
        narrow: then the best move is not exact.
        """
        raise NotImplementedError

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state ``ply`` moves below the root, if the search still knows it.

        That is known from an exact score of a search that was just so deep, or of one that has proven it: what
        another search of the state liked best need not lead to the same value.
        """
        return None

    def preferred(self, moves: Sequence[RootMove]) -> Sequence[RootMove]:
        """Of several root moves of equal score those that it would play."""
        return moves

    def search_fully(self) -> None:
        """Searches all moves to the same depth from now on, and forgets what was found otherwise."""


class RootMove(NamedTuple):
    """A root action that was searched to the end of its iteration; the score reads as at the root.

    ``is_exact`` says that its value is, not only bounded.
    """

    action: int
    score: Score
    is_exact: bool
    proven: bool
    line: tuple[int, ...]
    variance: float
    values: tuple[float, ...] = ()
    plies: float = 0.0


@dataclass
class Iteration:
    """One search of the root to some depth, finished or not."""

    depth: float
    moves: list[RootMove] = field(default_factory=list)
    best: RootMove | None = None
    finished: bool = False
    proven: bool = False

    def tied(self) -> list[RootMove]:
        """The moves known to be as good as the best, by action number."""
        best = self.best
        assert best is not None, "asked only of an iteration that searched a move"
        equals = [m for m in self.moves if m is best or (m.is_exact and m.score == best.score)]
        return sorted(equals, key=lambda move: move.action)

    def add(self, move: RootMove, maximizing: bool) -> None:
        """Takes a move that was searched."""
        self.moves.append(move)
        best = self.best
        if best is None or (move.score > best.score if maximizing else move.score < best.score):
            self.best = move


class Bound(enum.IntEnum):
    """Relation of a stored score to the true one."""

    EXACT = 0
    LOWER = 1
    UPPER = 2


class SumNotConstantError(Exception):
    """An evaluation did not add up to the game's constant, so shallow pruning does not hold."""

    def __init__(self, values: tuple[float, ...]) -> None:
        super().__init__(values)
        self.values = values
