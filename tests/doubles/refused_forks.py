"""Loaded by a fork server before it forks: its next fork is refused, as where there are processes enough."""

import errno
import os

from doubles.processes import wait

__all__ = ["wait"]

_fork = os.fork


def _refused():
    os.fork = _fork
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


os.fork = _refused
