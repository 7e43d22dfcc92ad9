"""Processes on a Ray cluster that search for an agent: actors, each with a processor of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, Final

from zermelo.envs.errors import EnvFailedError
from zermelo.envs.support.local_modules import search_path
from zermelo.envs.support.ray_cluster import ClusterError, as_remote, connect, last_line, processors

_PATIENCE: Final = 60.0
"""Seconds that the cluster has to start the actors."""


class _Actor:
    """Runs on a node."""

    def __init__(self, paths: Sequence[str]) -> None:
        sys.path.extend(path for path in paths if path not in sys.path)
        from zermelo.agents.workers.worker_process import Worker

        self._worker = Worker()

    def answer(self, name: str, number: int, data: bytes) -> bytes:
        return self._worker.answer(name, number, data, time.perf_counter())

    def stop(self, number: int) -> None:
        self._worker.stop(number)

    def is_there(self) -> bool:
        return True


class RayLink:
    """The way to an actor."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self.game: Any = None
        self._ray, self._actor, self._answer, self._is_lost = ray, actor, None, False

    def send(self, name: str, number: int, data: bytes) -> None:
        self._answer = self._actor.answer.remote(name, number, data)

    def stop(self, number: int) -> None:
        self._actor.stop.remote(number)

    def receive(self, number: int) -> bytes | None:
        try:
            return bytes(self._ray.get(self._answer))
        except self._ray.exceptions.RayTaskError as error:
            raise EnvFailedError(
                f"a node of the Ray cluster cannot search ({last_line(error)}): every node needs this package and "
                "the modules of the environment, in the same versions"
            ) from error
        except self._ray.exceptions.RayError as error:
            self._is_lost = True
            raise EOFError(str(error)) from error

    def stands_still(self) -> bool:
        return False

    def loss(self) -> str:
        return "ended (a Ray actor was lost)" if self._is_lost else ""

    def kill(self) -> None:
        if self._ray.is_initialized():
            self._ray.kill(self._actor)

    def close(self) -> None:
        self._answer = None

    @staticmethod
    def ready(links: Sequence[Any], seconds: float) -> Sequence[Any]:
        ray, by_answer = links[0]._ray, {link._answer: link for link in links}
        ended, _ = ray.wait([*by_answer], num_returns=1, timeout=seconds)
        return [by_answer[answer] for answer in ended]


def start_on_ray(count: int | None) -> list[RayLink]:
    """Starts so many actors, or as many as the cluster has processors, which is never exceeded.

    The cluster is the one that this process is connected to, else that of the variable ``RAY_ADDRESS``, else one
    that is started here.
    """
    try:
        ray = connect(None, count)
    except ClusterError as error:
        raise EnvFailedError(str(error)) from error
    most = processors(ray)
    kind = as_remote(ray, _Actor, max_concurrency=2)
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
