"""Processes on a Ray cluster that search for an agent: actors, each with a processor of its own."""

from __future__ import annotations

import queue
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from zermelo.envs.errors import EnvFailedError
from zermelo.envs.support.local_modules import search_path
from zermelo.envs.support.ray_cluster import ClusterError, as_remote, connect, last_line, processors

_PATIENCE: Final = 60.0
"""Seconds that the cluster has to start the actors."""
_CALLS: Final = 4
"""How many calls of an actor run at once: a search, what it tells and hears meanwhile, and its end."""


class _Actor:
    """Runs on a node."""

    def __init__(self, paths: Sequence[str]) -> None:
        sys.path.extend(path for path in paths if path not in sys.path)
        from zermelo.agents.workers.worker_process import Worker

        self._told: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._worker = Worker(lambda number, message: self._told.put((number, message)))

    def answer(self, name: str, number: int, data: bytes) -> bytes:
        return self._worker.answer(name, number, data, time.perf_counter())

    def stop(self, number: int) -> None:
        self._worker.stop(number)

    def hear(self, number: int, message: bytes) -> None:
        self._worker.heard.append((number, message))

    def told(self, number: int) -> list[bytes]:
        """News of a search, once there is any, or none after a second."""
        told = []
        try:
            told.append(self._told.get(timeout=1.0))
            while True:
                told.append(self._told.get_nowait())
        except queue.Empty:
            return [message for of, message in told if of == number]

    def is_there(self) -> bool:
        return True


class RayLink:
    """The way to an actor."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self.game: Any = None
        self._ray, self._actor, self._answer, self._is_lost = ray, actor, None, False
        self._number, self._told = 0, None

    def send(self, name: str, number: int, data: bytes) -> None:
        if name == "news":
            self._actor.hear.remote(number, data)
            return
        self._answer, self._number = self._actor.answer.remote(name, number, data), number
        self._told = self._actor.told.remote(number) if name == "search" else None

    def stop(self, number: int) -> None:
        self._actor.stop.remote(number)

    def receive(self, number: int) -> bytes | None:
        try:
            return bytes(self._ray.get(self._answer)) if self._has(self._answer) else None
        except self._ray.exceptions.RayTaskError as error:
            raise EnvFailedError(
                f"a node of the Ray cluster cannot search ({last_line(error)}): every node needs this package and "
                "the modules of the environment, in the same versions"
            ) from error
        except self._ray.exceptions.RayError as error:
            self._is_lost = True
            raise EOFError(str(error)) from error

    def told(self) -> Sequence[bytes]:
        if self._told is None or not self._has(self._told):
            return ()
        try:
            told: list[bytes] = self._ray.get(self._told)
        except self._ray.exceptions.RayError:  # ``receive`` says so too
            self._told = None
            return ()
        self._told = self._actor.told.remote(self._number)
        return told

    def _has(self, answer: Any) -> bool:
        return bool(self._ray.wait([answer], timeout=0)[0])

    def stands_still(self) -> bool:
        return False

    def loss(self) -> str:
        return "ended (a Ray actor was lost)" if self._is_lost else ""

    def kill(self) -> None:
        if self._ray.is_initialized():
            self._ray.kill(self._actor)

    def close(self) -> None:
        self._answer = self._told = None

    @staticmethod
    def ready(links: Sequence[Any], seconds: float) -> Sequence[Any]:
        ray, by_answer = links[0]._ray, {link._answer: link for link in links}
        by_answer |= {link._told: link for link in links if link._told is not None}
        ended, _ = ray.wait([*by_answer], num_returns=1, timeout=seconds)
        return [by_answer[answer] for answer in ended]


def start_on_ray(count: int | None) -> list[RayLink]:
    """Starts so many actors, or as many as the cluster has processors, which is never exceeded.

    The cluster is the one that this process is connected to, else that of the variable ``RAY_ADDRESS``, else one
    that is started here.
    """
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray = connect(None, count)
    except ClusterError as error:
        raise EnvFailedError(str(error)) from error
    finally:
        if is_main and handler is not None:  # Ray sets its own, which no search should leave behind
            signal.signal(signal.SIGTERM, handler)
    most = processors(ray)
    kind = as_remote(ray, _Actor, max_concurrency=_CALLS)
    actors = [kind.remote(search_path()) for _ in range(min(most, count or most))]
    there, missing = ray.wait(
        [actor.is_there.remote() for actor in actors], num_returns=len(actors), timeout=_PATIENCE
    )
    if missing:
        for actor in actors:
            ray.kill(actor)
        raise EnvFailedError(
            f"only {len(there)} of {len(actors)} processes started on the Ray cluster within {_PATIENCE:g} s: ask "
            "for fewer, as workers='ray:2'"
        )
    return [RayLink(ray, actor) for actor in actors]
