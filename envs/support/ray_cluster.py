"""A Ray cluster: how this process is connected to it, and what runs there."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

from zermelo.envs.support.installing import optional_import


class ClusterError(Exception):
    """There is no connection to a cluster; the message says why."""


def import_ray() -> Any:
    """Ray itself; ``MissingDependencyError`` where it is not installed."""
    return optional_import("ray", "ray", "ray")


def connect(address: str | None, workers: int | None) -> Any:
    """Ray, connected to a cluster; a connection that there is already is used.

    Args:
        address: The cluster's; by default that of ``RAY_ADDRESS``, else a local cluster is started.
        workers: The processors of a local cluster; by default those of this machine.

    Raises:
        MissingDependencyError: Ray is not installed.
        ClusterError: There is no cluster at that address, or none can be started.
    """
    ray = import_ray()
    if ray.is_initialized():
        return ray
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray tells its makers of a cluster that it starts
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # otherwise a FutureWarning
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address == "local":
        settings |= {"num_cpus": workers, "include_dashboard": False}
    try:
        _knock(address)
        ray.init(address, **settings)
    except Exception as error:  # Ray raises it as such where a node does not start in time
        what = "start a" if address == "local" else "connect to a"
        where = "on this machine" if address == "local" else f"at {address!r}"
        raise ClusterError(f"cannot {what} Ray cluster {where}: {last_line(error)}") from error
    return ray


def processors(ray: Any) -> int:
    """How many processors the cluster has now."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def as_remote(ray: Any, kind: Any, **options: int) -> Any:
    """A function or a class for the cluster: a processor for each call or instance, spread over the nodes."""
    return ray.remote(num_cpus=1, scheduling_strategy="SPREAD", **options)(kind)


def last_line(error: BaseException) -> str:
    """The last line of an error's message: Ray's tell a long story first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _knock(address: str) -> None:
    """Raises an ``OSError`` if nobody answers at ``host:port``: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
