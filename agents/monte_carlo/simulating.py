"""What agents share that search simulation by simulation, in one process or in several."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.request import Request
from zermelo.agents.base.settings import function
from zermelo.agents.monte_carlo.interface import SimulationSearch
from zermelo.agents.monte_carlo.merging import MergedRoots, SimulationAnswer
from zermelo.agents.workers.agent import WorkerAgent
from zermelo.agents.workers.news import News
from zermelo.envs.capabilities import copy_facts
from zermelo.envs.game import Traits


class SearchOutcome(NamedTuple):
    """A finished search: what ``Request.result`` takes of it, and what ``SimulationAnswer`` says of actions."""

    found: dict[str, Any]
    search: SimulationSearch
    one_ply_rewards: Mapping[int, tuple[float, ...]] = {}
    refuted: Mapping[int, float] = {}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SimulatingAgent(WorkerAgent):
    """Settings of every search that goes on simulation by simulation.

    Attributes:
        simulations: Simulations of a move; 1,000 if no limit is given.
        nodes: States to visit, those of playouts too.
        seconds: Time for a move, from the call on.
        on_iteration: Called with a ``SearchResult`` now and then; False ends the search there.
    """

    default_limits = Limits(simulations=1_000)

    simulations: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    on_iteration: Any = function("of a SearchResult")

    def advice_if_too_long(self, traits: Traits) -> str:
        return "use 'random'"

    def simulate(
        self,
        request: Request,
        search: SimulationSearch,
        found: Callable[[StoppedBy], dict[str, Any]],
        first: int = 16,
        most: int = 1 << 12,
    ) -> dict[str, Any]:
        """Simulates until a limit, in growing batches of ``first`` to ``most``; ``on_iteration`` may end it."""
        batch, search.num_legal = first, len(request.legal)
        while True:
            stopped_by = search.run(request.ends_by, batch)
            if stopped_by is not None:
                return found(stopped_by)
            batch = min(2 * batch, most)
            if self.on_iteration is not None:
                so_far = request.result(search.budget, **found(StoppedBy.SIMULATIONS))
                if not request.should_continue(self.on_iteration, so_far):
                    return found(StoppedBy.INTERRUPT)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_one_worker("on_iteration", self.on_iteration)

    def brief(self, seconds: float | None = None) -> Self:
        limits: dict[str, Any] = {"simulations": 1, "nodes": None, "seconds": seconds, "on_iteration": None}
        return dataclasses.replace(self, **limits)

    def found_alone(self, request: Request, budget: Budget) -> dict[str, Any]:
        return self.searched(request, budget).found

    def answered(self, request: Request, budget: Budget, news: News) -> SimulationAnswer:
        found, search, one_ply_rewards, refuted = self.searched(request, budget)
        moves = search.root_actions()
        return SimulationAnswer(
            moves=moves,
            lines={move.action: search.line_after(move.action) for move in moves if move.visits},
            one_ply_rewards=one_ply_rewards,
            refuted=refuted,
            paid=search.root_totals(),
            best_line=search.best_line,
            stopped_by=found["stopped_by"],
            simulations=search.simulations,
            nodes=budget.nodes,
            tree_nodes=search.tree_nodes,
            tree_depth=search.tree_depth,
            leaves=search.leaves,
            leaf_seconds=search.leaf_seconds,
            compiled=search.compiled,
            why_plain=search.why_plain,
            failures=copy_facts(request.game).failures,
            is_final=found["stopped_by"] is StoppedBy.COMPLETED and math.isfinite(budget.seconds_left),
        )

    def found_together(self, request: Request, answers: Sequence[SimulationAnswer], draw: float) -> dict[str, Any]:
        return self.found_of(MergedRoots(request.game, request.state, answers), draw)

    def searched(self, request: Request, budget: Budget) -> SearchOutcome:
        raise NotImplementedError

    def found_of(self, merged: MergedRoots, draw: float) -> dict[str, Any]:
        raise NotImplementedError
