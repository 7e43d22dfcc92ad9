"""The root of every tree search, and iterative deepening over it.

The root differs from the nodes below: it must answer with an action, not only a value, treat ties as ties, and
leave something sensible behind when a limit stops it half way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.base.budget import SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.recursion import MAX_PLIES, GameTooLongError
from zermelo.agents.evaluators.one_ply import totals_after
from zermelo.agents.tree_search.interface import Iteration, RootMove, RootNode, RootRequest, TreeSearch
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.agents.tree_search.results import unknown_move
from zermelo.agents.tree_search.sampled_game import SampledGame

_USUAL: Final = 0.5
_CLEAR: Final = 0.2
"""Shares of the time after which no other iteration begins."""
_STEADY: Final = 4
"""After so many iterations with the same best action it is clear."""
_FALL: Final = 0.02
"""The fall of the value that counts, as a share of the span of the game's utility."""
_FOR_REWARDS: Final = 0.3
"""The share of the time that may go into what actions pay at once."""


class TimeManager:
    """Says after each iteration whether another is worth its time.

    A time limit is for the hardest decision: half of it is what a search usually takes. It takes a fifth if the
    last four iterations agree on the action; and all there is while the last iteration was worse than the one
    before it. A single legal action takes no time. ``span`` is the upper bound on utility less the lower one.
    """

    def __init__(self, seconds: float, num_actions: int, span: float) -> None:
        self._seconds, self._num_actions = seconds, num_actions
        self._margin = 0.0 if math.isinf(span) else _FALL * span
        self._value = -math.inf
        self._action: int | None = None
        self._agreed = 0

    def is_enough(self, action: int, value: float, elapsed: float) -> bool:
        """True to answer now, with this action and value (for the player to move) of the last iteration."""
        has_fallen = value < self._value - self._margin
        self._agreed = self._agreed + 1 if action == self._action else 1
        self._value, self._action = value, action
        if self._num_actions == 1 or has_fallen:
            return self._num_actions == 1
        return elapsed >= self._seconds * (_CLEAR if self._agreed >= _STEADY else _USUAL)


def _worst_value(search: TreeSearch, node: RootNode) -> float:
    """The value of a lost game: evaluations lie inside the bounds, whether or not the search uses them."""
    frame, traits = node.frame, search.game.traits
    if node.maximizing:
        return traits.utility_bounds[0] if traits.terminal_rewards_only else frame.lowest[0]
    return traits.constant - traits.utility_bounds[0] if traits.terminal_rewards_only else frame.highest[0]


def _unfinished(
    search: TreeSearch,
    node: RootNode,
    last: Iteration | None,
    partial: Iteration,
    actions: Sequence[int],
    *,
    exact: bool,
) -> Iteration | None:
    """The iteration to answer with where the last one was not finished.

    The moves that it has not looked at are known from the last finished iteration, mostly by bounds. So a move
    that is lost for certain gives way to the others, and any other only to one that was as good as the best.
    """
    best = partial.best
    if best is None or not best.is_exact:
        return last
    if last is not None and exact:
        return _with_proven_moves(node, last, partial)
    partial.proven = best.proven and best.score[0] == node.best_possible[0]
    is_worst = best.score[0] == _worst_value(search, node)
    if last is None:
        untried = [action for action in actions if all(move.action != action for move in partial.moves)]
        if not is_worst or not untried:
            return partial
        unknown = unknown_move(node, untried[0])  # whatever else there is cannot be worse
        return Iteration(partial.depth, [unknown], unknown)
    return _with_last_moves(node, last, partial, best, actions, is_worst)


def _with_proven_moves(node: RootNode, last: Iteration, partial: Iteration) -> Iteration:
    """The last iteration, unless what it would play is worse for certain: then with all values that are proven."""
    proven = {move.action: move for move in partial.moves if move.proven and move.is_exact}
    assert last.best is not None, "a finished iteration has searched its first action"
    now = proven.get(last.best.action)
    if now is None or node.signed(now.score) >= node.signed(last.best.score):
        return last
    moves = [proven.get(move.action, move) for move in last.moves]
    best = max(moves, key=lambda move: node.signed(move.score))
    found = Iteration(last.depth, moves, best)
    found.proven = best.proven and (best.score[0] == node.best_possible[0] or found.all_proven())
    return found


def _with_last_moves(
    node: RootNode, last: Iteration, partial: Iteration, best: RootMove, actions: Sequence[int], is_worst: bool
) -> Iteration:
    """The unfinished iteration, or a better move of the last one if its own is lost, or worse for certain."""
    tried = {move.action for move in partial.moves}
    waiting = [move for move in last.moves if move.action not in tried]
    better = [move for move in waiting if node.signed(move.score) > node.signed(best.score)]
    everything = [*partial.moves, *waiting]
    if not better:
        all_seen = {move.action for move in everything} >= set(actions)
        partial.proven = partial.proven or (all_seen and all(move.proven for move in everything))
        return partial
    instead = max(better, key=lambda move: (*node.signed(move.score), move.is_exact))
    is_certain = best.proven or is_worst
    is_lost = is_worst or node.signed(best.score)[0] < node.signed((node.frame.middle, 0))[0]
    if not is_certain or not (is_lost or instead.is_exact):
        return partial
    return Iteration(last.depth, everything if instead.is_exact else [instead], instead)


