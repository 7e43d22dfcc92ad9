"""Processes that search one position at once for an agent.

Each process has an agent, and what it keeps between moves, such as a tree. ``process_link`` and ``ray_link`` have
the ways to the processes, ``worker_process`` has the other end.

A process that ends, or stands still, costs a search its share of the search and no more: the others answer,
the result says so, and another process takes its place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import pickle
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import cloudpickle
import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.machine import default_threads
from zermelo.agents.base.request import Request
from zermelo.agents.workers.orders import WorkerAnswer, WorkerOrder, shares_of
from zermelo.agents.workers.process_link import ProcessLink, WorkerLink, start_processes
from zermelo.envs.adapters.sending import pack_game, pack_state
from zermelo.envs.clone.packing import NOT_PACKED
from zermelo.envs.errors import (
    EnvFailedError,
    EnvFailureWarning,
    InvalidSettingError,
    UnsupportedGameError,
    warn_once,
)

_POLL: Final = 0.02
"""Seconds after which a search that waits looks whether it should end."""
_GRACE: Final = 0.5
"""Seconds after the end of a search that its processes have to answer, if each has a processor."""
_FIRST_ANSWER: Final = 10.0
"""Seconds that they have while none has answered: a step of an environment may take long."""
_ALIKE: Final = 3.0
_AT_LEAST: Final = 10.0
"""Without a time limit the others may take ``_ALIKE`` times as long as one that has done its share, and at least
so many seconds."""
_START: Final = 60.0
"""Seconds that a process has to start where others search already, so that nothing has to be compiled."""


class WorkerPool:
    """Processes that search for one agent. Whoever uses them holds the ``lock`` meanwhile.

    Attributes:
        lock: An agent that several threads use answers one after the other.
        played: The action that was played after the last search; None to forget its trees.
        owner: The id of the process that started them.
    """

    def __init__(self, agent: Any, workers: int | str) -> None:
        try:
            self._agent = bytes(cloudpickle.dumps(agent))
        except Exception as error:
            raise InvalidSettingError(
                f"{agent.name} cannot be sent to other processes ({type(error).__name__}: {error}): give settings "
                "by name, or search with workers=1"
            ) from error
        self.lock = threading.Lock()
        self.owner = os.getpid()
        self.played: int | None = None
        self._workers = workers
        self._wanted = workers if isinstance(workers, int) else 0  # on Ray the cluster says how many
        self._links: list[WorkerLink] = []
        self._number = 0
        self._news: list[str] = []
        self._is_over = False

    @property
    def pids(self) -> list[int]:
        """The ids of the processes on this machine."""
        return [link.process.pid for link in self._links if isinstance(link, ProcessLink)]

    def show(self, game: Any, deal: Callable[[], Any]) -> None:
        """Starts the processes that are missing, and has those that do not know the game make a short search.

        ``deal`` gives a state to search.
        """
        name, count = game.traits.name, len(self._links)
        with self._or_none():
            lost = {link: loss for link in self._links if (loss := link.loss())}
            greeted = [link for link in self._links if link not in lost and link.game is not None]
            lost |= self._exchange("greet", dict.fromkeys(greeted, b""))[1]
            self._remove(lost)
        if lost:
            self._news.append(f"{_loss_text(lost, count, name)} before it began, and new ones took their places")
        self._start()
        new = [link for link in self._links if link.game is not game and link.game != game]
        if not new:
            return
        try:
            state = deal()
            packed = pack_game(game, state), pack_state(state)
        except NOT_PACKED as error:
            raise _not_sent(name, error) from error
        known, first = (pickle.dumps((agent, *packed)) for agent in (None, self._agent))
        with self._or_none():
            requests = {link: first if link.game is None else known for link in new}
            self._ask("show", requests, name, most=math.inf if len(new) == len(self._links) else _START)
        for link in new:
            link.game = game

    def search(
        self,
        request: Request,
        state: Any,
        budget: Budget,
        generators: Callable[[int], Sequence[np.random.Generator]],
    ) -> list[WorkerAnswer]:
        """Searches a state of the game that was shown, as it is sent; ``generators`` gives each process one."""
        name = request.game.traits.name
        try:
            packed = pack_state(state)
        except NOT_PACKED as error:
            raise _not_sent(name, error) from error
        count = len(self._links)
        limits = request.limits
        shares = [limits] * count if request.ponders else shares_of(limits, count)
        orders = {
            link: WorkerOrder(packed, own, share, request.share, request.ponders, self.played, request.seat, rank)
            for rank, (link, share, own) in enumerate(zip(self._links, shares, generators(count), strict=True))
            if share is not None
        }
        self.played = None
        with self._or_none():
            parts: list[WorkerAnswer] = self._ask("search", orders, name, budget)
        if isinstance(self._workers, int):
            self._start()  # what was lost; it gets ready until the next search
        budget.nodes += sum(part.nodes for part in parts)
        return parts

    def news(self) -> str:
        """Returns what became of processes since it was last asked, in sentences; empty if nothing did."""
        news, self._news = self._news, []
        return "; ".join(news)

    def _start(self) -> None:
        """Starts the processes that are missing, unless there are others and no more can be had."""
        missing = self._wanted - len(self._links)
        if self._is_over or (self._wanted and not missing):
            return
        try:
            if isinstance(self._workers, int):
                start_processes(missing, self._links)
            else:
                from zermelo.agents.workers.ray_link import start_on_ray

                count = self._workers.partition(":")[2]
                self._links += start_on_ray(missing or (int(count) if count else None))
                self._wanted = len(self._links)
        except EnvFailedError as error:
            if not self._links:
                raise
            self._news.append(f"only {len(self._links)} of {self._wanted} processes search: {error}")
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def _or_none(self) -> Iterator[None]:
        """Ends the processes where an error, or Ctrl-C, comes between."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _ask(
        self,
        name: str,
        requests: Mapping[WorkerLink, Any],
        game: str,
        budget: Budget | None = None,
        most: float = math.inf,
    ) -> list[Any]:
        """The answers to one request to each process, in order, of those that answer."""
        count = len(self._links)
        answers, lost = self._exchange(name, requests, budget, most)
        found = self._checked(answers, game)
        self._remove(lost)
        text = _loss_text(lost, count, game)
        if not found and (name == "search" or not self._links):
            raise EnvFailedError(f"{text}: search with workers=1 to see why")
        if lost:
            self._news.append(f"{text}: the answer is that of the others, and new ones take their places")
        return found

    def _exchange(
        self, name: str, requests: Mapping[WorkerLink, Any], budget: Budget | None = None, most: float = math.inf
    ) -> tuple[list[Any], dict[WorkerLink, str]]:
        """Answers to one request to each process, in order, and what became of those that gave none.

        None of them takes more than ``most`` seconds.
        """
        self._number += 1
        number, busy = self._number, list(requests)
        wait = _Wait(budget, len(busy), most)
        for link, request in requests.items():
            link.send(name, number, _dated(request, budget) if isinstance(request, WorkerOrder) else request)
        answers: dict[WorkerLink, Any] = {}
        lost: dict[WorkerLink, str] = {}
        while busy:
            for link in busy[0].ready(busy, _POLL):
                try:
                    answer = link.receive(number)
                    told = [(other, message) for message in link.told() for other in busy if other is not link]
                    for other, message in told:
                        other.send("news", number, message)
                    if answer is not None:
                        answers[link] = pickle.loads(answer)
                except (EOFError, OSError):
                    lost[link] = link.loss()
            lost |= {link: "stood still" for link in busy if link not in lost and link.stands_still()}
            busy = [link for link in busy if link not in answers and link not in lost]
            given = [(kind, value) for kind, value, _ in answers.values() if kind != "lost"]
            is_final = any(kind == "error" or (kind == "found" and value.is_final) for kind, value in given)
            if wait.ends_now(len(given), is_final=is_final):
                for link in busy:
                    link.stop(number)
            elif wait.is_late(len(answers)):
                lost |= dict.fromkeys(busy, "did not answer in time")
                break
        lost |= {link: value for link, (kind, value, _) in answers.items() if kind == "lost"}
        return [answers[link] for link in requests if link in answers and link not in lost], lost

    def _checked(self, answers: Sequence[Any], name: str) -> list[Any]:
        for kind, value, said in answers:
            for text in said:
                warn_once(type(self), text, EnvFailureWarning)
            if kind == "error":
                raise value
            if kind == "unreadable":
                raise _not_sent(name, value)
        return [value for _, value, _ in answers]

    def _remove(self, lost: Collection[WorkerLink]) -> None:
        for link in lost:
            link.kill()
        for link in lost:
            link.close()
            self._links.remove(link)

    def close(self) -> None:
        """Ends the processes. Ctrl-C does not keep it from that: it is raised afterwards."""
        self.played = None
        interrupt = None
        while self._links and os.getpid() == self.owner:
            try:
                for link in self._links:
                    link.kill()
                while self._links:
                    self._links[-1].close()
                    self._links.pop()
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def end(self) -> None:
        """Ends the processes for good."""
        self._is_over = True
        self.close()


