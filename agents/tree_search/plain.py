"""Shared by all searches in plain Python: the root, leaves and the table."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from zermelo.agents.base.branches import can_skip_branch, child_of, no_action_works
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.requirements import no_legal_action
from zermelo.agents.base.scores import Frame, Scale, Score, count_values
from zermelo.agents.base.settings import Ties
from zermelo.agents.evaluators.protocol import Evaluator, seat_values
from zermelo.agents.tree_search.interface import (
    Bound,
    Iteration,
    RootMove,
    RootNode,
    RootRequest,
    SearchSetup,
    TreeSearch,
    Visit,
)
from zermelo.agents.tree_search.observer import NodeRole
from zermelo.agents.tree_search.settings import TreeConfig
from zermelo.agents.tree_search.transposition_table import Entry, TranspositionTable
from zermelo.envs.capabilities import copy_facts
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.source import described


class PlainSearch(TreeSearch):
    """A search over any game; it may go on with the table that an earlier one with its settings has left."""

    table: TranspositionTable | None
    roles = NodeRole.MAX, NodeRole.MIN
    """Who decides at the nodes of the seat that maximizes, and of the others."""

    def __init__(
        self,
        root: SearchSetup,
        budget: Budget,
        config: TreeConfig,
        *,
        scale: Scale,
        table: TranspositionTable | None = None,
    ) -> None:
        super().__init__(root, budget, config.move_ordering)
        self.scale = scale
        self._children: tuple[Any, dict[int, Any]] = None, {}
        self.max_seat = root.max_seat(config)
        self.table = None
        if config.memory_mb and not copy_facts(root.game).keys_are_slow:
            self.table = TranspositionTable(config.memory_mb) if table is None else table
            self.table.hits = self.table.stores = 0
        self.stop_test, self.width = root.stop_test, root.width
        self.transposes = self.table is not None and self.stop_test is None and self.width is None
        traits = self.game.traits
        self.seats = 0 if count_values(traits) == 1 else traits.seats  # whose values a visit has besides its score
        watched = getattr(root.evaluator, "watched", None)
        self._evaluate: Evaluator | None = root.evaluator if watched is None else watched(budget.check_clock)

    def children_of(self, root: Any) -> dict[int, Any]:
        """The states after actions of a root, made once for all iterations."""
        if self._children[0] is not root:
            self._children = root, {}
        return self._children[1]

    def search_moves(self, node: RootNode, iteration: Iteration, actions: list[int], request: RootRequest) -> None:
        self.budget.visit(0)
        self.search_root(node, iteration, actions, request)
        iteration.finish(node)

    def search_root(self, node: RootNode, iteration: Iteration, actions: list[int], request: RootRequest) -> None:
        """Searches the root's actions, each with the window that the request allows."""
        game, depth, frame = self.game, iteration.depth, node.frame
        children = self.children_of(node.state)
        rank = actions.index if request.draws_order else None
        for action in self.in_turn(actions, depth, waits_for_first=not request.exact):
            low, high = _root_window(node, iteration, action, request, rank)
            if low >= high:
                continue
            child = children.get(action)
            if child is None:
                child = child_of(game, node.state, action)
                if child is None:
                    continue
                children[action] = child
            self.narrowed(low, high)
            found = self.visit(child, depth - 1, frame.to_child(low), frame.to_child(high), 1, action)
            iteration.add(root_move(node, action, found, low, high), node.maximizing)
        if iteration.best is None:
            raise no_action_works(game)
        if rank is not None:  # in turn, the first of the best would have left no other
            iteration.best = min(iteration.best_moves(), key=lambda move: rank(move.action))

    def in_turn(self, actions: Sequence[int], depth: float, *, waits_for_first: bool = True) -> Iterable[int]:
        """The actions of the node that is searched, ``depth`` moves deep, in the order of their searches.

        ``waits_for_first`` says that the first should be searched before the others, for the sake of its value.
        """
        return actions

    @abc.abstractmethod
    def visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        taken: int | None = None,
        context: Any = None,
    ) -> Visit:
        """Searches a state ``depth`` moves deep.

        ``taken`` is the action or outcome that led to it, ``context`` what else a search says of that.
        """

    def narrowed(self, alpha: Score, beta: Score) -> None:
        """Called when a node's window has become narrower; does nothing unless somebody watches (``watched``)."""

    def cut(self, action: int | None, choices: Sequence[int]) -> None:
        """Called when a node's ``choices`` after ``action`` are left out, all of them if that is None."""

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        entry = self.entry(state, depth, ply)
        if entry is None or entry.bound is not Bound.EXACT or not (entry.proven or entry.depth == depth):
            return None
        return entry.action

    def evaluated(self, state: Any, frame: Frame) -> Visit:
        assert self._evaluate is not None, "a search that stops early is given an evaluator"
        began = self.budget.now()
        self.leaves += 1
        try:
            expected = seat_values(self._evaluate, self.game, state)
        finally:  # an evaluator may be stopped
            self.leaf_seconds += self.budget.now() - began
        if self.seats:
            values = self._totals(state, expected)
            return Visit((values[self.max_seat], 0), False, values=values)
        return Visit((frame.so_far + expected[self.max_seat], 0), False)

    def following(self, state: Any, ways: Iterable[tuple[int, float]]) -> list[tuple[int, float, Any]]:
        """The states that follow, each with its probability; those in which the environment fails are left out."""
        found = [(way, p, child_of(self.game, state, way)) for way, p in ways]
        works = [(way, p, child) for way, p, child in found if child is not None]
        if len(works) == len(found):
            return works
        whole = math.fsum(p for _, p, _ in works)
        return [(way, p / whole, child) for way, p, child in works]

    def value_without_moves(self, state: Any) -> Visit:
        """The value of a state in which no action works: as if the search went no further."""
        if not can_skip_branch(self.game):
            raise no_legal_action(self.game)
        frame = self.scale.frame(state)
        if self._evaluate is not None:
            return self.evaluated(state, frame)
        return Visit((frame.middle, 0), False, values=self.game.utility(state) if self.seats else ())

    def ended(self, state: Any) -> Visit:
        values = self.game.utility(state) if self.seats else ()
        return Visit(self.scale.terminal(state), self.width is None, values=values)

    def stops_at(self, state: Any, depth: float, ply: int) -> bool:
        if depth <= 0 or self.stop_test is None:
            return depth <= 0
        stops = self.stop_test(self.game, state, ply)
        if not isinstance(stops, bool | np.bool_):
            raise InvalidSettingError(
                f"a stop test returns True or False, but {described(self.stop_test)} gave {stops!r}"
            )
        return bool(stops)

    def from_table(self, found: Visit) -> Visit:
        """A visit that the table stands for."""
        return found

    def _totals(self, state: Any, values: Sequence[float], sign: int = 1) -> tuple[float, ...]:
        """Values to come as totals, or, with the other sign, totals as values to come."""
        if not values:
            return ()
        return tuple(value + sign * paid for paid, value in zip(self.game.utility(state), values, strict=True))

    def entry(self, state: Any, depth: float, ply: int) -> Entry | None:
        return self.table.probe(self.key(state, depth, ply)) if self.table is not None else None

    def key(self, state: Any, depth: float, ply: int) -> Hashable:
        """The table's key of a state; with a stop test of the user's, how deep it lies may matter."""
        return self.game.key(state) if self.stop_test is None else (self.game.key(state), ply)


