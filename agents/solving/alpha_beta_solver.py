"""Solving any game by the alpha-beta search of the agents, to the end."""

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
from zermelo.agents.solving.solver import Found, Solver, utility_range


class AlphaBetaSolver(Solver):
    """Solves by alpha-beta with a table."""

    _reused: TreeSearch | None = None

    def action_scores(self, state: Any) -> dict[int, tuple[float, float]]:
        game, constant = self.game, self.game.traits.constant
        if self._reused is None:
            self._reused = self._new_search(sooner=True)
        iteration = Iteration(math.inf)
        with deep_recursion(game, UNSOLVED):
            search_root(self._reused, state, iteration, game.legal_actions(state), exact=True, ties=Ties.FIRST)
        mine = game.to_move(state) == 0
        return {
            move.action: move.score if mine else (constant - move.score[0], -move.score[1])
            for move in iteration.moves
        }

    def _new_search(self, *, sooner: bool) -> TreeSearch:
        config = AlphaBetaConfig(sooner=sooner, memory_mb=self._memory_mb, threads=self._threads, use_bounds=True)
        return tree_search(Root(self.game, None), self.budget, config)

    def _search(self, state: Any, *, outcome_only: bool) -> Found:
        search, iteration = self._new_search(sooner=not outcome_only), Iteration(math.inf)
        actions = search.root_actions(state)
        self.budget.solved = lambda: (len(iteration.moves), len(actions))
        half = self.game.traits.constant / 2
        window = ((half, -0.5), (half, 0.5)) if outcome_only else None  # who wins: just around the middle
        ties = None if outcome_only else Ties.FIRST
        stopped_by = StoppedBy.COMPLETED
        with deep_recursion(self.game, UNSOLVED):
            try:
                search_root(search, state, iteration, actions, exact=not outcome_only, ties=ties, window=window)
            except SearchStopped as stopped:
                stopped_by = stopped.reason
            if not outcome_only:
                return self._values(search, state, iteration, stopped_by)
        seat = self.game.to_move(state)
        lower, upper = utility_range(self.game, state, seat)
        if iteration.finished and iteration.best is not None:
            value = self.game.traits.values_by_seat(0, iteration.best.score[0])[seat]
            lower, upper = max(lower, value) if value >= half else lower, value if value <= half else upper
        return Found((lower, upper), stopped_by)

    def _values(self, search: TreeSearch, state: Any, iteration: Iteration, stopped_by: StoppedBy) -> Found:
        traits = self.game.traits
        how: dict[str, Any] = {"depth": self.budget.deepest, "exact": True, "ties": Ties.FIRST, "draw": 0.0}
        found = answer(search, state, iteration, stopped_by=stopped_by, **how)
        decisive = {
            move.action: int(abs(move.score[1]))
            for move in sorted(iteration.moves)
            if move.is_exact and traits.terminal_rewards_only and move.score[0] != traits.constant / 2
        }
        lower, upper = utility_range(self.game, state, self.game.to_move(state))
        best = max(found.action_values.values(), default=lower)
        if not iteration.finished and best != upper:
            return Found((max(lower, best), upper), stopped_by, None, found.action_values, decisive)
        line = self._to_the_end(search, state, found.principal_variation) if found.plies is not None else ()
        return Found((best, best), stopped_by, found.plies, found.action_values, decisive, line)

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
