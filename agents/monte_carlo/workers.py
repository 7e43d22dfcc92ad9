"""Monte Carlo searches of one position in several processes at once, whose visits are added up: root parallelism.

Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", Computers and Games (2008). Each process
has an agent, and a tree that it keeps between moves. ``worker_process`` has the other end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Pipe, wait
from typing import Any, Final, Protocol

import cloudpickle
import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.monte_carlo.merging import Order, Part, shares_of
from zermelo.envs.adapters.sending import pack_game, pack_state
from zermelo.envs.clone.packing import NOT_PACKED
from zermelo.envs.errors import (
    EnvFailedError,
    EnvFailureWarning,
    InvalidSettingError,
    UnsupportedGameError,
    ZermeloError,
)
from zermelo.envs.support.local_modules import search_path

_POLL: Final = 0.02
"""Seconds after which a search that waits looks whether it should end."""
_START: Final = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); import json; "
    "sys.path[:] = json.loads(sys.argv[1]); "
    "from zermelo.agents.monte_carlo.worker_process import main; main(*map(int, sys.argv[2:]))"
)


class Link(Protocol):
    """The way to one process."""

    def send(self, name: str, number: int, data: bytes) -> None:
        """Sends a numbered request; raises ``OSError`` where the process has ended."""

    def stop(self, number: int) -> None:
        """Has the search of that number end, with what it has found."""

    def receive(self) -> bytes:
        """Returns the answer to the last request; raises ``EOFError`` or ``OSError`` if the process has ended."""

    def close(self) -> None:
        """Ends the process, and waits until it has ended."""

    def end_text(self) -> str:
        """Says how the process ended."""

    @staticmethod
    def ready(links: Sequence[Any], seconds: float) -> Sequence[Any]:
        """Those of some links that have an answer, or will have none, once there are any or the time is up."""


class ProcessLink:
    """A process on this machine, which runs a fresh interpreter, ignores Ctrl-C and ends with this process."""

    def __init__(self) -> None:
        paths = json.dumps(search_path())
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._pipe, theirs = Pipe()
        with theirs:
            numbers = str(theirs.fileno()), str(os.getpid())
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-c", _START, paths, *numbers],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._said,
                    pass_fds=[theirs.fileno()],
                )
            except OSError as error:
                self._pipe.close()
                raise EnvFailedError(f"a process to search in could not start: {error}") from error

    def send(self, name: str, number: int, data: bytes) -> None:
        self._pipe.send_bytes(pickle.dumps((name, number)))
        self._pipe.send_bytes(data)

    def stop(self, number: int) -> None:
        with contextlib.suppress(OSError):  # it has ended, which will be seen
            self.send("stop", number, b"")

    def receive(self) -> bytes:
        return self._pipe.recv_bytes()

    def close(self) -> None:
        self.process.kill()
        self._pipe.close()
        self._said.close()
        self.process.wait()

    def end_text(self) -> str:
        self.process.kill()  # it may have closed its end only
        code = self.process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip().splitlines()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"{how}: {said[-1]}" if said else how

    @staticmethod
    def ready(links: Sequence[Any], seconds: float) -> Sequence[Any]:
        by_pipe = {link._pipe: link for link in links}
        return [by_pipe[pipe] for pipe in wait([*by_pipe], seconds)]


class Team:
    """Processes that search for one agent.

    Attributes:
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
        self.owner = os.getpid()
        self.played: int | None = None
        self._workers = workers
        self._links: list[Any] = []
        self._game: Any = None
        self._number = self._wanted = 0
        self._warned: set[str] = set()

    @property
    def pids(self) -> list[int]:
        """The ids of the processes on this machine."""
        return [link.process.pid for link in self._links if isinstance(link, ProcessLink)]

    def knows(self, game: Any) -> bool:
        """True if the processes are there and have this game."""
        return bool(self._links) and self._game is not None and (self._game is game or self._game == game)

    def show(self, game: Any, state: Any) -> None:
        """Starts the processes, unless they are there, gives them a game, and has each make a short search."""
        try:
            data = pickle.dumps((pack_game(game, state), pack_state(state)))
        except NOT_PACKED as error:
            raise _not_sent(game.traits.name, error) from error
        if not self._links:
            self._start()
        with self._or_none():
            self._ask("show", [data] * len(self._links), game.traits.name)
        self._game = game

    def restart(self) -> None:
        """Has the next search begin anew, with as many processes as at first."""
        self.played = None
        if self._links and len(self._links) < self._wanted:
            self.close()
            with contextlib.suppress(ZermeloError):  # the next search tries again
                self._start()

    def _start(self) -> None:
        with self._or_none():
            if isinstance(self._workers, int):
                for _ in range(self._workers):
                    self._links.append(ProcessLink())
            else:
                from zermelo.agents.monte_carlo.ray_workers import start_on_ray

                count = self._workers.partition(":")[2]
                self._links = [*start_on_ray(int(count) if count else None)]
            self._wanted = len(self._links)
            self._ask("make", [self._agent] * self._wanted, "a game")

    @contextlib.contextmanager
    def _or_none(self) -> Iterator[None]:
        """Ends the processes where an error, or Ctrl-C, comes between."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def search(self, game: Any, state: Any, budget: Budget, limits: Limits, seed: int) -> list[Part]:
        """Searches a state of the game that was shown; a process that ends is done without, with a warning."""
        try:
            packed = pack_state(state)
        except NOT_PACKED as error:
            raise _not_sent(game.traits.name, error) from error
        seeds = np.random.SeedSequence(seed).generate_state(len(self._links), np.uint64)
        orders = [
            None if share is None else Order(packed, int(own), share, budget.ponders, self.played, budget.seat)
            for share, own in zip(shares_of(limits, len(self._links)), seeds, strict=True)
        ]
        self.played = None
        with self._or_none():
            parts: list[Part] = self._ask("search", orders, game.traits.name, budget)
        budget.nodes += sum(part.nodes for part in parts)
        return parts

    def _ask(self, name: str, requests: Sequence[Any], game: str, budget: Budget | None = None) -> list[Any]:
        """The answers to one request to each process, in order."""
        self._number += 1
        number, links = self._number, list(self._links)
        answers: dict[int, Any] = {}
        busy, lost, is_stopped = {}, [], False
        for place, (link, request) in enumerate(zip(links, requests, strict=True)):
            if request is None:
                continue
            busy[id(link)] = place
            try:
                link.send(name, number, _dated(request, budget) if isinstance(request, Order) else request)
            except OSError:
                del busy[id(link)]
                lost.append(link)
        while busy:
            for link in links[0].ready([link for link in links if id(link) in busy], _POLL):
                place = busy.pop(id(link))
                try:
                    answers[place] = pickle.loads(link.receive())
                except (EOFError, OSError):
                    lost.append(link)
            if budget is not None and not is_stopped and _should_end(budget, answers):
                is_stopped = True
                for link in links:
                    if id(link) in busy:
                        link.stop(number)
        self._links = [link for link in links if link not in lost]
        how = ", ".join(dict.fromkeys(link.end_text() for link in lost))
        for link in lost:
            link.close()
        return self._checked(answers, game, how, len(links))

    def _checked(self, answers: Mapping[int, Any], name: str, how: str, count: int) -> list[Any]:
        for place in sorted(answers):
            kind, value, said = answers[place]
            for text in said:
                if text not in self._warned:
                    self._warned.add(text)
                    warnings.warn(text, EnvFailureWarning, stacklevel=2)
            if kind == "error":
                raise value
            if kind == "unreadable":
                raise _not_sent(name, value)
        if not answers:
            raise EnvFailedError(
                f"all {count} processes that were to search {name} ended ({how}): search with workers=1 to see why"
            )
        if how:
            warnings.warn(
                f"{count - len(self._links)} of {count} processes that searched {name} ended ({how}): the answer "
                "is that of the others, which search alone until the next reset",
                RuntimeWarning,
                stacklevel=2,
            )
        return [answers[place][1] for place in sorted(answers)]

    def close(self) -> None:
        links, self._links, self._game, self.played = self._links, [], None, None
        if os.getpid() == self.owner:
            for link in links:
                link.close()


def _dated(order: Order, budget: Budget | None) -> bytes:
    """An order with the seconds that are left now."""
    left = math.inf if budget is None else budget.seconds_left
    if math.isfinite(left) and not order.ponders:
        order = order._replace(limits=dataclasses.replace(order.limits, seconds=max(left, 1e-3)))
    return pickle.dumps(order)


def _should_end(budget: Budget, answers: Mapping[int, Any]) -> bool:
    """True if the search was stopped; or one has proven the value, and the others would go on by the clock."""
    outer: Budget | None = budget
    while outer is not None:
        if outer.stop.is_set:
            return True
        outer = outer.within
    found = (value for kind, value, _ in answers.values() if kind == "found")
    return math.isfinite(budget.seconds_left) and any(part.stopped_by is StoppedBy.COMPLETED for part in found)


def _not_sent(name: str, error: Any) -> UnsupportedGameError:
    return UnsupportedGameError(f"{name} cannot be sent to other processes ({error}): search with workers=1")
