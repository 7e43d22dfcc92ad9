"""What agents share that search simulation by simulation, in one process or in several."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.machine import check_threads
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.recursion import GameTooLongError
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_decision
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import converted, function
from zermelo.agents.monte_carlo.interface import SimulationSearch
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.capabilities import copy_facts
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Game, Traits
from zermelo.envs.position import position
from zermelo.envs.support.ray_cluster import import_ray
from zermelo.envs.traits.merging import PATIENCE

if TYPE_CHECKING:
    from zermelo.agents.monte_carlo.merging import MergedRoots
    from zermelo.agents.monte_carlo.workers import WorkerPool


_ON_RAY: Final = re.compile(r"ray(:[1-9]\d*)?")


def make_workers(given: Any) -> int | str:
    """A number of processes, ``"ray"``, or ``"ray:N"``."""
    text = str(given)
    if isinstance(given, int):
        check_threads("workers", given)
        if given > 1 and sys.platform == "win32":
            raise InvalidSettingError(
                "worker processes need a Unix system: search with workers=1, or in the Windows Subsystem for Linux"
            )
        return given
    if not _ON_RAY.fullmatch(text):
        raise InvalidSettingError(
            f"workers must be a whole number of at least 1, 'ray', or 'ray:N' for N processes on Ray, not {text!r}"
        )
    return text


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WorkerSettings:
    """The setting of every search that several processes can make together.

    Attributes:
        workers: How many processes search the same position, each with a tree of its own, whose visits are added
            up; for environments without rules. ``"ray"`` takes the processors of a Ray cluster (that of
            ``RAY_ADDRESS``, else one on this machine), ``"ray:4"`` four of them. A process that ends, or does not
            answer in time, is replaced, and the result's ``note`` says so. Threads that share an agent are
            answered one after the other. On this machine at most eight for each processor, or 64.
    """

    workers: int | str = converted(1, make_workers)


class SearchOutcome(NamedTuple):
    """A finished search: what ``Request.result`` takes of it, and rewards of root actions tried before it."""

    found: dict[str, Any]
    search: SimulationSearch
    looked: Mapping[int, tuple[float, ...]] = {}


class _Processes(TransientState):
    """The processes that search for an agent, which end with it."""

    def __init__(self) -> None:
        self.teams: dict[int, WorkerPool] = {}
        """By the process that has started them: a fork of it starts its own."""


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

    _processes: _Processes = field(init=False, default_factory=_Processes)

    workers = cast("int | str", 1)  # a setting of some

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

    def require_one_worker(self, name: str, function: Any) -> None:
        if self.workers != 1 and function is not None:
            raise InvalidSettingError(
                f"{name} is not called where several processes search: leave it out, or search with workers=1"
            )

    def check_fit(self, env: Any, view: Any = None) -> None:
        super().check_fit(env, view)
        if isinstance(self.workers, str):
            import_ray()

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        if (team := self._processes.teams.get(os.getpid())) is not None:
            team.played = None

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        if self.workers == 1:
            super().prepare(env, seconds)
            dataclasses.replace(self.brief(), seconds=self.seconds_to_prepare(env, seconds)).search(env)
            return
        root = position(env, backend=self.backend, traits=self.traits, patience=seconds)
        self.check_game(root.game)
        require_decision(root.game, root.state)
        team = self._team()
        try:
            with team.lock:
                team.show(root.game, lambda: self.unseen_dealt(root.game, root.state, 0))
        except RecursionError:
            raise GameTooLongError(root.game, advice=self.advice_if_too_long(root.game.traits)) from None

    def brief(self) -> Self:
        """An agent of the same settings that simulates once."""
        limits: dict[str, Any] = {"simulations": 1, "nodes": None, "seconds": None, "on_iteration": None}
        return dataclasses.replace(self, **limits)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        if self.workers == 1:
            return request.result(budget, **self.searched(request, budget).found)
        from zermelo.agents.monte_carlo.merging import MergedRoots

        game, state = request.game, request.state
        seed, draw = int(self.generator.integers(2**62)), float(self.generator.random())
        team, asked = self._team(), budget.now()
        with team.lock:
            budget.delay(budget.now() - asked)
            with budget.off_the_clock():
                team.show(game, lambda: self.unseen_dealt(game, state, 0))
            parts = team.search(request, self.unseen_dealt(game, state, seed), budget, seed)
            merged, news = MergedRoots(game, state, parts), team.news()
            found = self.found_together(merged, draw)
            team.played = found["action"]
        if news:
            warnings.warn(news, RuntimeWarning, stacklevel=2)
        failures = merged.failures + copy_facts(game).failures
        found["stats"] |= {"workers": len(merged.parts)}
        return request.result(budget, **found, failures=failures, note=news)

    def _team(self) -> WorkerPool:
        from zermelo.agents.monte_carlo.workers import WorkerPool

        teams, owner = self._processes.teams, os.getpid()
        if owner not in teams:
            alone: dict[str, Any] = {"workers": 1}
            team = WorkerPool(dataclasses.replace(self, **alone), self.workers)
            if teams.setdefault(owner, team) is team:  # else another thread was faster
                weakref.finalize(self, team.end)
        return teams[owner]

    def searched(self, request: Request, budget: Budget) -> SearchOutcome:
        raise NotImplementedError

    def found_together(self, merged: MergedRoots, draw: float) -> dict[str, Any]:
        raise NotImplementedError

    def unseen_dealt(self, game: Game[Any], state: Any, seed: int) -> Any:
        """The state as other processes are sent it: where cards are hidden, with others that suit as well."""
        return state

    def begin(self, limits: Limits, generator: np.random.Generator, played: int | None) -> None:
        """Prepares the next search, a part of another agent's; it goes on with the last one after ``played``."""
        self._time.limits, self._game.generator = limits, generator
