"""Agents whose searches several processes can make together."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.machine import check_threads
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.recursion import GameTooLongError
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_decision
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import converted
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.capabilities import copy_facts
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Game
from zermelo.envs.position import position
from zermelo.envs.traits.merging import PATIENCE

if TYPE_CHECKING:
    from zermelo.agents.workers.news import News
    from zermelo.agents.workers.orders import WorkerAnswer
    from zermelo.agents.workers.pool import WorkerPool

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
            f"workers must be a number of processes, such as 2, or 'ray' or 'ray:2' for Ray's, not {given!r}"
        )
    return text


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WorkerSettings:
    """The setting of every search that several processes can make together.

    Attributes:
        workers: How many processes search the same position together, each with memory of its own; for
            environments without rules. Visits of simulations are added up; searches of a game tree leave out what
            another process has searched. ``"ray"`` takes the processors of a Ray cluster (that of
            ``RAY_ADDRESS``, else one on this machine), ``"ray:4"`` four of them. A process that ends, or does not
            answer in time, is replaced, and the result's ``note`` says so. Threads that share an agent are
            answered one after the other. On this machine at most eight for each processor, or 64.
    """

    workers: int | str = converted(1, make_workers, 'a whole number of at least 1, "ray", or "ray:N"', "processes")


class _Pools(TransientState):
    """The processes that search for an agent, which end with it."""

    def __init__(self) -> None:
        self.by_owner: dict[int, WorkerPool] = {}
        """By the process that has started them: a fork of it starts its own."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WorkerAgent(SearchAgent):
    """An agent that searches in this process, or with ``workers`` in others, of whose answers it makes one."""

    _pools: _Pools = field(init=False, default_factory=_Pools)

    workers = cast("int | str", 1)  # a setting of some

    def require_one_worker(self, name: str, function: Any) -> None:
        if self.workers != 1 and function is not None:
            raise InvalidSettingError(
                f"{name} is not called where several processes search: leave it out, or search with workers=1"
            )

    def check_fit(self, env: Any, view: Any = None) -> None:
        super().check_fit(env, view)
        if isinstance(self.workers, str):
            from zermelo.envs.support.ray_cluster import import_ray

            import_ray()

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        if (pool := self._pools.by_owner.get(os.getpid())) is not None:
            pool.played = None

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        if self.workers == 1:
            super().prepare(env, seconds)
            self.brief(self.seconds_to_prepare(env, seconds)).search(env)
            return
        root = position(env, backend=self.backend, traits=self.traits, patience=seconds)
        self.check_game(root.game)
        require_decision(root.game, root.state)
        pool = self._pool()
        try:
            with pool.lock:
                pool.show(root.game, lambda: self.unseen_dealt(root.game, root.state, 0))
        except RecursionError:
            raise GameTooLongError(root.game, advice=self.advice_if_too_long(root.game.traits)) from None

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        if self.workers == 1:
            return request.result(budget, **self.found_alone(request, budget))
        game, state = request.game, request.state
        seed, draw, generators = self.drawn()
        pool, asked = self._pool(), budget.now()
        with pool.lock:
            budget.delay(budget.now() - asked)
            with budget.off_the_clock():
                pool.show(game, lambda: self.unseen_dealt(game, state, 0))
            answers = pool.search(request, self.unseen_dealt(game, state, seed), budget, generators)
            news, found = pool.news(), self.found_together(request, answers, draw)
            pool.played = found["action"]
        if news:
            warnings.warn(news, RuntimeWarning, stacklevel=2)
        failures = sum(answer.failures for answer in answers) + copy_facts(game).failures
        found["stats"] |= {"workers": len(answers)}
        return request.result(budget, **found, failures=failures, note=news)

    def _pool(self) -> WorkerPool:
        from zermelo.agents.workers.pool import WorkerPool

        pools, owner = self._pools.by_owner, os.getpid()
        if owner not in pools:
            alone: dict[str, Any] = {"workers": 1}
            pool = WorkerPool(dataclasses.replace(self, **alone), self.workers)
            if pools.setdefault(owner, pool) is pool:  # else another thread was faster
                weakref.finalize(self, pool.end)
        return pools[owner]

    def brief(self, seconds: float | None = None) -> Self:
        """An agent of the same settings that searches as little as can be, for so many seconds at most."""
        raise NotImplementedError

    def found_alone(self, request: Request, budget: Budget) -> dict[str, Any]:
        """Searches in this process alone. Returns the arguments of ``Request.result``."""
        raise NotImplementedError

    def answered(self, request: Request, budget: Budget, news: News) -> WorkerAnswer:
        """Searches in a worker process. Returns the answer that it sends to the main process."""
        raise NotImplementedError

    def found_together(self, request: Request, answers: Sequence[Any], draw: float) -> dict[str, Any]:
        """Merges the answers of all processes. Returns the arguments of ``Request.result``."""
        raise NotImplementedError

    def drawn(self) -> tuple[int, float, Callable[[int], Sequence[np.random.Generator]]]:
        """Draws a seed and a number below 1 for this process, and so many generators for the others."""
        seed, draw = int(self.generator.integers(2**62)), float(self.generator.random())

        def generators(count: int) -> list[np.random.Generator]:
            seeds = np.random.SeedSequence(seed).generate_state(count, np.uint64)
            return [np.random.default_rng(int(own)) for own in seeds]

        return seed, draw, generators

    def unseen_dealt(self, game: Game[Any], state: Any, seed: int) -> Any:
        """The state as other processes are sent it: where cards are hidden, with others that suit as well."""
        return state

    def begin(self, limits: Limits, generator: np.random.Generator, played: int | None) -> None:
        """Prepares the next search, a part of another agent's; it goes on with the last one after ``played``."""
        self._time.limits, self._game.generator = limits, generator
