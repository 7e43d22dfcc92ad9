"""Several processes that search one tree: each leaves out what another has searched, or searches now.

Every process searches the whole tree from the root, depth by depth, and tells the others of nodes that take long:
when it begins one, and what it has found there. An action that another process searches is put off until its
siblings have been searched; if the other is not done by then, the process helps, below the action in the same way.
So no process is idle, none waits for another, and one that is lost costs nothing but its work. Nodes are named by
the actions and outcomes that lead to them. This is ABDADA, with messages in place of a shared table: Weill, "The
ABDADA distributed minimax search algorithm", ICCA Journal 19 (1996).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.scores import Score
from zermelo.agents.tree_search.interface import Iteration, RootNode, RootRequest, TreeOutcome, Visit
from zermelo.agents.tree_search.plain import PlainSearch, root_move
from zermelo.agents.workers.news import News
from zermelo.agents.workers.orders import WorkerAnswer

_LONG: Final = 0.004
"""The shortest time in seconds that a node must take for other processes to be told of it."""
_RECENT: Final = 0.1
"""The share of the last node in the average time of nodes of a depth."""
_MOST: Final = 1 << 16
"""Nodes that are remembered; then it begins anew."""

_Key: TypeAlias = tuple[tuple[int, ...], float]
"""The actions and outcomes that lead to a node, and how many moves it is searched deep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeAnswer(WorkerAnswer):
    """The answer of one process.

    Attributes:
        generator: Random numbers go on as after a search in one process.
    """

    outcome: TreeOutcome
    generator: np.random.Generator

    @property
    def reach(self) -> tuple[bool, int, int]:
        """How far the process has come."""
        found = self.outcome.found
        is_whole = self.stopped_by in (StoppedBy.COMPLETED, StoppedBy.DEPTH)
        return is_whole, found["depth"], self.outcome.num_moves


class _Known(NamedTuple):
    """What another process has found with a window, and how many moves below the root it was at most by then."""

    found: Visit
    alpha: Score
    beta: Score
    deepest: int


class _Overtaken(Exception):  # noqa: N818 - not an error: how a search leaves what another has finished
    """Another process has finished a node that this one is inside of."""

    def __init__(self, key: _Key) -> None:
        super().__init__(key)
        self.key = key