def _order_by_reward(search: PlainSearch, node: RootNode, actions: list[int], seed: int) -> Iteration | None:
    """Sorts actions by what they pay at once, the best first, before anything dearer is looked at.

    Returns what to answer with if the time ends before the first action is searched.
    """
    game: Any = search.game
    state, seat, worst = node.state, node.seat, -math.inf
    children: dict[int, Any] | None = search.children_of(state)
    if isinstance(game, SampledGame):  # of which one draw will do
        game, state, children = game.inside, state.state, None
    budget = search.budget
    ends = budget.now() + _FOR_REWARDS * max(budget.seconds_left, 0.0)
    totals, _ = totals_after(game, state, budget, seed=seed, ends=ends, children=children)
    search.root_tried = {*search.root_tried, *totals}
    if not totals:
        return None
    actions.sort(key=lambda action: -(totals[action][seat] if action in totals else worst))
    found = unknown_move(node, actions[0])
    return Iteration(1, [found], found)


def deepen(
    search: TreeSearch,
    node: RootNode,
    limits: Limits,
    request: RootRequest,
    *,
    step_by_step: bool,
    watch: Callable[[Iteration, int, StoppedBy], bool] | None = None,
    manager: TimeManager | None = None,
    seed: int = 0,
) -> tuple[Iteration | None, int, StoppedBy]:
    """Searches to the limits: one move deep, then two, and so on; or at once to the full depth.

    ``step_by_step`` False searches at once to ``limits.depth``, or to the end of the game. ``watch`` is called
    after each finished iteration with it, its depth and what stopped it; False ends the search. ``manager`` says
    whether another iteration is worth its time. ``seed`` orders what is looked at before the first iteration,
    where there may not be time for all; and the actions, where the request has them in a drawn order.

    Returns:
        The iteration to answer with (None if not one action could be searched), the depth of the last finished
        one, and what stopped the search. An unfinished iteration counts once its first action is done, which is
        the best of the iteration before; with ``exact``, only if none was finished. A move that it has seen lose
        is not answered with while others are better as far as is known.

    Raises:
        GameTooLongError, RecursionError: The game goes on for too long, and no iteration was finished before.
    """
    search.root_tried = frozenset()
    last: Iteration | None = None
    deepest = math.inf if limits.depth is None else limits.depth
    unordered = search.orders_root and search.proof is None and not request.draws_order
    if request.draws_order:
        actions = np.random.default_rng(seed).permutation(node.legal).tolist()
        actions = actions if search.proof is None else list(search.proof.order(actions))
    else:
        actions = list(node.legal if unordered else search.root_actions(node))
    glance = None
    if limits.seconds is not None and isinstance(search, PlainSearch):
        glance = _order_by_reward(search, node, actions, seed)
    depth: float = 1 if step_by_step else deepest
    while True:
        iteration = Iteration(depth, unordered=unordered and last is None)
        try:
            search.search_moves(node, iteration, actions, request)
        except (SearchStopped, RecursionError, GameTooLongError) as stopped:
            if last is None and not isinstance(stopped, SearchStopped):
                raise  # there is no shallower answer to fall back on
            reason = stopped.reason if isinstance(stopped, SearchStopped) else StoppedBy.DEPTH
            search.root_tried = {*search.root_tried, *(move.action for move in iteration.moves)}
            half_way = _unfinished(search, node, last, iteration, actions, exact=request.exact) or glance
            return half_way, 0 if last is None else int(last.depth), reason
        last, best = iteration, iteration.best
        search.root_tried = frozenset(node.legal)
        assert best is not None, "a root has actions"
        found = (last, search.budget.deepest if math.isinf(depth) else int(depth))
        reason = StoppedBy.DEPTH
        settled = iteration.proven and (not request.exact or iteration.all_proven())
        is_selective = search.selective and not math.isinf(depth)
        # A state that lies less deep than it did may be known from an iteration before, to which its end was too
        # far away. Then no node lies at the depth limit, and still not all has been seen: only a proof tells.
        only_proof_tells = search.transposes and not is_selective and not math.isinf(depth)
        saw_all = search.budget.deepest < depth and not only_proof_tells
        if settled or saw_all:
            # Nothing was cut off by the depth, or it does not matter: one move more would show the same.
            reason = StoppedBy.COMPLETED
            if not settled and is_selective:
                reason = StoppedBy.DEPTH
                search.disable_reductions()
        goes_on = watch is None or watch(*found, reason)
        if reason is StoppedBy.COMPLETED or depth >= min(deepest, MAX_PLIES):
            return *found, reason
        if not goes_on:
            return *found, StoppedBy.INTERRUPT
        value = best.score[0] if node.maximizing else -best.score[0]
        if manager is not None and manager.is_enough(best.action, value, search.budget.seconds):
            return *found, StoppedBy.SECONDS
        actions.remove(best.action)
        actions.insert(0, best.action)
        depth += 1
