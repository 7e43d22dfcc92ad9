"""Part of a time limit, spent on the question that a proof can answer: who wins from here?

An evaluated search sees as far as its depth. A proof looks to the end of the game, but asks only whether a value
is reached, and has the hooks that a game offers for it: in the later half of a game it is often done in a fraction
of a second. It says which root actions keep the value. Among those the search then chooses as ever: the soonest
win that it can see, or the draw that it likes best. Of a lost position it leaves all actions, for the search to
find the hardest. A short search comes first, so that there is something to play if the proof takes the rest of the
time.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.recursion import GameTooLongError
from zermelo.agents.tree_search.exact.prover import PROOF, Prover, can_prove
from zermelo.agents.tree_search.interface import Iteration, RootRequest, TreeSearch
from zermelo.agents.tree_search.iterative_deepening import deepen
from zermelo.envs.game import Game
from zermelo.envs.rules.rules_game import RulesGame

_MOST_MEGABYTES: Final = 16
_NODES_IN_TABLE: Final = 2000
_FIRST_NODES: Final = 100
_MORE_NODES: Final = 16
_MOST_NODES: Final = 30_000
_NODES_AT_ONCE: Final = 1000
_SHARE_BEFORE: Final = 0.25
"""Share of the proof's time for a search before it."""
_PROVERS: weakref.WeakKeyDictionary[Any, Prover] = weakref.WeakKeyDictionary()
"""Each agent's prover, whose table serves its later moves too. One that is at work is not here."""


@dataclass(frozen=True)
class ProvenRoot:
    """Knowledge of the root before a search: the action to try first, and the proven value.

    Attributes:
        first: The root action to try first; None if none is better than another.
        value: The root's, for its player to move: won, drawn or lost; None if it is not known.
        actions: The only root actions to look at, ascending: they are known to keep the value; empty for all.
        is_complete: Whether no other action keeps the value.
    """

    first: int | None
    value: int | None = None
    actions: tuple[int, ...] = ()
    is_complete: bool = True

    def order(self, actions: Sequence[int]) -> Sequence[int]:
        """The root's actions that keep the value, the one to try first in front."""
        kept = [action for action in actions if action in self.actions] if self.actions else list(actions)
        return sorted(kept, key=lambda action: action != self.first)

    def corrections(self, game: Game[Any], state: Any, found: Mapping[str, Any]) -> dict[str, Any]:
        """The proven value in place of an evaluation that a search found."""
        if self.value is None:
            return {}
        if found["proven"]:
            may_win_sooner = self.value > 0 and not self.is_complete  # by an action that was left out
            return {"plies": None} if may_win_sooner else {}
        value = float(self.value)
        first = value if game.to_move(state) == 0 else -value
        actions = self.actions or tuple(game.legal_actions(state))
        return {
            "value": value,
            "values_by_seat": (first, -first),
            "action_values": dict.fromkeys(actions, value),
            "proven_actions": actions,
            "proven": True,
            "plies": None,
        }


def can_settle(game: Any) -> bool:
    """True for games of compiled rules with the hook ``bounds`` that are won, drawn or lost."""
    if not can_prove(game) or not hasattr(game.rules, "bounds"):
        return False
    return bool(game.traits.utility_bounds == (-1.0, 1.0) and not game.traits.constant)


def load_proof(game: RulesGame, budget: Budget) -> bool:
    """Loads the compiled proof off the clock; True if it is ready."""
    return PROOF.is_ready(game.rules, budget)


def proof_megabytes(memory_mb: float) -> float:
    """The proof's part of a search's memory, in MiB."""
    return min(memory_mb / 4, _MOST_MEGABYTES)


