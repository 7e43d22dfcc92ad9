"""Value iteration: play by the values of all states, also where games return to earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.mate_distance import Scale
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import number, whole
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.solving.value_iteration import ValueTable, require_finite, stationary, value_iteration
from zermelo.envs import Game
from zermelo.envs.adapters.transition_table import TableGame

_MOST_STEPS: Final = 1_000
"""With more steps left than this a time limit is taken for none: its end is far away."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValueIterationAgent(SearchAgent):
    """Computes the values of all states by value iteration, and plays by that table.

    For one player, or two with a constant sum, exact chance or none, and as many states as memory holds; games may
    return to earlier states. Of an environment with a transition table the steps that a time limit leaves count.

    Attributes:
        tolerance: How far off a value may be.
        most_states: The most states of a game.
    """

    kind: ClassVar[str] = "value_iteration"

    tolerance: float = number(1e-9, lower=1e-14)
    most_states: int = whole(2_000_000, lower=1)

    def check_game(self, game: Game[Any]) -> None:
        require_finite(game.traits)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        table: ValueTable | None
        table, is_settled = self.__dict__.get("_table", (None, False))
        left = state.left if isinstance(game, TableGame) and state.left <= _MOST_STEPS else None
        game = stationary(game)
        seat = game.to_move(state)
        stopped_by, nodes, stats = StoppedBy.COMPLETED, 0, {}
        try:
            steps = None if left is None else int(left) - 1
            serves = table is not None and (table.game is game or table.game == game) and state in table
            # Values that have settled after some steps are those of more steps as well.
            serves = serves and is_settled and (steps is None or steps >= table.sweeps)
            if table is None or not serves:
                table = value_iteration(
                    game,
                    self.tolerance,
                    states=[state],
                    most_states=self.most_states,
                    steps=steps,
                    check=budget.check_clock,
                )
                self._set("_table", (table, steps is None or table.sweeps < steps))
            action, action_values = table.action(state), table.action_values(state)
            value = action_values[action]
            nodes, stats = len(table), {"sweeps": table.sweeps, "tolerance": table.tolerance}
        except SearchStopped as stopped:  # nothing is known before the end
            action, action_values, stopped_by = game.legal_actions(state)[0], {}, stopped.reason
            value = Scale(game, seat=seat).frame(state).middle
        return SearchResult(
            action=action,
            value=value,
            values_by_seat=game.traits.values_by_seat(seat, value),
            action_values=action_values,
            nodes=nodes,
            stopped_by=stopped_by,
            stats=stats,
        )
