"""Part of a time limit, spent on the question that a proof can answer: who wins from here?

An evaluated search sees as far as its depth. A proof looks to the end of the game, but asks only whether a value
is reached, and has the hooks that a game offers for it (``bounds``, ``safe_actions``): in the later half of a game
it is often done in a fraction of a second, where an evaluated search would have to look twice as far. It says
which root actions keep the value. Among those the search then chooses as ever: the soonest win that it can see, or
the draw that it likes best. Of a lost position it leaves all actions, for the search to find the hardest.

A short search comes first, so that there is something to play if the proof takes the rest of the time, as it may
on a machine that is busy with other things.
"""

from __future__ import annotations

import contextlib
import dataclasses
import weakref
from collections.abc import Sequence
from typing import Any, Final

from zermelo.agents.compiled.background import in_background
from zermelo.agents.compiled.proof import Prover, can_prove, proof_kernel
from zermelo.agents.compiled.two_player import CompiledSearch
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.mate_distance import Frame, Score
from zermelo.agents.core.options import Ties
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_search import Visit
from zermelo.agents.search.iterative_deepening import Iteration, deepen
from zermelo.envs.rules.rules_game import RulesGame

__all__ = ["BriefedSearch", "brief", "can_settle", "proof_megabytes"]

_MOST_MEGABYTES: Final = 16
_REMEMBERED_NODES: Final = 2000
_FIRST_NODES: Final = 100
_MORE_NODES: Final = 16
_MOST_NODES: Final = 30_000
_NODES_AT_ONCE: Final = 1000
_GLANCE: Final = 0.25
"""How much of the time for the proof goes into a search before it, and at most into waiting for the compiler."""
_PROVERS: weakref.WeakKeyDictionary[Any, Prover] = weakref.WeakKeyDictionary()
"""Each agent's prover, whose table serves its later moves too. One that is at work is not here."""


class BriefedSearch:
    """A search that knows where to start, and perhaps whether its root is won, drawn or lost and what keeps that.

    Args:
        search: The search.
        first: The root action to try first; None if none is better than another.
        value: The root's, for its player to move; None if it is not known.
        actions: The only root actions to look at: they are known to keep the value; empty for all.
        is_complete: Whether no other action keeps the value.
    """

    def __init__(
        self,
        search: CompiledSearch,
        first: int | None,
        value: int | None = None,
        actions: Sequence[int] = (),
        *,
        is_complete: bool = True,
    ) -> None:
        self._search = search
        self._first = first
        self.value = value
        self.actions = tuple(sorted(actions))
        self.is_complete = is_complete

    def __getattr__(self, name: str) -> Any:
        return getattr(self._search, name)

    @property
    def game(self) -> RulesGame:
        """The game that is searched."""
        return self._search.game

    @property
    def budget(self) -> Budget:
        """What was spent, and the limits on it."""
        return self._search.budget

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        return self._search.frame(state)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta to start with."""
        return self._search.window(state)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """Searches a state."""
        return self._search.visit(state, depth, alpha, beta, ply)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the search still knows it."""
        return self._search.recall(state, depth, ply)

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions that keep the value, the most promising first."""
        actions = self._search.root_actions(state)
        kept = [action for action in actions if action in self.actions] if self.actions else list(actions)
        return sorted(kept, key=lambda action: action != self._first)

    def told(self, state: Any, result: SearchResult) -> SearchResult:
        """What the search found, with the value that is proven in the place of one that is evaluated."""
        if self.value is None:
            return result
        if result.proven:
            may_win_sooner = self.value > 0 and not self.is_complete  # by an action that was left out
            return dataclasses.replace(result, plies=None) if may_win_sooner else result
        value = float(self.value)
        first = value if self.game.to_move(state) == 0 else -value
        return dataclasses.replace(
            result,
            value=value,
            values_by_seat=(first, -first),
            action_values=dict.fromkeys(self.actions or self.game.legal_actions(state), value),
            proven=True,
            plies=None,
        )


def can_settle(game: Any) -> bool:
    """Whether to ask for a proof: a game of compiled rules, won, drawn or lost, with the hook ``bounds``."""
    if not can_prove(game) or not hasattr(game.rules, "bounds"):
        return False
    return bool(game.traits.utility_bounds == (-1.0, 1.0) and not game.traits.constant)


def proof_megabytes(table_mb: float) -> float:
    """How much of a search's memory the proof takes, in MiB."""
    return min(table_mb / 4, _MOST_MEGABYTES)


