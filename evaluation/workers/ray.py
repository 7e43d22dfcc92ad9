"""Tasks on a Ray cluster: one that is there already, by its address, or a local one.

This process hands out items in batches, as many at once as the cluster has processors, and is the only one to
store anything. A batch whose worker or node is lost is done again, elsewhere, ``TRIES`` times; then the run ends
with a ``WorkerError``. The cluster's head and the node of this process cannot be lost.

An agent that ends its process takes a worker with it, which cannot be told from a lost node. From its second trial
on a batch therefore runs in a process that the worker watches, where such an end is charged to a seat, as it is
without Ray.

``ray`` is imported only when a runner is made.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import math
import sys
import time
import weakref
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from typing import Any, Final, NamedTuple

import cloudpickle

from zermelo.agents.base.tasks import PureWork
from zermelo.envs.errors import InvalidSettingError, ZermeloError
from zermelo.envs.support.local_modules import search_path
from zermelo.envs.support.ray_cluster import ClusterError, as_remote, connect, import_ray, last_line, processors
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.workers.pool import ProcessRunner, sendable
from zermelo.evaluation.workers.work import Item, Result, Waiting, Work

TRIES: Final = 5
"""How often a batch is handed out before the run gives up."""
BATCH_SECONDS: Final = 1.0
LARGEST_BATCH: Final = 500
RECOUNT: Final = 5.0
"""Seconds after which the cluster's processors are counted again: nodes come and go."""


class _Batch(NamedTuple):
    items: list[Any]
    tries: int = 0


class RayRunner:
    """Runs tasks on a Ray cluster.

    A process that is connected to a cluster already uses that connection, and keeps it. Otherwise it is connected
    from the first run on for as long as there is this runner.

    Args:
        workers: The most tasks at once; None for as many as the cluster has processors.
        address: The cluster's; by default that of ``RAY_ADDRESS``, else a local cluster of that many workers.
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ray = import_ray()
        self.workers = workers
        self._address = address

    def run(self, work: Work[Item, Result], items: Sequence[Item]) -> Generator[Result]:
        """Yields results as batches end; see ``Runner``. The nodes must have the modules that the work names."""
        try:
            pickled = cloudpickle.dumps(work)
        except Exception as error:
            raise InvalidSettingError(
                f"the environment or an agent cannot be sent to other machines ({type(error).__name__}: {error}): "
                "give names, or functions that make them"
            ) from error
        if not self._ray.is_initialized():
            self._connect()
        yield from self._run(pickled, items)

    def _run(self, pickled: bytes, items: Sequence[Any]) -> Generator[Any]:
        ray = self._ray
        task = as_remote(ray, run_batch, max_retries=0)
        key, work = hashlib.sha256(pickled).hexdigest(), ray.put(pickled)
        waiting, lost, busy = Waiting(items), deque[_Batch](), dict[Any, _Batch]()
        size, counted, wanted = 1, -math.inf, 1
        try:
            while waiting or lost or busy:
                if time.monotonic() > counted + RECOUNT:
                    counted, wanted = time.monotonic(), self._wanted()
                while len(busy) < wanted and (waiting or lost):
                    # Fewer items towards the end, so that all workers end together.
                    count = min(size, math.ceil(len(waiting) / wanted))
                    batch = lost.popleft() if lost else _Batch(waiting.take(count))
                    ref = task.remote(key, work, batch.items, batch.tries > 0, search_path(), _version())
                    busy[ref] = batch
                # Not for ever, so that new nodes are noticed, and Ctrl-C on every system.
                ended, _ = ray.wait([*busy], num_returns=1, timeout=1.0)
                for ref in ended:
                    batch = busy.pop(ref)
                    try:
                        results, seconds, failure = ray.get(ref)
                    except ray.exceptions.RayTaskError as error:
                        raise WorkerError(
                            f"a node of the Ray cluster cannot work ({last_line(error)}): every node needs this "
                            "package and the modules of the environment and the agents, in the same versions"
                        ) from error
                    except ray.exceptions.RayError as error:
                        lost.append(_tried(batch, error))
                        continue
                    yield from results
                    if failure is not None:
                        raise failure
                    if not batch.tries:
                        # By steps, since the first items are no fair sample.
                        fitting = int(len(batch.items) * BATCH_SECONDS / max(seconds, 1e-9))
                        size = max(1, min(fitting, 4 * len(batch.items), LARGEST_BATCH))
        finally:
            for ref in busy:
                ray.cancel(ref, force=True)

    def _wanted(self) -> int:
        most = processors(self._ray)
        return most if self.workers is None else min(most, self.workers)

    def _connect(self) -> None:
        weakref.finalize(self, self._ray.shutdown)
        try:
            connect(self._address, self.workers)
        except ClusterError as error:
            raise WorkerError(str(error)) from error


def _tried(batch: _Batch, error: Exception) -> _Batch:
    if batch.tries + 1 >= TRIES:
        raise WorkerError(
            f"{batch.items[0]!s:.200} was handed out {TRIES} times, and each time its Ray worker was lost (at "
            f"last: {type(error).__name__}): see to the cluster; with a folder for the run, the same command then "
            "goes on from here"
        ) from error
    return batch._replace(tries=batch.tries + 1)


def _version() -> str:
    return importlib.metadata.version("zermelo")


_works: dict[str, Work[Any, Any]] = {}
"""The work that this process of a node has, by the hash of its pickle."""


def run_batch(
    key: str, pickled: bytes, items: Sequence[Any], is_dangerous: bool, folders: Sequence[str], version: str
) -> tuple[list[Any], float, ZermeloError | None]:
    """Returns results, seconds in all, and the error that ended the batch; runs on a node.

    Args:
        key: Stands for the work.
        pickled: The work, for processes that do not have it yet.
        items: The tasks.
        is_dangerous: True has agents run in a process that this one watches.
        folders: Where the driver finds modules; those that are not on this node do no harm.
        version: This package's, at the driver.
    """
    if _version() != version:
        raise WorkerError(f"it has zermelo {_version()}, this machine {version}: install the same")
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    if key not in _works:
        while _works:
            _works.popitem()[1].close()
        _works[key] = cloudpickle.loads(pickled)
    started, results, failure = time.perf_counter(), list[Any](), None
    try:
        work = _works[key]
        done: Iterable[Any] = map(work.run, items)
        if is_dangerous and not isinstance(work, PureWork):  # whose own code ends no process
            # The work may have come here by value, out of a script or a notebook.
            done = ProcessRunner(1, dumps=cloudpickle.dumps).run(work, items)
        for result in done:
            results.append(result)
    except ZermeloError as error:
        failure = sendable(error)
    return results, time.perf_counter() - started, failure
