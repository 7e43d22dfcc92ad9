"""What alpha-beta, where it is asked to, searches less deep, deeper or not at all on grounds that prove nothing.

Late-move reductions and null moves look less far where little is to be expected, futility pruning leaves out what
can hardly help one move before the depth limit, singular extensions look further where one action is much better
than all others. Nothing of this enters a proof: what rests on it is not ``proven``, and a search to the end of the
game uses none of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from zermelo.agents.core.mate_distance import Frame, Score, just_above, just_below
from zermelo.agents.core.options import MAX_STATIC_DEPTH, MIN_REDUCED_DEPTH, MIN_SINGULAR_DEPTH, reduction
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.search.transposition_table import Entry
from zermelo.agents.search.tree.plain_search import PlainSearch
from zermelo.envs.capabilities import SupportsExtension, SupportsQuiescence
from zermelo.envs.rules.protocol import EVALUATION_UNIT


class Selective:
    """Decides for one alpha-beta search; it is asked only where the depth is limited. 0 makes none of each.

    Args:
        late_moves: How many actions of a node are searched to the full depth before later ones are searched one
            move less deep first.
        null_move: How many moves less deep, beyond the skipped turn, a null move is searched.
        futility: How much more than its evaluation a state may be worth, one move before the depth limit, to its
            player to move: quiet actions that even so do not reach the window are left out. A state that is worth
            more than the window by so much, and half as much for each further move, is not searched.
        singular: By how much an action must beat all others to be searched one move deeper.
    """

    def __init__(
        self, search: PlainSearch, *, late_moves: int, null_move: int, futility: float, singular: float
    ) -> None:
        self._search = search
        self._game = search.game
        self._late_moves = late_moves
        self._null_move = null_move
        self._futility = futility
        self._singular = singular
        self._passed_ply = 0  # where a null move has just led to, so that another does not follow
        self._last_ply = 0  # extensions go no further
        self._is_urgent = self._game.is_urgent if isinstance(self._game, SupportsExtension) else None
        self._is_noisy = self._game.is_noisy if isinstance(self._game, SupportsQuiescence) else None

    def begin(self, depth: float) -> None:
        """A root action is about to be searched so deep: extensions may double that, and no more."""
        self._last_ply = 2 * int(depth + 1)

    def extension(self, state: Any, ply: int) -> int:
        """How much further to look from a state: one move from an urgent one, such as a check."""
        return int(self._is_urgent is not None and ply < self._last_ply and self._is_urgent(state))

    def static_cut(self, state: Any, depth: float, alpha: Score, beta: Score, frame: Frame) -> Visit | None:
        """The bound that an evaluation so far above the window leaves no doubt about, close to the depth limit.

        Known as static null move or reverse futility pruning (the Chess Programming Wiki).
        """
        urgent = self._is_urgent is not None and self._is_urgent(state)
        if not self._futility or depth > MAX_STATIC_DEPTH or urgent:
            return None
        maximizing = self._game.to_move(state) == self._search.max_seat
        value, distance = beta if maximizing else alpha
        if not frame.lowest[0] < value < frame.highest[0]:
            return None
        margin = math.floor(self._futility * EVALUATION_UNIT * (depth + 1) / 2) / EVALUATION_UNIT
        found = self._search.evaluated(state, frame).score[0]
        if maximizing:
            return Visit((value, math.ceil(distance)), False) if found - margin >= value else None
        return Visit((value, math.floor(distance)), False) if found + margin <= value else None

    def null_cut(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, frame: Frame
    ) -> Visit | None:
        """The bound that the mover keeps to even if it skips its turn, so that it need not search; else None.

        C. Donninger, "Null move and deep search", ICCA Journal 16 (1993). It takes for granted that having to move
        never hurts, so nothing follows from it for certain: the bound lies inside the game's limits, and is not
        proven.
        """
        if not self._null_move or not self._null_move < depth or self._passed_ply == ply:
            return None
        game: Any = self._game
        mover = game.to_move(state)
        maximizing = mover == self._search.max_seat
        value, distance = edge = beta if maximizing else alpha
        if not frame.lowest[0] < value < frame.highest[0]:
            return None
        after = game.pass_turn(state)
        if game.to_move(after) == mover:
            return None
        low, high = (just_below(edge), edge) if maximizing else (edge, just_above(edge))
        self._passed_ply = ply + 1
        self._search.taken = None
        found = self._search.visit(
            after, depth - 1 - self._null_move, frame.to_child(low), frame.to_child(high), ply + 1
        )
        self._passed_ply = 0
        score = frame.to_parent(found.score)
        if maximizing:
            return Visit((value, math.ceil(distance)), False) if score >= edge else None
        return Visit((value, math.floor(distance)), False) if score <= edge else None

    def reduction(self, state: Any, action: int, child: Any, mover: int, number: int, depth: float) -> int:
        """How much less deep an action, the ``number``-th of its node from 0, is searched first."""
        if not self._late_moves or number < self._late_moves or depth < MIN_REDUCED_DEPTH:
            return 0
        quiet = self._is_quiet(state, action, child, mover)
        return reduction(number, self._late_moves, int(depth)) if quiet else 0

    def futility_bound(
        self, state: Any, depth: float, alpha: Score, beta: Score, frame: Frame, maximizing: bool
    ) -> Score | None:
        """What quiet actions are taken to reach at best, if that is outside the window; else None.

        J. Schaeffer, "Experiments in search and knowledge" (1986); E. Heinz, "Extended futility pruning", ICCA
        Journal 21 (1998).
        """
        if not self._futility or depth != 1:
            return None
        value = self._search.evaluated(state, frame).score[0] + (self._futility if maximizing else -self._futility)
        if not frame.lowest[0] < value < frame.highest[0]:
            return None
        bound = value, 0.0
        return bound if (bound <= alpha if maximizing else bound >= beta) else None

    def is_futile(self, state: Any, action: int, child: Any, mover: int) -> bool:
        """Whether an action at a node with a futility bound may be left out."""
        return not self._game.is_terminal(child) and self._is_quiet(state, action, child, mover)

    def is_singular(
        self,
        state: Any,
        entry: Entry,
        score: Score,
        depth: float,
        ply: int,
        frame: Frame,
        actions: Sequence[int],
    ) -> bool:
        """Whether the table's action is so much better than all others that it should be searched deeper.

        T. Anantharaman, M. Campbell and F. Hsu, "Singular extensions: adding selectivity to brute-force
        searching", Artificial Intelligence 43 (1990); what is tried is the table's action, as programs do.
        """
        if not self._singular or depth < MIN_SINGULAR_DEPTH or ply >= self._last_ply or len(actions) < 2:
            return False
        maximizing = self._game.to_move(state) == self._search.max_seat
        if entry.proven or entry.depth < depth - 3 or entry.bound is (Bound.UPPER if maximizing else Bound.LOWER):
            return False
        edge = score[0] + (-self._singular if maximizing else self._singular), 0.0
        low, high = (just_below(edge), edge) if maximizing else (edge, just_above(edge))
        for action in actions:
            if action == entry.action:
                continue
            child = self._game.result(state, action)
            self._search.taken = action
            found = self._search.visit(child, depth // 2 - 1, frame.to_child(low), frame.to_child(high), ply + 1)
            other = frame.to_parent(found.score)
            if other >= edge if maximizing else other <= edge:
                return False
        return True

    def _is_quiet(self, state: Any, action: int, child: Any, mover: int) -> bool:
        """Whether an action leaves the turn to the other player and is not noisy."""
        if self._game.to_move(child) == mover:
            return False
        return self._is_noisy is None or not self._is_noisy(state, action)