class SharingSearch(PlainSearch):
    """Mixed into a plain search, it shares the tree with those of other processes."""

    news: News

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._path: tuple[int, ...] = ()
        self._inside: dict[_Key, tuple[Score, Score]] = {}
        """The nodes on the path, with their windows."""
        self._known: dict[_Key, _Known] = {}
        self._busy: set[_Key] = set()
        """Nodes that others have begun."""
        self._hints: dict[tuple[int, ...], int] = {}
        """The best action of nodes that others have searched last, less deep."""
        self._seconds: dict[float, float] = {}

    def search_root(self, node: RootNode, iteration: Iteration, actions: list[int], request: RootRequest) -> None:
        self._path = ()
        self._inside.clear()
        try:
            super().search_root(node, iteration, actions, request)
        except SearchStopped:
            self._listen()
            for action in actions:
                known = self._known.get(((action,), iteration.depth - 1))
                if known is not None and all(move.action != action for move in iteration.moves):
                    window = node.frame.to_parent(known.alpha), node.frame.to_parent(known.beta)
                    iteration.add(root_move(node, action, known.found, *window), node.maximizing)
            raise

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
        before = self._path
        path = before if taken is None else (*before, taken)
        key, level = (path, depth), depth if depth < math.inf else -ply
        self._listen()
        if (found := self._heard_of(key, alpha, beta)) is not None:
            return found
        is_long = self._is_long(level)
        if is_long:
            self.news.tell((self.prunes, key, None))
        self._path, began = path, Budget.now()
        self._inside[key] = alpha, beta
        try:
            found = super().visit(state, depth, alpha, beta, ply, taken, context)  # type: ignore[safe-super]
        except _Overtaken as overtaken:
            if overtaken.key != key:
                raise
            known = self._heard_of(key, alpha, beta)
            assert known is not None, "it was seen to answer"
            return known
        finally:
            self._path = before
            self._inside.pop(key, None)
        took = Budget.now() - began
        self._seconds[level] = took + (1 - _RECENT) * (self._seconds.get(level, took) - took)
        if is_long or took >= _LONG:
            self.news.tell((self.prunes, key, _Known(found, alpha, beta, self.budget.deepest)))
        return found

    def probe(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, taken: int, action: int
    ) -> Visit:
        before, self._path = self._path, (*self._path, taken)
        try:
            found: Visit = super().probe(state, depth, alpha, beta, ply, taken, action)  # type: ignore[misc]
        finally:
            self._path = before
        return found

    def ordered(
        self, state: Any, actions: Sequence[int], mover: int, depth: float, ply: int, place: int, first: int | None
    ) -> Sequence[int]:
        first = self._hints.get(self._path) if first is None else first
        ordered: Sequence[int] = super().ordered(  # type: ignore[misc]
            state, actions, mover, depth, ply, place, first
        )
        return ordered

    def in_turn(self, actions: Sequence[int], depth: float, *, waits_for_first: bool = True) -> Iterable[int]:
        if len(actions) < 2:
            return actions
        # Those that begin together must not go on together. The first child of a node that is too small to be
        # shared is not worth waiting for.
        is_shared = not self._path or next(reversed(self._inside)) in self._busy
        waits_for_first = waits_for_first and not (is_shared and self._path and not self._is_long(depth - 2))
        return self._apart(
            actions, self._path, depth - 1, int(waits_for_first), self.news.rank if is_shared else 0
        )

    def _apart(
        self, actions: Sequence[int], path: tuple[int, ...], depth: float, first: int, skipped: int
    ) -> Iterator[int]:
        """The actions, those last that others search; and from ``first`` on so many that they may be about to."""
        put_off = []
        for index, action in enumerate(actions):
            if index < first:
                yield action
            elif ((*path, action), depth) in self._busy:
                put_off.append(action)
            elif skipped:
                skipped -= 1
                put_off.append(action)
            else:
                yield action
        yield from put_off

    def _is_long(self, level: float) -> bool:
        """True if nodes so many moves above the limit take long; of depths not seen yet the one before says it."""
        return self._seconds.get(level, self._seconds.get(level - 1, 0.0)) >= _LONG

    def _heard_of(self, key: _Key, alpha: Score, beta: Score) -> Visit | None:
        """What another process has found, if that answers a search with this window."""
        known = self._known.get(key)
        if known is None or not self._serves(known, alpha, beta):
            return None
        if known.deepest > self.budget.deepest:
            self.budget.deepest = known.deepest
        return known.found

    def _serves(self, known: _Known, alpha: Score, beta: Score) -> bool:
        score = known.found.score
        if known.alpha <= alpha and beta <= known.beta:
            return True
        if self.breaks_ties:  # max^n, whose bounds depend on the player before
            return not any(map(math.isnan, known.found.values))
        if known.alpha < score < known.beta:
            return True
        return score >= beta if score >= known.beta else score <= alpha

    def _listen(self) -> None:
        """Takes in what others have told; leaves a node that one of them has finished, by ``_Overtaken``."""
        overtaken: list[_Key] = []
        for topic, key, known in self.news.heard():
            if topic != self.prunes:
                continue
            if known is None:
                self._busy.add(key)
                continue
            if len(self._known) >= _MOST:
                self._known.clear()
                self._busy.clear()
                self._hints.clear()
            self._known[key] = known
            self._busy.discard(key)
            if known.found.line:
                self._hints[key[0]] = known.found.line[0]
            if (window := self._inside.get(key)) is not None and self._serves(known, *window):
                overtaken.append(key)
        if overtaken:
            raise _Overtaken(min(overtaken, key=lambda key: len(key[0])))


def sharing(kind: type[PlainSearch], news: News) -> type[Any]:
    """A class of plain searches that does what ``kind`` does, and shares the tree with other processes."""
    return type(f"Sharing{kind.__name__}", (SharingSearch, kind), {"news": news})
