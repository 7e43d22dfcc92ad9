"""The base of agents that simulate games."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import function
from zermelo.agents.monte_carlo.interface import SimulationSearch
from zermelo.agents.search_agent import NO_LIMITS, SearchAgent
from zermelo.envs.game import Traits


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SimulatingAgent(SearchAgent):
    """Settings of every search that goes on simulation by simulation.

    Attributes:
        simulations: How many to make; 1,000 if no limit is given.
        nodes: States to visit, those of playouts too.
        seconds: Time to take, from the call on.
        on_iteration: Called with a ``SearchResult`` now and then; False ends the search there.
    """

    default_limits = Limits(simulations=1_000)

    simulations: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    on_iteration: Any = function("of a SearchResult")

    def prepare(self, env: Any) -> None:
        brief: dict[str, Any] = {"simulations": 1, "nodes": None, "seconds": None, "on_iteration": None}
        dataclasses.replace(self, **brief).search(env)

    def advice_if_too_long(self, traits: Traits) -> str:
        return "use 'random'"

    def simulate(
        self,
        search: SimulationSearch,
        result: Callable[[StoppedBy], SearchResult],
        first: int = 16,
        most: int = 1 << 12,
    ) -> SearchResult:
        """Simulates until a limit, in growing batches of ``first`` to ``most``; ``on_iteration`` may end it."""
        batch, limits = first, NO_LIMITS if search.budget.ponders else self.limits
        while True:
            stopped_by = search.run(limits, batch)
            if stopped_by is not None:
                return result(stopped_by)
            batch = min(2 * batch, most)
            if self.on_iteration is not None and not self.goes_on(result(StoppedBy.SIMULATIONS), search.budget):
                return result(StoppedBy.INTERRUPT)