class _Wait:
    """How long processes are waited for that have not answered yet."""

    def __init__(self, budget: Budget | None, count: int, most: float) -> None:
        self._budget, self._began, self._most = budget, Budget.now(), most
        self._grace = _GRACE * max(1.0, count / default_threads())
        self._answers, self._slowest = 0, 0.0
        self._over: float | None = None

    def ends_now(self, answers: int, *, is_final: bool) -> bool:
        """True once, when processes that have not answered should be stopped; the time ends them unasked."""
        if self._over is not None:
            return False
        now, left = Budget.now(), math.inf if self._budget is None else self._budget.seconds_left
        if answers > self._answers:
            self._answers, self._slowest = answers, now - self._began
        ends = self._is_stopped() or (is_final and self._budget is not None)
        if answers and math.isinf(left):
            ends = ends or now - self._began > max(_AT_LEAST, _ALIKE * self._slowest)
        if ends or left <= 0 or now - self._began > self._most:
            self._over = now
        return ends

    def is_late(self, answers: int) -> bool:
        """True when those that have not answered yet are given up."""
        return self._over is not None and Budget.now() - self._over > (self._grace if answers else _FIRST_ANSWER)

    def _is_stopped(self) -> bool:
        budget = self._budget
        while budget is not None:
            if budget.stop.is_set:
                return True
            budget = budget.within
        return False


def _dated(order: WorkerOrder, budget: Budget | None) -> bytes:
    """An order with the seconds that are left now."""
    left = math.inf if budget is None else budget.seconds_left
    if math.isfinite(left) and not order.ponders:
        order = order._replace(limits=dataclasses.replace(order.limits, seconds=max(left, 1e-3)))
    return pickle.dumps(order)


def _loss_text(lost: Mapping[WorkerLink, str], count: int, name: str) -> str:
    how = " and ".join(dict.fromkeys(lost.values()))
    who = f"all {count} processes" if len(lost) == count else f"{len(lost)} of {count} processes"
    return f"{who} that searched {name} {how}"


def _not_sent(name: str, error: Any) -> UnsupportedGameError:
    return UnsupportedGameError(f"{name} cannot be sent to other processes ({error}): search with workers=1")