def prove_root(
    agent: Any,
    search: TreeSearch,
    state: Any,
    *,
    until: float,
    memory_mb: float,
    threads: int,
) -> ProvenRoot:
    """Searches a little, then tries to prove who wins and by which actions; what is known then.

    The search has a limit in seconds; ``until`` are the seconds from its beginning at which to give up. Later
    moves of the same ``agent`` use the same table of proofs, of ``memory_mb`` MiB.
    """
    game = search.game
    assert isinstance(game, RulesGame), "others cannot be settled"
    seen = _short_search(search, state, until * _SHARE_BEFORE)
    first = None if seen is None or seen.best is None else seen.best.action
    known = ProvenRoot(first)
    if (seen is not None and seen.proven) or not load_proof(game, search.budget):
        return known  # the search will find the same again, from its table; or the compiler is at work
    prover = _PROVERS.pop(agent, None)
    if prover is None or prover.game != game:
        prover = Prover(game, memory_mb=memory_mb, threads=threads)
    before = prover.nodes
    proof = _Proof(prover, search.budget, until)
    try:
        value = proof.value(state)
        everything = known.order(search.root_actions(search.root_node(state)))
        actions, is_complete = proof.actions_reaching(state, value, everything) if value >= 0 else ([], True)
    except (SearchStopped, GameTooLongError):
        return known  # if that was the end of all time, the search will find out itself
    finally:
        search.budget.nodes += prover.nodes - before
        _PROVERS[agent] = prover
    if not actions and value >= 0:
        return known
    return ProvenRoot(first, value, tuple(sorted(actions)), is_complete)


def _short_search(search: TreeSearch, state: Any, seconds: float) -> Iteration | None:
    """The last iteration of a search of few nodes, whatever the clock says; or of some seconds, if more."""
    seen = None
    budget = search.budget
    try:
        for limits in (Limits(nodes=_NODES_AT_ONCE), Limits(seconds=seconds)):
            search.budget = Budget(limits, budget.started, budget.stop)
            found, _, _ = deepen(search, search.root_node(state), limits, RootRequest(), step_by_step=True)
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
        lower, upper = self._bounds(state, -1, 1, _NODES_IN_TABLE)
        if lower != upper:
            lower, upper = self._bounds(state, -1, 1)
        if lower != upper:
            raise SearchStopped(StoppedBy.SECONDS)
        return lower

    def actions_reaching(self, state: Any, value: int, actions: Sequence[int]) -> tuple[list[int], bool]:
        """The actions that still reach a value of 0 or 1, as far as time allows; and whether these are all.

        The table knows the action that proved the state. So all are searched with few nodes first, the unsettled
        ones with more; with many only while none is found, as they would push other proofs out of the table.
        """
        mover = self._game.to_move(state)
        found: list[int] = []
        waiting = list(actions)
        nodes = _FIRST_NODES
        with contextlib.suppress(SearchStopped):
            while waiting and not (found and nodes > _MOST_NODES):
                undecided = []
                for action in waiting:
                    reaches = self._reaches(self._game.result(state, action), mover, value, nodes)
                    if reaches is None:
                        undecided.append(action)
                    elif reaches:
                        found.append(action)
                waiting = undecided
                nodes *= _MORE_NODES
        return found, not waiting

    def _reaches(self, child: Any, mover: int, value: int, nodes: int) -> bool | None:
        """True if a value is still reached; None if that takes more nodes to find out."""
        if self._game.is_terminal(child):
            return self._game.utility(child)[mover] >= value
        same = self._game.to_move(child) == mover
        lower, upper = self._bounds(child, value - 1 if same else -value, value if same else 1 - value, nodes)
        if lower != upper:
            return None
        return lower >= value if same else lower <= -value

    def _bounds(self, state: Any, lower: int, upper: int, nodes: int | None = None) -> tuple[int, int]:
        """Bounds on a state's score, of which nothing beyond ``lower`` and ``upper`` is asked.

        A few nodes are there whatever the clock says: what an earlier move has proven is found with them.
        """
        few = nodes is not None and nodes <= _NODES_IN_TABLE
        if not few:
            self._check()
        found = self._prover.score(
            state,
            lower=lower,
            upper=upper,
            guess=upper,
            check=(lambda: None) if few else self._check,
            nodes=nodes,
        )
        if found.stopped_by is StoppedBy.SECONDS:
            raise SearchStopped(StoppedBy.SECONDS)
        return min(max(found.lower, lower), upper), max(min(found.upper, upper), lower)

    def _check(self) -> None:
        self._budget.check_clock()
        if self._budget.seconds >= self._until:
            raise SearchStopped(StoppedBy.SECONDS)
