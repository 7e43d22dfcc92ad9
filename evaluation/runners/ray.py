"""Plays games on a Ray cluster: one that is there already, by its address, or a local one.

The process that runs the tournament hands out games in batches and is the only one to keep anything. What a game
is does not depend on where it is played, and a record says by its id which one it is, so a batch whose worker or
node is lost is simply played again, elsewhere. Ray's own retries are off: a batch is tried ``TRIES`` times, and
then the run ends with a ``WorkerError`` (with a folder, the same command goes on from there). The nodes that
cannot be lost are the cluster's head and the one that this process runs on.

An agent that ends its process takes a Ray worker with it, which cannot be told from a lost node. From its second
trial on a batch is therefore played in a process that the Ray worker watches, where such an end has a name and a
seat that is charged for it, as it has without Ray; so are all later games of the agent. Agents that are isolated
have processes of their own on the node.

Batches are as large as can be played in about ``BATCH_SECONDS``, and only two for each processor of the cluster
are under way, so that memory is bounded whatever the number of games.

``ray`` is imported only when a runner is made.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import logging
import math
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import cloudpickle

from zermelo.envs import InvalidSettingError, MissingDependencyError, ZermeloError
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.match.record import FailureKind, GameRecord
from zermelo.evaluation.runners.processes import ProcessRunner, Waiting
from zermelo.evaluation.runners.serial import GamePlayer
from zermelo.evaluation.runners.worker import sendable
from zermelo.evaluation.schedule import ScheduledGame

TRIES: Final = 5
"""How often a batch is handed out before the run gives up."""
BATCH_SECONDS: Final = 1.0
LARGEST_BATCH: Final = 500
AHEAD: Final = 2
"""Batches under way for each processor, so that a worker finds the next one waiting."""
RECOUNT: Final = 5.0
"""Seconds after which the cluster's processors are counted again: nodes come and go."""
QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray would tell its makers of a cluster that it starts
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # otherwise a FutureWarning
}
"""Environment variables for Ray, where they are not set."""


@dataclass
class _Batch:
    games: list[ScheduledGame]
    tries: int = 0


@dataclass(frozen=True)
class _Answer:
    """What a task returns.

    Attributes:
        records: Of the games that were played.
        seconds: What they took, in all.
        error: What the next game raised that no other game could do better.
    """

    records: list[GameRecord]
    seconds: float
    error: ZermeloError | None = None


