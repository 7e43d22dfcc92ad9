"""Alpha-beta below the root: the textbook's recursion with a table, move ordering, quiescence and chance nodes.

Minimax, expectiminimax with Star1, Star2 or without pruning, expectimax, paranoid and best-reply search are this
one search with other settings.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

from zermelo.agents.base.branches import child_of, choices_in, leave_out
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.options import evaluates_chance
from zermelo.agents.base.scores import INFINITE_WINDOW, Frame, Scale, Score
from zermelo.agents.tree_search.chance.plain import AverageBounds, averaged, place_of
from zermelo.agents.tree_search.config import AlphaBetaConfig, ChancePruning, Ordering
from zermelo.agents.tree_search.interface import Bound, Root, Visit
from zermelo.agents.tree_search.observer import NodeRole, Observer
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.agents.tree_search.transposition_table import Entry, TranspositionTable, bound_of
from zermelo.envs.capabilities import SupportsQuiescence
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import CHANCE, Chance

_NO_ACTION: Final = -1


class Arrival(NamedTuple):
    """The outcome of chance that led to a state, -1 after an action; the action that was probed, and its visit."""

    outcome: int = -1
    probed: tuple[int, Visit] | None = None


_BY_ACTION: Final = Arrival()


class PlainAlphaBeta(PlainSearch):
    """Fail-soft alpha-beta below the root, or with ``pruning="none"`` every node.

    For one player, two with a constant sum, or one against all; turns in any order, also chance's. Cuts at chance
    nodes need finite ``utility_bounds``; where the game pays before its end they are not used together with
    evaluations, which may go beyond them.
    """

    def __init__(
        self,
        root: Root,
        budget: Budget,
        config: AlphaBetaConfig,
        *,
        table: TranspositionTable | None = None,
        on_node: Observer | None = None,
    ) -> None:
        game = root.view
        self._tables: Any = None
        if config.tables is not None:
            from zermelo.agents.knowledge.endgame_tables import table_for

            self._tables = table_for(config.tables, root.game)
        if self._tables is not None and self._tables.gains:
            config = dataclasses.replace(config, prefer_short_wins=False)  # the table does not count moves
        self._prefer_short_wins = config.prefer_short_wins
        self._rules: Any = getattr(game, "rules", None)
        use_bounds = config.use_bounds
        if use_bounds is None:
            use_bounds = not config.prunes or root.evaluator is None or game.traits.terminal_rewards_only
        scale = Scale(
            game, prefer_short_wins=config.prefer_short_wins, use_bounds=use_bounds, seat=root.max_seat(config)
        )
        ordering = config.ordering if config.prunes else Ordering.FIXED
        super().__init__(root, budget, config, ordering=ordering, scale=scale, table=table, on_node=on_node)
        self.prunes = config.prunes
        self._probes = config.pruning is ChancePruning.STAR2
        self._quiescence = config.quiescence if config.prunes else 0
        self._is_noisy = game.is_noisy if self._quiescence and isinstance(game, SupportsQuiescence) else None
        self._history_on_improvement = config.history_on_improvement
        self._has_chance = game.traits.chance is not Chance.NONE
        self._beam_width = 0 if config.prunes or not self._has_chance else config.beam_width
        self._replies = config.replies
        if config.replies is not None:
            self.roles = NodeRole.MAX, NodeRole.CHANCE
        self._counts_moves = self._has_chance and hasattr(self._rules, "continues_move")
        evaluated = evaluates_chance(config.chance_at_limit, root.game, root.evaluator)
        self._at_chance = evaluated and root.width is None

    def visit(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, arrival: Arrival = _BY_ACTION
    ) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, chance not counted.

        Between alpha and beta it is exact; at or below alpha an upper bound, at or above beta a lower bound.
        """
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self.ended(state)
        if self._tables is not None and (known := self._tables.probe(self._rules, state)) is not None:
            sign = 1 if game.to_move(state) == self.max_seat else -1
            plies = -sign * known.value * (known.plies or 0) if self._prefer_short_wins else 0
            return Visit((float(sign * known.value), plies), True)
        is_chance = self._has_chance and game.to_move(state) == CHANCE
        if self._counts_moves and self._rules.continues_move(state):
            depth += 1
        frame = self.scale.frame(state)
        if (self._at_chance or not is_chance) and self.stops_at(state, depth, ply):
            if self._is_noisy is not None and not is_chance:
                return self._quiet(state, 0, alpha, beta, ply)
            return self.evaluated(state, frame)
        if self.prunes and not is_chance:
            # Nobody gets more than the upper bound on utility, one ply from here; if that is no use, nothing is.
            if alpha >= frame.highest:
                return Visit(frame.highest, True)
            if beta <= frame.lowest:
                return Visit(frame.lowest, True)

        # Sampled outcomes are not met again.
        table = None if is_chance and (self.width is not None or not self.prunes) else self.table
        key: Hashable = None
        first: int | None = None
        if table is not None:
            key = self.key(state, depth, ply)
            if is_chance:
                key = key, CHANCE
            entry = table.probe(key)
            if entry is not None:
                found = self._settled(state, entry, depth, alpha, beta, frame)
                if found is not None:
                    return found
                first = entry.action
        if is_chance:
            found = self._visit_chance(state, depth, alpha, beta, ply)
        elif self._replies is not None and game.to_move(state) != self.max_seat:
            found = self._visit_replies(state, depth, ply, frame)
        else:
            found = self._best(state, depth, alpha, beta, ply, frame, first, arrival)
        if table is not None:
            bound = bound_of(found.score, alpha, beta, frame)
            if is_chance:  # a bound of an average has an infinite distance
                distance = found.score[1]
                bound = Bound.EXACT if math.isfinite(distance) else Bound.UPPER if distance > 0 else Bound.LOWER
            action = found.line[0] if found.line else _NO_ACTION
            score = found.score[0] - frame.so_far, found.score[1]  # without the rewards already received
            to_come = self._totals(state, found.values, -1)
            entry = Entry(depth, bound, score, action, found.proven, found.variance, to_come)
            table.store(key, entry)
        return found

    def _settled(
        self, state: Any, entry: Entry, depth: float, alpha: Score, beta: Score, frame: Frame
    ) -> Visit | None:
        value, distance = entry.score
        score = value + frame.so_far, distance
        if not entry.serves(depth) or not entry.settles(score, alpha, beta):
            return None
        line = () if entry.action == _NO_ACTION else (entry.action,)
        values = self._totals(state, entry.values)
        return self.from_table(Visit(score, entry.proven, line, entry.variance, values))

    def key(self, state: Any, depth: float, ply: int) -> Hashable:
        key = super().key(state, depth, ply)
        return key if self.prunes else (key, depth)  # a state may lead to itself

    def _best(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        frame: Frame,
        first: int | None,
        arrival: Arrival,
    ) -> Visit:
        game = self.game
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        edge = alpha if maximizing else beta
        if self.prunes:
            alpha, beta = max(alpha, frame.lowest), min(beta, frame.highest)
        lower, upper = alpha, beta
        best: Visit | None = None
        proven = True
        probed = arrival.probed
        place = place_of(ply, arrival.outcome)
        first = first if probed is None else probed[0]
        ordered = self.order.order_moves(state, choices_in(game, state), mover, place, first)
        is_cut_short = 0 < self._beam_width < len(ordered) and depth > 1
        if is_cut_short:
            ordered = self._best_looking(state, ordered, ply)
        for number, action in enumerate(ordered):
            if probed is not None and action == probed[0]:
                found = probed[1]
            else:
                try:  # here and not in ``child_of``: most of the time goes by here
                    child = game.result(state, action)
                except EnvFailedError as error:
                    leave_out(game, error)
                    continue
                if self.prunes:
                    lower, upper = frame.to_child(alpha), frame.to_child(beta)
                self.taken = action
                # With ``*window`` Python 3.12 allows a thousand calls inside of each other, whatever its limit.
                found = self.visit(child, depth - 1, lower, upper, ply + 1)
            score = frame.to_parent(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if maximizing else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance, found.values)
            if not self.prunes:
                continue
            if score > alpha if maximizing else score < beta:
                alpha, beta = (score, beta) if maximizing else (alpha, score)
                self.tell_window(alpha, beta)
            if alpha >= beta:
                if not self._history_on_improvement:
                    self.order.update_history(action, mover, place, depth)
                proven = best.proven  # what was not searched does not matter, so this action alone proves it
                self.tell_cut(action, ordered, number)
                break
        if best is None:
            return self.given_up(state)
        proven = proven and not is_cut_short
        if self._history_on_improvement and (best.score > edge if maximizing else best.score < edge):
            self.order.update_history(best.line[0], mover, place, depth)
        limit = frame.highest if maximizing else frame.lowest
        # All actions together prove a value; one alone does if nothing can be better.
        return best._replace(proven=proven or (best.proven and best.score[0] == limit[0]))

    def _best_looking(self, state: Any, actions: Sequence[int], ply: int) -> list[int]:
        sign = -1 if self.game.to_move(state) == self.max_seat else 1
        worth = {}
        for action in actions:
            self.taken = action
            child = child_of(self.game, state, action)
            if child is not None:
                worth[action] = sign * self.visit(child, 0, *INFINITE_WINDOW, ply + 1).score[0]
        return sorted(worth, key=worth.__getitem__)[: self._beam_width]

    def _visit_replies(self, state: Any, depth: float, ply: int, frame: Frame) -> Visit:
        assert self._replies is not None, "only where others are averaged over"
        founds = []
        lower, upper = INFINITE_WINDOW
        replies = [(action, p) for action, p in self._replies(self.game, state) if p > 0]
        for action, p, child in self.following(state, replies):
            self.taken, self.chance = action, p
            found = self.visit(child, depth - 1, lower, upper, ply + 1)
            founds.append((p, found._replace(score=frame.to_parent(found.score))))
        if not founds:
            return self.given_up(state)
        # Rounded once, so that mirror images, whose replies come in another order, are worth exactly the same.
        value, distance = (math.fsum(p * found.score[part] for p, found in founds) for part in (0, 1))
        variance = sum(p * p * found.variance for p, found in founds)
        proven = all(found.proven for _, found in founds)
        return averaged(founds, proven, None, self.seats)._replace(score=(value, distance), variance=variance)

    def _visit_chance(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The average over a chance state's outcomes, or a bound of it outside the window.

        A bound's second number is infinite: plus for an upper, minus for a lower one.
        """
        game = self.game
        outcomes = self.following(state, [(outcome, p) for outcome, p in game.chance_outcomes(state) if p > 0])
        if not outcomes:
            return self.given_up(state)
        lower, upper = -math.inf, math.inf
        if self.prunes:
            frame = self.scale.frame(state)
            lower, upper = frame.lowest[0], frame.highest[0]
        average = AverageBounds([p for _, p, _ in outcomes], lower, upper, alpha[0], beta[0])
        probed: dict[int, tuple[int, Visit]] = {}
        proven = self.width is None
        if self._probes and average.bounded and depth > 0:
            proven = self._probe_outcomes(outcomes, average, depth, ply, probed) and proven
        founds: list[Visit] = []
        for index, (outcome, p, child) in enumerate(outcomes):
            if average.outside():
                break
            low, high = average.window(index)
            self.taken, self.chance = outcome, p
            arrival = Arrival(outcome, probed.get(index))
            found = self.visit(child, depth, (low, -math.inf), (high, math.inf), ply, arrival)
            founds.append(found)
            if found.score[0] >= low:
                average.raise_low(index, found.score[0])
            if found.score[0] <= high:
                average.lower_high(index, found.score[0])
        searched = self.width is None and all(found.proven for found in founds)
        bound = average.outside()
        if bound:
            self.tell_cut(None, [outcome for outcome, _, _ in outcomes], len(founds) - 1)
            return Visit(bound, proven and searched)
        chances = [(p, found) for (_, p, _), found in zip(outcomes, founds, strict=True)]
        return averaged(chances, searched, self.width, self.seats)

    def _probe_outcomes(
        self,
        outcomes: list[tuple[int, float, Any]],
        average: AverageBounds,
        depth: float,
        ply: int,
        probed: dict[int, tuple[int, Visit]],
    ) -> bool:
        """Tries one action in every outcome: what its player can get there bounds the outcome from one side.

        What was found is written into ``probed``, so that it need not be found again: the windows of later
        searches lie inside those that are used here. Returns whether all that the bounds now rest on is proven.
        """
        game = self.game
        proven = True
        for index, (outcome, probability, child) in enumerate(outcomes):
            if game.is_terminal(child) or (mover := game.to_move(child)) == CHANCE:
                continue
            maximizing = mover == self.max_seat
            if not (average.can_rise_above if maximizing else average.can_fall_below):
                continue
            if self.stops_at(child, depth, ply):
                continue
            entry = self.entry(child, depth, ply)
            if entry is not None and entry.serves(depth):
                value = entry.score[0] + self.scale.frame(child).so_far
                proven = proven and entry.proven
                if entry.bound is not Bound.UPPER:
                    average.raise_low(index, value)
                if entry.bound is not Bound.LOWER:
                    average.lower_high(index, value)
                if average.outside():
                    return proven
                if entry.bound is Bound.EXACT:
                    continue
            self.budget.visit(ply)
            first = entry.action if entry is not None else None
            place = place_of(ply, outcome)
            actions = self.order.order_moves(child, choices_in(game, child), mover, place, first)
            if not actions or child_of(game, child, actions[0]) is None:
                continue
            low, high = average.window(index)
            window = ((-math.inf, 0.0), (high, math.inf)) if maximizing else ((low, -math.inf), (math.inf, 0.0))
            self.taken, self.chance = outcome, probability
            found = self.probe(child, depth, *window, ply, actions[0])
            probed[index] = actions[0], found
            proven = proven and found.proven
            if maximizing:
                average.raise_low(index, found.score[0])
            else:
                average.lower_high(index, found.score[0])
            if average.outside():
                return proven
        return proven

    def probe(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, action: int) -> Visit:
        self.taken = action
        return self.visit(self.game.result(state, action), depth - 1, alpha, beta, ply + 1)

    def quiet_visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state that a noisy action has led to; ``depth`` is below 0."""
        self.budget.visit(ply)
        if self.game.is_terminal(state):
            return self.ended(state)
        return self._quiet(state, depth, alpha, beta, ply)

    def _quiet(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """Quiescence: the mover may stand pat on the evaluation, or play on with a noisy action."""
        game = self.game
        frame = self.scale.frame(state)
        best = self.evaluated(state, frame)
        if self._quiescence + depth <= 0:
            return best
        assert self._is_noisy is not None, "only for games with noisy actions"
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        noisy = [action for action in choices_in(game, state) if self._is_noisy(state, action)]
        ordered = self.order.order_moves(state, noisy, mover, ply, None)
        choices: Sequence[int | None] = (None, *ordered)
        for number, action in enumerate(choices, start=-1):
            if action is not None:
                window = frame.to_child(alpha), frame.to_child(beta)
                self.taken = action
                child = child_of(game, state, action)
                if child is None:
                    continue
                found = self.quiet_visit(child, depth - 1, *window, ply + 1)
                score = frame.to_parent(found.score)
                if score > best.score if maximizing else score < best.score:
                    best = Visit(score, False, (action, *found.line), values=found.values)
            if best.score > alpha if maximizing else best.score < beta:
                alpha, beta = (best.score, beta) if maximizing else (alpha, best.score)
                self.tell_window(alpha, beta)
            if alpha >= beta:
                self.tell_cut(action, ordered, number)
                break
        return best
