"""Solving any other game: alpha-beta with a table, to the end."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.core.budget import SearchStopped
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.options import Ties
from zermelo.agents.core.recursion import UNSOLVED, deep_recursion
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Iteration, Root, TreeSearch
from zermelo.agents.search.backend import tree_search
from zermelo.agents.search.iterative_deepening import search_root
from zermelo.agents.search.results import answer
from zermelo.agents.solving.progress import Solver, solution, utility_range
from zermelo.agents.solving.solution import Solution


class AlphaBetaSolver(Solver):
    """Solves positions of one game, of two players with a constant sum, without chance, by alpha-beta."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._reused: TreeSearch | None = None

    def solve(self, state: Any, *, outcome_only: bool) -> Solution:
        """The colour of an unfinished state, or its value and those of all its actions."""
        self._budget.actions = len(self.game.legal_actions(state))
        with deep_recursion(self.game, UNSOLVED):
            return self._colour(state) if outcome_only else self._values(state)

    def action_scores(self, state: Any) -> dict[int, tuple[float, float]]:
        """For each action, (value, mate distance) for the player to move; raises ``SearchStopped``."""
        game, constant = self.game, self.game.traits.constant
        if self._reused is None:
            self._reused = self._search(sooner=True)
        iteration = Iteration(math.inf)
        with deep_recursion(game, UNSOLVED):
            search_root(self._reused, state, iteration, game.legal_actions(state), exact=True, ties=Ties.FIRST)
        mine = game.to_move(state) == 0
        return {
            move.action: move.score if mine else (constant - move.score[0], -move.score[1])
            for move in iteration.moves
        }

    def _search(self, *, sooner: bool) -> TreeSearch:
        config = AlphaBetaConfig(sooner=sooner, memory_mb=self._memory_mb, threads=self._threads, use_bounds=True)
        return tree_search(Root(self.game, None), self._budget, config)

    def _colour(self, state: Any) -> Solution:
        """Who wins: a window just around the middle is enough."""
        traits, seat = self.game.traits, self.game.to_move(state)
        half = traits.constant / 2
        lower, upper = utility_range(self.game, state, 0)
        stopped_by = StoppedBy.COMPLETED
        try:
            search, iteration = self._search(sooner=False), Iteration(math.inf)
            how: dict[str, Any] = {"exact": False, "ties": None, "window": ((half, -0.5), (half, 0.5))}
            search_root(search, state, iteration, search.root_actions(state), **how)
            assert iteration.best is not None, "a state that is not terminal has actions"
            first = iteration.best.score[0]
            lower, upper = first if first >= half else lower, first if first <= half else upper
        except SearchStopped as stopped:
            stopped_by = stopped.reason
        bounds = (lower, upper) if seat == 0 else (traits.constant - upper, traits.constant - lower)
        return solution(self.game, state, self._budget, bounds, outcome_only=True, stopped_by=stopped_by)

    def _values(self, state: Any) -> Solution:
        """The value of every action, in a window that leaves nothing out."""
        traits, seat = self.game.traits, self.game.to_move(state)
        search = self._search(sooner=True)
        iteration = Iteration(math.inf)
        stopped_by = StoppedBy.COMPLETED
        try:
            for action in search.root_actions(state):
                search_root(search, state, iteration, [action], exact=True, ties=Ties.FIRST)
                self._budget.actions_solved += 1
        except SearchStopped as stopped:
            stopped_by = stopped.reason
        # Each action was searched on its own: what the last one said of "finished" is not true of all.
        iteration.finished = self._budget.actions_solved == self._budget.actions
        iteration.proven = iteration.proven and iteration.finished
        lower, upper = utility_range(self.game, state, seat)
        how: dict[str, Any] = {"depth": self._budget.deepest, "exact": True, "ties": Ties.FIRST, "draw": 0.0}
        found = answer(search, state, iteration, stopped_by=stopped_by, **how)
        known = sorted(move for move in iteration.moves if move.is_exact)
        decisive = {
            move.action: int(abs(move.score[1]))
            for move in known
            if traits.terminal_rewards_only and move.score[0] != traits.constant / 2
        }
        best = max(found.action_values.values(), default=lower)
        shared: dict[str, Any] = {
            "action_values": found.action_values,
            "action_plies": decisive,
            "stopped_by": stopped_by,
        }
        if not iteration.finished and best != upper:
            return solution(self.game, state, self._budget, (max(lower, best), upper), **shared)
        line = self._to_the_end(search, state, found.principal_variation) if found.plies is not None else ()
        shared |= {"plies": found.plies, "principal_variation": line}
        return solution(self.game, state, self._budget, (best, best), **shared)

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
                search_root(search, state, iteration, search.root_actions(state), exact=False, ties=Ties.FIRST)
                assert iteration.best is not None, "a state that is not terminal has actions"
                line = iteration.best.line
        except SearchStopped:
            return ()