class RayRunner:
    """Plays on a Ray cluster; as many games at once as it has processors.

    A process that is connected to a cluster already uses that connection, and keeps it. Otherwise it is connected
    while games are played.

    Args:
        player: What plays; the nodes must have the modules that it names, and this package in the same version.
        workers: The most games played at once; None for as many as the cluster has processors.
        address: The cluster's; by default that of the variable ``RAY_ADDRESS``, and otherwise a local cluster is
            started, of that many workers.

    Raises:
        MissingDependencyError: Ray is not installed.
        InvalidSettingError: The player cannot be sent to other machines.
    """

    def __init__(self, player: GamePlayer, workers: int | None = None, address: str | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingDependencyError('ray is not installed: pip install "zermelo[ray]"') from error
        self._ray: Any = ray
        self._workers = workers
        self._address = address or os.environ.get("RAY_ADDRESS") or "local"
        try:
            self._pickled = cloudpickle.dumps(player)
        except Exception as error:
            raise InvalidSettingError(
                f"the environment or an agent cannot be sent to other machines ({type(error).__name__}: {error}): "
                "give names, or functions that make them"
            ) from error
        self._deadly = set[str]()  # agents that ended a process

    def play(self, games: Sequence[ScheduledGame]) -> Iterator[GameRecord]:
        """The records as batches of games end. When the iterator ends or is closed, nothing more is played.

        Raises:
            WorkerError: The cluster cannot be reached, cannot play, or lost a batch too often.
            ZermeloError: What a game raised that no other game could do better.
        """
        if not games:
            return
        with self._connected():
            task = self._ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(play_batch)
            player = self._ray.put(self._pickled)
            order = _Order(hashlib.sha256(self._pickled).hexdigest(), [player], _folders(), _version())
            waiting, lost = Waiting(games), deque[_Batch]()
            under_way: dict[Any, _Batch] = {}
            size, counted, slots = 1, -math.inf, 1
            try:
                while waiting or lost or under_way:
                    if time.monotonic() > counted + RECOUNT:
                        counted, slots = time.monotonic(), self._slots()
                    while (waiting or lost) and len(under_way) < slots:
                        # Fewer games towards the end, so that all workers end together.
                        count = min(size, math.ceil(len(waiting) / slots))
                        batch = lost.popleft() if lost else _Batch(waiting.take(count))
                        under_way[task.remote(order, batch.games, self._is_dangerous(batch))] = batch
                    # Not for ever, so that new nodes are noticed, and Ctrl-C on every system.
                    ended, _ = self._ray.wait(list(under_way), num_returns=1, timeout=1.0)
                    for ref in ended:
                        batch = under_way.pop(ref)
                        answer = self._answer(ref, batch)
                        if answer is None:
                            lost.append(batch)
                            continue
                        yield from answer.records
                        if answer.error is not None:
                            raise answer.error
                        if batch.tries:
                            self._deadly.update(_crashed(answer.records))
                        else:
                            size = _next_size(len(batch.games), answer.seconds)
            finally:
                self._cancel(under_way)

    def _slots(self) -> int:
        """How many batches to have under way."""
        slots = AHEAD * max(1, int(self._ray.cluster_resources().get("CPU", 0)))
        # On a cluster that is not ours, what is handed out is all that keeps to the number of workers.
        return slots if self._workers is None or self._address == "local" else min(slots, self._workers)

    def _is_dangerous(self, batch: _Batch) -> bool:
        return batch.tries > 0 or any(not self._deadly.isdisjoint(game.seats) for game in batch.games)

    def _answer(self, ref: Any, batch: _Batch) -> _Answer | None:
        """What came of the batch; None if it is to be tried again.

        Raises:
            WorkerError: It cannot be.
        """
        try:
            answer: _Answer = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            raise WorkerError(
                f"a node of the Ray cluster could not play ({_last_line(error)}): every node needs this package "
                "and the modules of the environment and the agents, in the same versions"
            ) from error
        except self._ray.exceptions.RayError as error:
            batch.tries += 1
            if batch.tries >= TRIES:
                raise WorkerError(
                    f"game {batch.games[0].game_id} was handed out {TRIES} times, and each time its Ray worker "
                    f"was lost (at last: {type(error).__name__}): see to the cluster; with a folder for the run, "
                    "the same command then goes on from here"
                ) from error
            return None
        return answer

    def _cancel(self, under_way: Mapping[Any, _Batch]) -> None:
        for ref in under_way:
            with contextlib.suppress(self._ray.exceptions.RayError):  # it is gone already
                self._ray.cancel(ref, force=True)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """Connects to the cluster, unless this process is already.

        Raises:
            WorkerError: It cannot.
        """
        if self._ray.is_initialized():
            yield
            return
        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
        if self._address == "local":
            settings |= {"num_cpus": self._workers, "include_dashboard": False}
        with _quietly(self._ray):
            try:
                try:
                    _knock(self._address)
                    self._ray.init(self._address, **settings)
                except (OSError, RuntimeError, ValueError) as error:
                    what = "start a" if self._address == "local" else "connect to a"
                    where = "on this machine" if self._address == "local" else f"at {self._address!r}"
                    raise WorkerError(f"cannot {what} Ray cluster {where}: {_last_line(error)}") from error
                yield
            finally:
                self._ray.shutdown()


def _next_size(games: int, seconds: float) -> int:
    """How many games the next batch should have; it grows by steps, since the first games are no fair sample."""
    wanted = int(games * BATCH_SECONDS / max(seconds, 1e-9))
    return max(1, min(wanted, 4 * games, LARGEST_BATCH))


def _crashed(records: Sequence[GameRecord]) -> Iterator[str]:
    for record in records:
        failure = record.failure
        if failure is not None and failure.kind is FailureKind.CRASH and failure.seat is not None:
            yield record.agents[failure.seat]


def _knock(address: str) -> None:
    """Raises an ``OSError`` if nobody answers at ``host:port``: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()


def _folders() -> list[str]:
    """Where this process finds modules."""
    return [path or os.getcwd() for path in sys.path]


def _version() -> str:
    return importlib.metadata.version("zermelo")


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


@contextlib.contextmanager
def _quietly(ray: Any) -> Iterator[None]:
    """Inside, Ray keeps its reports to its log files."""
    added = {name: value for name, value in QUIET.items() if name not in os.environ}
    os.environ.update(added)
    # Of a lost node Ray prints twenty lines of its log to standard output, amid the table that a program may read,
    # and no setting keeps it from that.
    inside = sys.modules.get("ray._private.worker")
    printer = getattr(inside, "print_to_stdstream", None)
    if printer is not None:
        setattr(inside, "print_to_stdstream", lambda *data, **settings: None)  # noqa: B010  # not in Ray's types
    try:
        yield
    finally:
        if printer is not None:
            setattr(inside, "print_to_stdstream", printer)  # noqa: B010  # likewise
        for name in added:
            os.environ.pop(name, None)


# What follows runs in Ray's workers.


@dataclass(frozen=True)
class _Order:
    """What all tasks of a run are told.

    Attributes:
        key: Tells one player from another.
        player: A reference to the pickled player, in a list: only who lacks the player fetches it.
        folders: Where the driver finds modules; those that are not on this node do no harm.
        version: This package's, at the driver.
    """

    key: str
    player: list[Any]
    folders: list[str]
    version: str


_players: dict[str, GamePlayer] = {}
"""A worker's: making agents and environments takes longer than many a game, and a worker plays many batches."""


def play_batch(order: _Order, games: Sequence[ScheduledGame], is_dangerous: bool) -> _Answer:
    """Plays the games one after another; in another process if one of them may end it."""
    if _version() != order.version:
        error = WorkerError(
            f"a node of the Ray cluster has zermelo {_version()}, this machine {order.version}: install the same"
        )
        return _Answer([], 0.0, error)
    started = time.perf_counter()
    player = _player(order)
    # The player may have come here by value, out of a script or a notebook.
    runner = ProcessRunner(player, 1, dumps=cloudpickle.dumps) if is_dangerous else None
    records: list[GameRecord] = []
    try:
        for record in map(player.play, games) if runner is None else runner.play(games):
            records.append(record)
    except ZermeloError as error:
        return _Answer(records, time.perf_counter() - started, sendable(error))
    return _Answer(records, time.perf_counter() - started)


def _player(order: _Order) -> GamePlayer:
    if order.key not in _players:
        import ray

        for other in _players.values():
            other.close()
        _players.clear()
        sys.path.extend(folder for folder in order.folders if folder not in sys.path)
        _players[order.key] = cloudpickle.loads(ray.get(order.player[0]))
    return _players[order.key]
