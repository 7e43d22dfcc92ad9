"""Value iteration: play by the values of all states, also where games return to earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.checks import check_number, check_whole
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.result import SearchResult
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.solving.value_iteration import ValueTable, require_finite, value_iteration
from zermelo.envs import Game, Traits

__all__ = ["ValueIterationAgent"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValueIterationAgent(SearchAgent):
    """Works out the values of all states by value iteration, once a game, and plays by that table.

    For one player, or two with a constant sum, exact chance or none, and as many states as memory holds; games may
    return to earlier states.

    Attributes:
        tolerance: How far off a value may be.
        most_states: How many states there may be.
    """

    kind: ClassVar[str] = "value_iteration"

    tolerance: float = 1e-9
    most_states: int = 2_000_000

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, least=1e-14)
        check_whole("most_states", self.most_states, least=1)
        super().__post_init__()

    def check_game(self, traits: Traits) -> None:
        """One player, or two opposed, with everything seen and every probability known."""
        require_finite(traits)

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Looks the state up, in a table made when it is first needed."""
        budget = Budget(Limits(), started)
        table: ValueTable | None = self.__dict__.get("_table")
        if table is None or (table.game is not game and table.game != game) or state not in table:
            table = value_iteration(game, self.tolerance, states=[state], most_states=self.most_states)
            self._set("_table", table)
        action = table.action(state)
        action_values = table.action_values(state)
        seat, seats = game.to_move(state), game.traits.seats
        value = action_values[action]
        other = game.traits.constant - value
        return SearchResult(
            action=action,
            env_action=game.to_env_action(state, action),
            value=value,
            values_by_seat=tuple(value if number == seat else other for number in range(seats)),
            action_values=action_values,
            principal_variation=(action,),
            nodes=len(table),
            seconds=budget.seconds,
            stats={"sweeps": table.sweeps, "tolerance": table.tolerance},
        )
