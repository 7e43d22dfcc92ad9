"""Solvers of one position: alpha-beta to the end for any game, compiled proof for rules."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zermelo.agents.base.budget import SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.recursion import UNSOLVED, deep_recursion
from zermelo.agents.solutions.solution import Solution, WatchedBudget, outcome_of, utility_range
from zermelo.agents.tree_search.alpha_beta.searches import ALPHA_BETA
from zermelo.agents.tree_search.choose import tree_search
from zermelo.agents.tree_search.exact.prover import Prover, Score
from zermelo.agents.tree_search.interface import Iteration, RootNode, RootRequest, SearchSetup, TreeSearch
from zermelo.agents.tree_search.results import answer
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs.rules.scores import LOSS, WIN

_LINE_NODES: Final = 1_000_000
"""Nodes for finding a line of best play; a quarter of those of solving, if that is more."""
_EXACT: Final = RootRequest(exact=True)


class Found(NamedTuple):
    """Result of a search to the end; the fields are those of ``Solution``."""

    value_bounds: tuple[float, float]
    stopped_by: StoppedBy = StoppedBy.COMPLETED
    plies: int | None = None
    action_values: Mapping[int, float] = {}
    action_plies: Mapping[int, int] = {}
    principal_variation: tuple[int, ...] = ()


@dataclass(eq=False)
class Solver(abc.ABC):
    """Solves positions of one game, of two players with a constant sum, without chance."""

    game: Any
    budget: WatchedBudget
    memory_mb: float = 16
    threads: int = 1
    tables: str | None = None

    def solve(self, state: Any, *, outcome_only: bool = False) -> Solution:
        """Solves an unfinished state: who wins, or its value and those of all its actions."""
        traits, seat = self.game.traits, self.game.to_move(state)
        result = self._search(state, outcome_only=outcome_only)
        lower, upper = result.value_bounds
        value = lower if lower == upper else None
        outcome = outcome_of(traits, seat, lower, upper)
        return Solution(
            seat=seat,
            value=value,
            values_by_seat=() if value is None else traits.values_by_seat(seat, value),
            outcome=outcome,
            nodes=self.budget.nodes,
            seconds=self.budget.seconds,
            proven=(outcome if outcome_only else value) is not None,
            **result._asdict(),
        )

    @abc.abstractmethod
    def _search(self, state: Any, *, outcome_only: bool) -> Found: ...


class AlphaBetaSolver(Solver):
    """Solves by alpha-beta with a table."""

    _reused: TreeSearch | None = None

    def action_values(self, state: Any) -> dict[int, float]:
        game, constant = self.game, self.game.traits.constant
        if self._reused is None:
            self._reused = self._new_search(prefer_short_wins=False)
        iteration = Iteration(math.inf)
        node = self._reused.root_node(state)
        with deep_recursion(game, UNSOLVED):
            self._reused.search_moves(node, iteration, list(node.legal), _EXACT)
        mine = node.seat == 0
        return {move.action: move.score[0] if mine else constant - move.score[0] for move in iteration.moves}

    def _new_search(self, *, prefer_short_wins: bool) -> TreeSearch:
        config = AlphaBetaConfig(
            prefer_short_wins=prefer_short_wins,
            use_bounds=True,
            memory_mb=self.memory_mb,
            threads=self.threads,
            tables=self.tables,
        )
        return tree_search(SearchSetup(self.game, None), self.budget, config, family=ALPHA_BETA)

    def _search(self, state: Any, *, outcome_only: bool) -> Found:
        search, iteration = self._new_search(prefer_short_wins=not outcome_only), Iteration(math.inf)
        node, half = search.root_node(state), self.game.traits.constant / 2
        actions = list(search.root_actions(node))
        self.budget.solved = lambda: (len(iteration.moves), len(actions))
        if outcome_only:  # who wins: just around the middle
            node = node._replace(window=((half, -0.5), (half, 0.5)))
        stopped_by = StoppedBy.COMPLETED
        with deep_recursion(self.game, UNSOLVED):
            try:
                search.search_moves(node, iteration, actions, RootRequest(ties=None) if outcome_only else _EXACT)
            except SearchStopped as stopped:
                stopped_by = stopped.reason
            if not outcome_only:
                return self._values(search, node, iteration, stopped_by)
        seat = node.seat
        lower, upper = utility_range(self.game, state, seat)
        if iteration.finished and iteration.best is not None:
            value = self.game.traits.values_by_seat(0, iteration.best.score[0])[seat]
            lower, upper = max(lower, value) if value >= half else lower, value if value <= half else upper
        return Found((lower, upper), stopped_by)

    def _values(self, search: TreeSearch, node: RootNode, iteration: Iteration, stopped_by: StoppedBy) -> Found:
        traits, state = self.game.traits, node.state
        found = answer(search, node, iteration, _EXACT, depth=self.budget.deepest, stopped_by=stopped_by)
        decisive = {
            move.action: int(abs(move.score[1]))
            for move in sorted(iteration.moves)
            if move.is_exact and traits.terminal_rewards_only and move.score[0] != traits.constant / 2
        }
        lower, upper = utility_range(self.game, state, node.seat)
        best = max(found["action_values"].values(), default=lower)
        if not iteration.finished and best != upper:
            return Found((max(lower, best), upper), stopped_by, None, found["action_values"], decisive)
        line = self._to_the_end(search, state, found["principal_variation"]) if found["plies"] is not None else ()
        return Found((best, best), stopped_by, found["plies"], found["action_values"], decisive, line)

    def _to_the_end(self, search: TreeSearch, state: Any, line: tuple[int, ...]) -> tuple[int, ...]:
        """A line of best play, searched on from where the table has forgotten it; empty if a limit comes first."""
        played: list[int] = []
        try:
            while True:
                for action in line:
                    state = self.game.result(state, action)
                    played.append(action)
                if self.game.is_terminal(state):
                    return tuple(played)
                iteration = Iteration(math.inf)
                node = search.root_node(state)
                search.search_moves(node, iteration, list(search.root_actions(node)), RootRequest())
                assert iteration.best is not None, "a state that is not terminal has actions"
                line = iteration.best.line
        except SearchStopped:
            return ()


@dataclass(eq=False)
class ProofSolver(Solver):
    """Solves a game that ``can_prove`` accepts by compiled proof."""

    def __post_init__(self) -> None:
        self._prover = Prover(self.game, memory_mb=self.memory_mb, threads=self.threads)
        self._child_scores: dict[Any, int] = {}

    def action_values(self, state: Any) -> dict[int, float]:
        scores: dict[int, int] = {}
        stopped_by = self._score_actions(state, self.game.legal_actions(state), WIN, scores)
        if stopped_by is not StoppedBy.COMPLETED:
            raise SearchStopped(stopped_by)
        return {action: self._prover.value(score)[0] for action, score in scores.items()}

    def _search(self, state: Any, *, outcome_only: bool) -> Found:
        actions, scores = self.game.legal_actions(state), dict[int, int]()
        self.budget.solved = lambda: (len(scores), len(actions))
        root = self._score(state, *((-1, 1) if outcome_only else (LOSS, WIN)))
        stopped_by, line = root.stopped_by, tuple[int, ...]()
        exact = root.lower == root.upper and not outcome_only
        if exact:
            stopped_by = self._score_actions(state, actions, root.lower, scores)
            if stopped_by is StoppedBy.COMPLETED:
                line = self._line(state, root.lower, next(a for a in scores if scores[a] == root.lower))
        self.budget.nodes = self._prover.nodes
        values = {action: self._prover.value(score) for action, score in scores.items()}
        plies = self._prover.value(root.lower)[1] if exact else None
        return Found(
            self._value_bounds(state, root, outcome_only=outcome_only),
            stopped_by,
            len(line) or None if plies is None else plies,
            {action: value for action, (value, _) in values.items()},
            {action: moves for action, (_, moves) in values.items() if moves is not None},
            line,
        )

    def _score(
        self, state: Any, lower: int, upper: int, guess: int | None = None, nodes: int | None = None
    ) -> Score:
        left = nodes
        if self.budget.limits.nodes is not None:
            left = max(self.budget.limits.nodes - self._prover.nodes, 0)
            left = left if nodes is None else min(left, nodes)
        return self._prover.score(state, guess=guess, lower=lower, upper=upper, check=self._check, nodes=left)

    def _check(self) -> None:
        self.budget.nodes = self._prover.nodes_now
        self.budget.check_clock()

    def _score_actions(self, state: Any, actions: Sequence[int], best: int, scores: dict[int, int]) -> StoppedBy:
        game, solved, mover = self.game, self._child_scores, self.game.to_move(state)
        for action in actions:
            child = game.result(state, action)
            if game.is_terminal(child):
                scores[action] = self._ending(child, mover)
                continue
            images = (game.rules.symmetric_state(child, number) for number in range(1, game.symmetries))
            key = min(child, *images) if game.symmetries > 1 else child
            if key not in solved:
                score = self._score_child(child, mover, best)
                if score.lower != score.upper:
                    return score.stopped_by
                solved[key] = score.lower
            own = solved[key] if game.to_move(child) == mover else -solved[key]
            scores[action] = self._moved(own, -1)
        return StoppedBy.COMPLETED

    def _score_child(self, child: Any, mover: int, best: int) -> Score:
        """A child's own score, given that none is better for ``mover`` than ``best``; ``WIN`` gives nothing."""
        if best == WIN:
            return self._score(child, LOSS, WIN)
        bound = self._moved(best, 1)
        if self.game.to_move(child) == mover:
            return self._score(child, LOSS, bound, bound)
        return self._score(child, -bound, WIN, -bound)

    def _moved(self, score: int, moves: int) -> int:
        if score == 0 or not self._prover.counts_moves:
            return score
        return score + moves if score > 0 else score - moves

    def _ending(self, state: Any, mover: int) -> int:
        mine = int(self.game.utility(state)[mover])
        if not self._prover.counts_moves:
            return 2 * mine - int(self.game.traits.constant)
        return (mine > 0) * (WIN - 1) + (mine < 0) * (LOSS + 1)

    def _line(self, state: Any, score: int, first: int) -> tuple[int, ...]:
        """Nothing if it would cost too much to find out."""
        budget = self._prover.nodes + max(_LINE_NODES, self._prover.nodes // 4)
        line: list[int] = []
        chosen: int | None = first
        while chosen is not None:
            line.append(chosen)
            mover = self.game.to_move(state)
            state = self.game.result(state, chosen)
            if self.game.is_terminal(state):
                return tuple(line)
            score = self._moved(score, 1)
            if self.game.to_move(state) != mover:
                score = -score
            chosen = self._action_reaching(state, score, budget)
        return ()

    def _action_reaching(self, state: Any, score: int, budget: int) -> int | None:
        mover = self.game.to_move(state)
        for action in self.game.legal_actions(state):
            child = self.game.result(state, action)
            if self.game.is_terminal(child):
                if self._ending(child, mover) == score:
                    return int(action)
                continue
            wanted = self._moved(score, 1)
            left = budget - self._prover.nodes
            if left <= 0:
                return None
            if self.game.to_move(child) == mover:
                proof = self._score(child, wanted - 1, wanted, wanted, left)
                reaches = proof.lower >= wanted
            else:
                proof = self._score(child, -wanted, 1 - wanted, -wanted, left)
                reaches = proof.upper <= -wanted
            if proof.stopped_by is not StoppedBy.COMPLETED:
                return None
            if reaches:
                return int(action)
        return None

    def _value_bounds(self, state: Any, score: Score, *, outcome_only: bool) -> tuple[float, float]:
        lowest, highest = utility_range(self.game, state, self.game.to_move(state))
        lower, upper = score.lower, score.upper
        if outcome_only:  # nothing beyond -1 and 1 was asked for, but the score may lie there
            lower, upper = lower if lower > -1 else LOSS, upper if upper < 1 else WIN
        if self._prover.counts_moves:
            return float((lower > 0) - (lower < 0)), float((upper > 0) - (upper < 0))
        low = max(lowest, self._prover.value(lower)[0]) if lower > LOSS else lowest
        high = min(highest, self._prover.value(upper)[0]) if upper < WIN else highest
        return low, high
