"""The interface of a search, plain or compiled, to its root; and the records that they exchange."""

from __future__ import annotations

import abc
import enum
import operator
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.scores import INFINITE_WINDOW, Frame, Scale, Score
from zermelo.agents.base.settings import Ties
from zermelo.agents.evaluators.registry import evaluator_name
from zermelo.agents.tree_search.settings import Ordering, TreeConfig
from zermelo.envs.capabilities import SupportsOrdering, offers
from zermelo.envs.game import Game

if TYPE_CHECKING:
    from zermelo.agents.workers.news import News

HIGH_HINT: Final = 1 << 26
"""Actions with a hint of that or more are tried before killers."""
_PLIES_APART: Final = 64
"""Plies that a move order tells apart after an outcome of chance."""


class MoveOrdering:
    """Orders the actions at a node, and learns from those that cut off; ``fixed`` is ascending, always."""

    def __init__(self, game: Game[Any], ordering: Ordering = Ordering.FIXED) -> None:
        self.fixed = ordering is Ordering.FIXED
        self._hint = game.ordering_hint if offers(game, SupportsOrdering) else None
        self._killers: dict[int, tuple[int, ...]] = {}
        self._history: dict[int, dict[int, float]] = {}
        """Of each mover, the weights of the actions that have cut off."""

    def order_moves(
        self, state: Any, actions: Sequence[int], mover: int, ply: int, table_action: int | None
    ) -> Sequence[int]:
        """The actions, most promising first; ties ascending."""
        if self.fixed or len(actions) < 2:
            return actions
        killers, history, hint = self._killers.get(ply, ()), self._history.get(mover, {}), self._hint

        def move_score(action: int) -> tuple[bool, bool, bool, float, float]:
            hinted = hint(state, action) if hint is not None else 0.0
            return (
                action != table_action,
                hinted < HIGH_HINT,
                hinted < HIGH_HINT and action not in killers,
                -hinted,
                -history.get(action, 0.0),
            )

        if hint is not None:
            return sorted(actions, key=move_score)
        # Most actions have never cut off. They come last, in turn, and need not be sorted.
        front = [action for action in actions if action in history or action in killers or action == table_action]
        known = {*front}
        return [*sorted(front, key=move_score), *(action for action in actions if action not in known)]

    def update_history(self, action: int, mover: int, ply: int, depth: float) -> None:
        """Remembers an action that made its siblings needless, ``depth`` moves above the horizon."""
        if self.fixed:
            return
        killers = self._killers.get(ply, ())
        if action not in killers:
            self._killers[ply] = (action, *killers[:1])
        weight = min(depth, 16.0) ** 2
        if weight > 0:
            history = self._history.setdefault(mover, {})
            history[action] = history.get(action, 0.0) + weight


class Visit(NamedTuple):
    """Knowledge of a state after searching it.

    Attributes:
        score: For the maximizing seat, as totals; outside the window it is a bound, inside it is exact.
        proven: No evaluation, cut-off or sample entered the score.
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


class ChanceOutcome(NamedTuple):
    """An outcome of chance that led to a state; the action that was probed there, and its visit (Star2)."""

    number: int
    action: int | None = None
    visit: Visit | None = None

    def place(self, ply: int) -> int:
        """The slot of a move order's statistics at a ply; each outcome has its own."""
        return min(ply, _PLIES_APART - 1) << 32 | self.number + 1


class SearchSetup(NamedTuple):
    """The start of a search.

    Attributes:
        state: A state of the game, or of ``searched``, that is not finished.
        evaluator: Values states at the depth limit; None only where the search never stops early.
        stop_test: As agents have it.
        width: How many draws a chance state stands for, where chance can only be simulated; else None.
        legal: The state's legal actions, if they are known.
        searched: The game whose states the tree is built of, if it is a view of ``game``.
        fitted: The network of a fitted evaluation, for compiled searches; or None.
        news: The messages of other processes that search it too, if there are any; plain searches share the tree.
    """

    game: Any
    state: Any
    evaluator: Any = None
    stop_test: Callable[[Game[Any], Any, int], bool] | None = None
    width: int | None = None
    legal: Sequence[int] | None = None
    searched: Any = None
    fitted: Any = None
    news: News | None = None

    @property
    def view(self) -> Any:
        """The game whose states the tree is built of."""
        return self.game if self.searched is None else self.searched

    def max_seat(self, config: TreeConfig) -> int:
        return int(self.view.to_move(self.state)) if config.depends_on_seat else 0


class RootNode(NamedTuple):
    """The state that a search starts from, with the seat to move, how scores read there, and alpha and beta.

    ``maximizing`` says that the seat wants the greater score; the legal actions are ascending.
    """

    state: Any
    seat: int
    maximizing: bool
    frame: Frame
    window: tuple[Score, Score]
    legal: Sequence[int]

    @property
    def best_possible(self) -> Score:
        return self.frame.highest if self.maximizing else self.frame.lowest

    def signed(self, score: Score) -> Score:
        """A score of which the seat to move wants the greater."""
        return score if self.maximizing else (-score[0], -score[1])


class RootRequest(NamedTuple):
    """The values that a search of the root has to find: ``exact`` ones of all actions, or of the best.

    Those that the rule for ``ties`` may play must show as ties; None prefers nothing. With ``draws_order`` actions
    are tried in an order that is drawn, and the first of the best is played.
    """

    exact: bool = False
    ties: Ties | None = Ties.FIRST
    draws_order: bool = False