def brief(
    agent: Any,
    search: CompiledSearch,
    state: Any,
    *,
    started: float,
    until: float,
    table_mb: float,
    threads: int,
) -> BriefedSearch:
    """Looks a little ahead, then tries to find out who wins and by which actions, and tells the search.

    Args:
        agent: Whose search it is: what was proven is remembered for it.
        search: The search, which has a limit in seconds.
        state: Its root, not finished.
        started: The clock when the search began.
        until: The seconds from then at which to give up.
        table_mb: Memory for the proof's table, in MiB.
        threads: How many threads work together.
    """
    game = search.game
    task = in_background((type(game.rules), "proof"), lambda: proof_kernel(game.rules))
    glance = _glance(search, state, started, until * _GLANCE)
    first = None if glance is None or glance.best is None else glance.best.action
    known = BriefedSearch(search, first)
    if (glance is not None and glance.proven) or not task.ready_within(until * _GLANCE):
        return known  # the search will find the same again, from its table; or the compiler is at work
    prover = _PROVERS.pop(agent, None)
    if prover is None or prover.game != game:
        prover = Prover(game, table_mb=table_mb, threads=threads)
    before = prover.nodes
    proof = _Proof(prover, search.budget, until)
    try:
        value = proof.value(state)
        everything = known.root_actions(state)
        actions, is_complete = proof.keeping(state, value, everything) if value >= 0 else ([], True)
    except SearchStopped:
        return known  # if that was the end of all time, the search will find out itself
    finally:
        search.budget.nodes += prover.nodes - before
        _PROVERS[agent] = prover
    if not actions and value >= 0:
        return known
    return BriefedSearch(search, first, value, actions, is_complete=is_complete)


def _glance(search: CompiledSearch, state: Any, started: float, seconds: float) -> Iteration | None:
    """What is seen at once, whatever the clock says, or within so many seconds of the start if that is more."""
    seen = None
    budget = search.budget
    try:
        for limits in (Limits(nodes=_NODES_AT_ONCE), Limits(seconds=seconds)):
            search.budget = Budget(limits, started, budget.stop)
            found, _, _ = deepen(
                search, state, limits, step_by_step=True, exact=False, ties=Ties.FIRST, watch=lambda *_: True
            )
            budget.nodes += search.budget.nodes
            seen = seen if found is None or found.best is None else found
    finally:
        search.budget = budget
    return seen


class _Proof:
    """Questions to a prover, until the time is up."""

    def __init__(self, prover: Prover, budget: Budget, until: float) -> None:
        self._prover = prover
        self._game = prover.game
        self._budget = budget
        self._until = until

    def value(self, state: Any) -> int:
        """1, 0 or -1 for the player to move; raises ``SearchStopped``."""
        least, greatest = self._bounds(state, -1, 1, _REMEMBERED_NODES)
        if least != greatest:
            least, greatest = self._bounds(state, -1, 1)
        if least != greatest:
            raise SearchStopped(StoppedBy.SECONDS)
        return least

    def keeping(self, state: Any, value: int, actions: Sequence[int]) -> tuple[list[int], bool]:
        """The actions that still reach a value of 0 or 1, as far as time allows; and whether these are all.

        What proved the state has proved one of them, which the table will know. So all are asked about with few
        nodes first, and those that this did not settle with more; with many only while none is found, as they
        would push out of the table what is to prove later moves.
        """
        mover = self._game.to_move(state)
        found: list[int] = []
        waiting = list(actions)
        nodes = _FIRST_NODES
        with contextlib.suppress(SearchStopped):
            while waiting and not (found and nodes > _MOST_NODES):
                undecided = []
                for action in waiting:
                    keeps = self._keeps(self._game.result(state, action), mover, value, nodes)
                    if keeps is None:
                        undecided.append(action)
                    elif keeps:
                        found.append(action)
                waiting = undecided
                nodes *= _MORE_NODES
        return found, not waiting

    def _keeps(self, child: Any, mover: int, value: int, nodes: int) -> bool | None:
        """Whether a value is still reached; None if it takes more nodes to find out."""
        if self._game.is_terminal(child):
            return self._game.utility(child)[mover] >= value
        same = self._game.to_move(child) == mover
        least, greatest = self._bounds(child, value - 1 if same else -value, value if same else 1 - value, nodes)
        if least != greatest:
            return None
        return least >= value if same else least <= -value

    def _bounds(self, state: Any, least: int, greatest: int, nodes: int | None = None) -> tuple[int, int]:
        """Bounds on a state's score, of which nothing beyond ``least`` and ``greatest`` is asked.

        A few nodes are there whatever the clock says: what an earlier move has proven is found with them.
        """
        few = nodes is not None and nodes <= _REMEMBERED_NODES
        if not few:
            self._check()
        found = self._prover.score(
            state,
            least=least,
            greatest=greatest,
            guess=greatest,
            check=_no_check if few else self._check,
            nodes=nodes,
        )
        if found.stopped_by is StoppedBy.SECONDS:
            raise SearchStopped(StoppedBy.SECONDS)
        return min(max(found.least, least), greatest), max(min(found.greatest, greatest), least)

    def _check(self) -> None:
        self._budget.check_clock()
        if self._budget.seconds >= self._until:
            raise SearchStopped(StoppedBy.SECONDS)


def _no_check() -> None:
    """The clock is not asked."""