def _root_window(
    node: RootNode, iteration: Iteration, action: int, request: RootRequest, rank: Callable[[int], int] | None
) -> tuple[Score, Score]:
    """The window of a root action, after those of the iteration; empty where it need not be searched.

    ``rank`` is an action's place in the order, where the first of the best is played.
    """
    low, high = node.window
    best = iteration.best
    if best is None or request.exact:
        return low, high
    may_tie = request.ties is Ties.RANDOM
    if request.ties is Ties.FIRST:
        may_tie = action < min(move.action for move in iteration.best_moves())
    elif rank is not None:
        may_tie = rank(action) < rank(best.action)
    value, distance = best.score  # distances move in whole steps
    if node.maximizing:
        return max(low, (value, distance - 0.5 * may_tie)), high
    return low, min(high, (value, distance + 0.5 * may_tie))


def root_move(node: RootNode, action: int, found: Visit, low: Score, high: Score) -> RootMove:
    """A root action that was searched with a window."""
    frame = node.frame
    score = frame.to_parent(found.score)
    # Outside the window a score is a bound; it is the value all the same if nothing lies beyond it.
    is_exact = low < score < high
    is_exact = is_exact or (score <= low and score[0] <= frame.lowest[0])
    is_exact = is_exact or (score >= high and score[0] >= frame.highest[0])
    rest = found.proven, (action, *found.line), found.variance, found.values, found.plies
    return RootMove(action, score, is_exact, *rest)