class TreeSearch(abc.ABC):
    """A search as the root sees it.

    Attributes:
        table: The transposition table, which counts its ``hits`` and ``stores``, or None.
        max_seat: The seat that maximizes; every other seat minimizes.
        prunes: Whether anything is left out; else the window is open at the root.
        orders_root: Whether it orders the root's actions by itself, for the first iteration.
        transposes: Whether the table may answer with what an iteration before, less deep, has left unfinished.
        selective: Whether some moves are searched less deep than others.
        breaks_ties: Whether it has a rule of its own for root moves of equal score, ``tie_winners``.
        leaves, leaf_seconds: How many leaves were judged in plain Python, and the time that took.
        root_tried: The root actions that were searched.
        why_plain: Why no kernel visits the nodes, of rules that can be compiled.
        proof: What is proven of the root, if that was tried: an object with ``order(actions)``.
        reuse_key: Game, version of its rules, seat, evaluator and settings, if another search with the same may
            go on with it.
    """

    game: Game[Any]
    budget: Budget
    scale: Scale
    order: MoveOrdering
    table: Any = None
    max_seat: int = 0
    prunes: bool = True
    orders_root: bool = False
    transposes: bool = False
    selective: bool = False
    breaks_ties: bool = False
    compiled: bool = False
    why_plain: str = ""
    proof: Any = None
    reuse_key: tuple[Any, ...] = ()
    leaves: int = 0
    leaf_seconds: float = 0.0
    root_tried: Set[int] = frozenset()

    def __init__(self, root: SearchSetup, budget: Budget, ordering: Ordering) -> None:
        self.game, self.budget = root.view, budget
        self.order = MoveOrdering(self.game, ordering)
        self.evaluator_name = evaluator_name(root.evaluator)

    def root_node(self, state: Any, legal: Sequence[int] | None = None) -> RootNode:
        game, frame = self.game, self.scale.frame(state)
        seat = game.to_move(state)
        window = (frame.lowest, frame.highest) if self.prunes else INFINITE_WINDOW
        legal = game.legal_actions(state) if legal is None else legal
        return RootNode(state, seat, seat == self.max_seat, frame, window, legal)

    def root_actions(self, node: RootNode) -> Sequence[int]:
        actions = self.order.order_moves(node.state, node.legal, node.seat, 0, None)
        return actions if self.proof is None else self.proof.order(actions)

    @abc.abstractmethod
    def search_moves(self, node: RootNode, iteration: Iteration, actions: list[int], request: RootRequest) -> None:
        """Searches the root's actions in the given order, and writes into ``iteration`` what each one gave.

        An action gets a window that only shows whether it is better than the best so far (or as good, where the
        rule for ties could prefer it), unless exact values are asked for.

        Raises:
            SearchStopped: A limit was reached; what was found before it is in the iteration.
            GameTooLongError: The game does not end in time.
        """

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state ``ply`` moves below the root, if the search still knows it.

        Only an exact score of a search that was just so deep, or proven, says it: other searches may like another.
        """
        return None

    def tie_winners(self, moves: Sequence[RootMove]) -> Sequence[RootMove]:
        """Of several root moves of equal score those that it would play."""
        return moves

    def set_root(self, root: SearchSetup, budget: Budget) -> None:  # noqa: B027 - only compiled searches are used again
        """Makes this the search of another root of its game; it knows what it has learned before."""

    def clear_memory(self) -> None:  # noqa: B027 - only compiled searches are used again
        """Makes it know nothing of what it has searched."""

    def disable_reductions(self) -> None:  # noqa: B027 - only selective searches have to do anything
        """Searches all moves to the same depth from now on, and forgets what was found otherwise."""


class RootMove(NamedTuple):
    """A root action that was searched; the score reads as at the root, and is a bound if it is not exact."""

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
    """One search of the root to some depth, finished or not; ``unordered`` if a kernel orders its actions."""

    depth: float
    moves: list[RootMove] = field(default_factory=list)
    best: RootMove | None = None
    finished: bool = False
    proven: bool = False
    unordered: bool = False

    def best_moves(self) -> list[RootMove]:
        """The moves known to be as good as the best, by action number."""
        best = self.best
        assert best is not None, "asked only of an iteration that searched a move"
        as_good = (move for move in self.moves if move.is_exact and move.score == best.score and move is not best)
        return sorted([best, *as_good])

    def add(self, move: RootMove, maximizing: bool) -> None:
        self.moves.append(move)
        best = self.best
        if best is None or (move.score > best.score if maximizing else move.score < best.score):
            self.best = move

    def finish(self, node: RootNode) -> None:
        assert self.best is not None, "a root has actions"
        self.finished = True
        self.proven = self.best.proven and (self.best.score[0] == node.best_possible[0] or self.all_proven())

    def all_proven(self) -> bool:
        return all(map(operator.attrgetter("proven"), self.moves))


class Bound(enum.IntEnum):
    """Relation of a stored score to the true one."""

    EXACT = 0
    LOWER = 1
    UPPER = 2


class TreeOutcome(NamedTuple):
    """A finished search: what ``Request.result`` takes of it, and of how many moves the last iteration knows."""

    found: dict[str, Any]
    num_moves: int


Vector: TypeAlias = tuple[float, ...]
"""Every seat's total, in seat order."""
