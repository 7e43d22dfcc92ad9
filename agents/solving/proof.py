"""Solving games of compiled rules."""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.compiled.proof.prover import Prover, Score
from zermelo.agents.core.budget import SearchStopped
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.solving.progress import Solver, solution, utility_range
from zermelo.agents.solving.solution import Solution
from zermelo.envs.rules.scores import LOSS, WIN

_LINE_NODES: Final = 1_000_000
"""Nodes for finding a line of best play; a quarter of those of solving, if that is more."""


class ProofSolver(Solver):
    """Solves positions of one game, which ``can_prove`` accepts, by compiled proof."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._prover = Prover(self.game, memory_mb=self._memory_mb, threads=self._threads)
        self._known: dict[Any, int] = {}

    def solve(self, state: Any, *, outcome_only: bool) -> Solution:
        """The colour of an unfinished state, or its value and those of all its actions."""
        actions = self.game.legal_actions(state)
        self._budget.actions = len(actions)
        window = (-1, 1) if outcome_only else (LOSS, WIN)
        root = self._score(state, *window)
        scores: dict[int, int] = {}
        stopped_by = root.stopped_by
        if not outcome_only and root.lower == root.upper:
            stopped_by = self._score_actions(state, actions, root.lower, scores)
        return self._solution(state, root, scores, stopped_by, outcome_only=outcome_only)

    def action_scores(self, state: Any) -> dict[int, tuple[float, float]]:
        """For each action, (value, mate distance) for the player to move; raises ``SearchStopped``."""
        actions = self.game.legal_actions(state)
        scores: dict[int, int] = {}
        stopped_by = self._score_actions(state, actions, WIN, scores)
        if stopped_by is not StoppedBy.COMPLETED:
            raise SearchStopped(stopped_by)
        return {action: (self._prover.value(score)[0], score) for action, score in scores.items()}

    def _score(
        self, state: Any, lower: int, upper: int, guess: int | None = None, nodes: int | None = None
    ) -> Score:
        left = nodes
        if self._limits.nodes is not None:
            left = max(self._limits.nodes - self._prover.nodes, 0)
            left = left if nodes is None else min(left, nodes)
        return self._prover.score(state, guess=guess, lower=lower, upper=upper, check=self._check, nodes=left)

    def _check(self) -> None:
        self._budget.nodes = self._prover.nodes_now
        super()._check()

    def _score_actions(self, state: Any, actions: Any, best: int, scores: dict[int, int]) -> StoppedBy:
        """Writes every action's score; those of symmetric children are worked out once."""
        known = self._known
        mover = self.game.to_move(state)
        for action in actions:
            child = self.game.result(state, action)
            if self.game.is_terminal(child):
                scores[action] = self._ending(child, mover)
            else:
                key = self._canonical(child)
                if key not in known:
                    found = self._score_child(child, mover, best)
                    if found.lower != found.upper:
                        return found.stopped_by
                    known[key] = found.lower
                scores[action] = self._from_child(child, mover, known[key])
            self._budget.actions_solved += 1
        return StoppedBy.COMPLETED

    def _score_child(self, child: Any, mover: int, best: int) -> Score:
        """A child's own score, given that none is better for ``mover`` than ``best``; ``WIN`` gives nothing."""
        if best == WIN:
            return self._score(child, LOSS, WIN)
        bound = self._to_child(best)
        if self.game.to_move(child) == mover:
            return self._score(child, LOSS, bound, bound)
        return self._score(child, -bound, WIN, -bound)

    def _canonical(self, state: Any) -> Any:
        game = self.game
        return min([state, *(game.rules.symmetric_state(state, number) for number in range(1, game.symmetries))])

    # -- scores one move further up ----------------------------------------------------------------------------

    def _to_child(self, score: int) -> int:
        """The score that a child needs, for the same player, so that its parent has this one."""
        if score == 0 or not self._prover.counts_moves:
            return score
        return score + 1 if score > 0 else score - 1

    def _from_child(self, child: Any, mover: int, score: int) -> int:
        """A child's score as it counts for ``mover``, a move earlier."""
        if self.game.to_move(child) != mover:
            score = -score
        if score == 0 or not self._prover.counts_moves:
            return score
        return score - 1 if score > 0 else score + 1

    def _ending(self, state: Any, mover: int) -> int:
        """The score of the move that leads to a finished state."""
        mine = int(self.game.utility(state)[mover])
        if not self._prover.counts_moves:
            return 2 * mine - int(self.game.traits.constant)
        return (mine > 0) * (WIN - 1) + (mine < 0) * (LOSS + 1)

    # -- a line of best play -----------------------------------------------------------------------------------

    def _line(self, state: Any, score: int, first: int) -> tuple[int, ...]:
        """Best play to the end, from ``first`` on; nothing if it would cost too much to find out."""
        budget = self._prover.nodes + max(_LINE_NODES, self._prover.nodes // 4)
        line: list[int] = []
        chosen: int | None = first
        while chosen is not None:
            line.append(chosen)
            mover = self.game.to_move(state)
            state = self.game.result(state, chosen)
            if self.game.is_terminal(state):
                return tuple(line)
            score = self._to_child(score)
            if self.game.to_move(state) != mover:
                score = -score
            chosen = self._action_reaching(state, score, budget)
        return ()

    def _action_reaching(self, state: Any, score: int, budget: int) -> int | None:
        """An action that reaches the score of a state; None if the budget ends first."""
        mover = self.game.to_move(state)
        for action in self.game.legal_actions(state):
            child = self.game.result(state, action)
            if self.game.is_terminal(child):
                if self._ending(child, mover) == score:
                    return int(action)
                continue
            wanted = self._to_child(score)
            left = budget - self._prover.nodes
            if left <= 0:
                return None
            if self.game.to_move(child) == mover:
                found = self._score(child, wanted - 1, wanted, wanted, left)
                reaches = found.lower >= wanted
            else:
                found = self._score(child, -wanted, 1 - wanted, -wanted, left)
                reaches = found.upper <= -wanted
            if found.stopped_by is not StoppedBy.COMPLETED:
                return None
            if reaches:
                return int(action)
        return None

    # -- the solution ------------------------------------------------------------------------------------------

    def _solution(
        self, state: Any, root: Score, scores: dict[int, int], stopped_by: StoppedBy, *, outcome_only: bool
    ) -> Solution:
        bounds = self._value_bounds(state, self.game.to_move(state), root, outcome_only=outcome_only)
        exact = root.lower == root.upper and not outcome_only
        line: tuple[int, ...] = ()
        if exact and stopped_by is StoppedBy.COMPLETED:
            line = self._line(state, root.lower, next(a for a, score in scores.items() if score == root.lower))
        self._budget.nodes = self._prover.nodes
        values = {action: self._prover.value(score) for action, score in scores.items()}
        plies = self._prover.value(root.lower)[1] if exact else None
        return solution(
            self.game,
            state,
            self._budget,
            bounds,
            outcome_only=outcome_only,
            plies=len(line) or None if plies is None else plies,
            action_values={action: found for action, (found, _) in values.items()},
            action_plies={action: moves for action, (_, moves) in values.items() if moves is not None},
            principal_variation=line,
            stopped_by=stopped_by,
        )

    def _value_bounds(self, state: Any, seat: int, score: Score, *, outcome_only: bool) -> tuple[float, float]:
        """Bounds of the value from bounds of the score."""
        lowest, highest = utility_range(self.game, state, seat)
        lower, upper = score.lower, score.upper
        if outcome_only:  # nothing beyond -1 and 1 was asked for, but the score may lie there
            lower, upper = lower if lower > -1 else LOSS, upper if upper < 1 else WIN
        if self._prover.counts_moves:
            return float((lower > 0) - (lower < 0)), float((upper > 0) - (upper < 0))
        low = max(lowest, self._prover.value(lower)[0]) if lower > LOSS else lowest
        high = min(highest, self._prover.value(upper)[0]) if upper < WIN else highest
        return low, high
