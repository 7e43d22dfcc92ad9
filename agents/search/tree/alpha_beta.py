"""Alpha-beta below the root: the textbook's recursion with a table, move ordering, quiescence and chance nodes.

Alpha-beta of two players, Star1 and Star2 through chance, paranoid and best-reply search are this one search with
other settings.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Final

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.mate_distance import Frame, Scale, Score
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.transposition_table import Entry, bound_of
from zermelo.agents.search.tree.chance_nodes import ChanceNodes, Searched, place_of
from zermelo.agents.search.tree.plain_search import PlainSearch
from zermelo.agents.search.tree.selective import Selective
from zermelo.envs import CHANCE, Chance, Game
from zermelo.envs.capabilities import SupportsQuiescence
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.rules_game import RulesGame

_NO_ACTION: Final = -1


class AlphaBetaSearch(PlainSearch):
    """Fail-soft alpha-beta below the root.

    Cuts at chance nodes need finite ``utility_bounds``; where the game pays before its end they are not used
    together with evaluations, which may go beyond them. An entry of the table is used if it was searched to the
    same depth, or if it is proven and was not searched deeper: then it says what searching again would say.

    Args:
        game: Of one player, of two with a constant sum, or of one against all; turns in any order, also chance's.
        sooner: Whether wins should come sooner and losses later.
        use_bounds: Whether to use that no utility lies outside the game's bounds; None does where evaluations
            cannot either.
        quiescence: How many moves beyond the depth to follow noisy actions, if the game has ``is_noisy``.
        credits_best: Whether the order learns from every action that was better than what was known before, where
            the seat had chosen it; without, only from those that cut off. Searches through chance and of one
            against all do.
        late_move_reductions, null_move, futility, singular: As ``Selective`` takes them.
        share_positions: Whether positions share their table entries whatever was before them, in rules in which
            that matters.
        probing: Whether to probe chance nodes first (Star2).
        others: As ``PlainSearch`` takes them.
    """

    def __init__(
        self,
        game: Game[Any],
        budget: Budget,
        evaluator: Evaluator | None,
        *,
        sooner: bool,
        seat: int = 0,
        use_bounds: bool | None = None,
        quiescence: int = 0,
        credits_best: bool = False,
        late_move_reductions: int = 0,
        null_move: int = 0,
        futility: float = 0.0,
        singular: float = 0.0,
        share_positions: bool = False,
        probing: bool = False,
        **others: Any,
    ) -> None:
        if use_bounds is None:
            use_bounds = evaluator is None or game.traits.terminal_rewards_only
        scale = Scale(game, sooner=sooner, use_bounds=use_bounds, seat=seat)
        super().__init__(game, budget, evaluator, scale=scale, seat=seat, **others)
        self._is_noisy = game.is_noisy if quiescence and isinstance(game, SupportsQuiescence) else None
        self._quiescence = quiescence
        self._credits_best = credits_best
        self._shares: RulesGame | None = None
        if share_positions and isinstance(game, RulesGame) and has_history(game.rules):
            self._shares = game
        self._met = math.inf  # as ``met`` in compiled searches (``layout.Search``)
        self._selective: Selective | None = None
        if late_move_reductions or null_move or futility or singular:
            how = {"late_moves": late_move_reductions, "null_move": null_move}
            self._selective = Selective(self, **how, futility=futility, singular=singular)
            self.selective = True
        self._chance_nodes: ChanceNodes | None = None
        if game.traits.chance is not Chance.NONE:
            self._chance_nodes = ChanceNodes(self, self.visit, probing=probing)

    def search_fully(self) -> None:
        """Searches all moves to the same depth from now on, and forgets what was found otherwise."""
        self._selective, self.selective = None, False
        if self.table is not None:
            self.table.clear()

    def visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        outcome: int = -1,
        probed: Searched | None = None,
    ) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, chance not counted.

        Between alpha and beta it is exact; at or below alpha an upper bound, at or above beta a lower bound. The
        state may be given with the ``outcome`` that led to it (-1 for an action), and with one of its actions that
        has been searched, and what was found (``probed``).
        """
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            if self._shares is not None:
                self._meet(state, ply)
            return self._ended(state)
        if self._chance_nodes is not None and game.to_move(state) == CHANCE:
            return self._visit_chance(state, depth, alpha, beta, ply)
        frame = self.scale.frame(state)
        if self._selective is not None and depth < math.inf:
            if ply == 1:
                self._selective.begin(depth)
            depth += self._selective.extension(state, ply)
        if depth <= 0 or (self.cutoff is not None and self.cutoff(game, state, ply)):
            if self._is_noisy is not None:
                return self._quiet(state, self._quiescence, alpha, beta, ply)
            return self.evaluated(state, frame)
        # Nobody gets more than the greatest utility, one ply from here; if that is no use, nothing is.
        if alpha >= frame.highest:
            return Visit(frame.highest, True)
        if beta <= frame.lowest:
            return Visit(frame.lowest, True)

        key: Hashable = None
        first: int | None = None
        entry: Entry | None = None
        if self.table is not None:
            key = self._key(state, depth, ply)
            entry = self.table.probe(key)
            if entry is not None:
                first = entry.action
                if entry.serves(depth):
                    value, distance = entry.score
                    score = (value + frame.so_far, distance)
                    if entry.settles(score, alpha, beta):
                        return self._from_table(state, entry, score)

        met, self._met = self._met, ply
        selective = self._selective if depth < math.inf else None
        extended: int | None = None
        if selective is not None:
            cut = selective.static_cut(state, depth, alpha, beta, frame)
            cut = selective.null_cut(state, depth, alpha, beta, ply, frame) if cut is None else cut
            if cut is not None:
                self._met = min(self._met, met)
                return cut  # not for the table: it is no proof, and has no action to try first
            if entry is not None:
                known = entry.score[0] + frame.so_far, entry.score[1]
                if selective.is_singular(state, entry, known, depth, ply, frame, game.legal_actions(state)):
                    extended = entry.action
        if probed is not None:
            first = probed.action
        if self._shares is not None:
            self._meet(state, ply)
        best = self._best(state, depth, alpha, beta, ply, frame, first, outcome, probed, extended)
        if self.table is not None:
            bound = bound_of(best.score, alpha, beta, frame)
            entry = self._to_table(state, depth, bound, best, best.line[0], frame)
            if self._shares is not None:  # a score that depends on the path is none; its action may be good
                entry = entry._replace(depth=depth if self._met >= ply else -1, proven=False)
            self.table.store(key, entry)
        self._met = min(self._met, met)
        return best

    def _meet(self, state: Any, ply: int) -> None:
        """Takes note of the earliest position whose repetition counts at a state."""
        assert self._shares is not None, "only where positions share entries"
        self._met = min(self._met, ply - self._shares.reach(state))

    def _key(self, state: Any, depth: float, ply: int) -> Hashable:
        """What the table calls a state."""
        if self._shares is None or self.cutoff is not None:
            return super()._key(state, depth, ply)
        return self._shares.position_key(state)

    def _visit_chance(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a chance state, which has been counted."""
        game = self.game
        assert self._chance_nodes is not None, "only for games with chance"
        frame = self.scale.frame(state)
        if self._at_chance and (depth <= 0 or (self.cutoff is not None and self.cutoff(game, state, ply))):
            return self.evaluated(state, frame)
        # Draws belong to their path, and are not met again.
        table = self.table if self.width is None else None
        key: Hashable = None
        if table is not None:
            key = (self._key(state, depth, ply), CHANCE)
            entry = table.probe(key)
            if entry is not None and entry.serves(depth):
                value, distance = entry.score
                score = (value + frame.so_far, distance)
                if entry.settles(score, alpha, beta):
                    return self._from_table(state, entry, score)._replace(line=())
        found = self._chance_nodes.visit(state, depth, alpha, beta, ply)
        if math.isinf(found.score[1]):
            self._on_cutoff(None, *self._chance_nodes.cut)
        if table is not None:
            bound = Bound.EXACT
            if math.isinf(found.score[1]):  # as cuts at chance nodes leave it
                bound = Bound.UPPER if found.score[1] > 0 else Bound.LOWER
            table.store(key, self._to_table(state, depth, bound, found, _NO_ACTION, frame))
        return found

    def _best(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        frame: Frame,
        first: int | None,
        outcome: int,
        probed: Searched | None,
        extended: int | None,
    ) -> Visit:
        """The textbook's loop over the actions; one of them may have been searched by a probe, or go deeper."""
        game = self.game
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        edge = alpha if maximizing else beta
        alpha, beta = max(alpha, frame.lowest), min(beta, frame.highest)
        best: Visit | None = None
        proven = True
        selective = self._selective if depth < math.inf else None
        futile = None
        if selective is not None:
            futile = selective.futility_bound(state, depth, alpha, beta, frame, maximizing)
        place = ply if outcome < 0 else place_of(ply, outcome)
        ordered = self.order.order_moves(state, game.legal_actions(state), mover, place, first)
        for number, action in enumerate(ordered):
            if probed is not None and action == probed.action:
                found = probed.found
                score = frame.to_parent(found.score)
            else:
                child = game.result(state, action)
                ahead, less = depth - 1, 0
                if selective is not None:
                    if futile is not None and number and selective.is_futile(state, action, child, mover):
                        proven = False
                        if best is None or (futile > best.score if maximizing else futile < best.score):
                            best = Visit(futile, False, (action,))
                        continue
                    ahead += action == extended
                    less = selective.reduction(state, action, child, mover, number, depth)
                window = frame.to_child(alpha), frame.to_child(beta)
                self.taken = action
                found = self.visit(child, ahead - less, *window, ply + 1)
                score = frame.to_parent(found.score)
                if less and not found.proven and (score > alpha if maximizing else score < beta):
                    self.taken = action
                    found = self.visit(child, ahead, *window, ply + 1)  # better than thought: now in earnest
                    score = frame.to_parent(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if maximizing else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance, found.values)
            if score > alpha if maximizing else score < beta:
                alpha, beta = (score, beta) if maximizing else (alpha, score)
                self._on_window(alpha, beta)
            if alpha >= beta:
                if not self._credits_best:
                    self.order.update_history(action, mover, place, depth)
                proven = best.proven  # what was not searched does not matter, so this action alone proves it
                self._on_cutoff(action, ordered, number)
                break
        if best is None:
            raise no_legal_action(game)
        if self._credits_best and (best.score > edge if maximizing else best.score < edge):
            self.order.update_history(best.line[0], mover, place, depth)
        limit = frame.highest if maximizing else frame.lowest
        # All actions together prove a value; one alone does if nothing can be better.
        return best._replace(proven=proven or (best.proven and best.score[0] == limit[0]))

    def _quiet_visit(self, state: Any, left: int, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state that a noisy action has led to."""
        self.budget.visit(ply)
        if self.game.is_terminal(state):
            if self._shares is not None:
                self._meet(state, ply)
            return self._ended(state)
        return self._quiet(state, left, alpha, beta, ply)

    def _quiet(self, state: Any, left: int, alpha: Score, beta: Score, ply: int) -> Visit:
        """Quiescence: the mover may stand pat on the evaluation, or play on with a noisy action.

        The node itself has been counted, and is not finished.
        """
        game = self.game
        frame = self.scale.frame(state)
        best = self.evaluated(state, frame)
        if not left:
            return best
        assert self._is_noisy is not None, "only for games with noisy actions"
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        if self._shares is not None:
            self._meet(state, ply)
        noisy = [action for action in game.legal_actions(state) if self._is_noisy(state, action)]
        ordered = self.order.order_moves(state, noisy, mover, ply, None)
        for number, action in enumerate((None, *ordered), start=-1):
            if action is not None:
                window = frame.to_child(alpha), frame.to_child(beta)
                self.taken = action
                found = self._quiet_visit(game.result(state, action), left - 1, *window, ply + 1)
                score = frame.to_parent(found.score)
                if score > best.score if maximizing else score < best.score:
                    best = Visit(score, False, (action, *found.line), values=found.values)
            if best.score > alpha if maximizing else best.score < beta:
                alpha, beta = (best.score, beta) if maximizing else (alpha, best.score)
                self._on_window(alpha, beta)
            if alpha >= beta:
                self._on_cutoff(action, ordered, number)
                break
        return best
