"""Counting what a search spends, and stopping it in time."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from typing import Final

from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.recursion import MAX_PLIES, PLIES_AT_ONCE, make_room
from zermelo.agents.base.settings import Compile

_WORTH_COUNTING: Final = 1e-4
"""Less time off the clock, to find that everything is there already, is part of the search."""


class SearchStopped(Exception):  # noqa: N818 - not an error: how a limit unwinds the recursion
    """A limit was reached inside the tree."""

    def __init__(self, reason: StoppedBy) -> None:
        super().__init__(reason)
        self.reason = reason


class StopFlag:
    """Set by any thread that wants a search to end, which checks it at every node."""

    is_set = False


class Budget:
    """The nodes visited and the time spent by one search, from ``started`` or now on.

    ``stop`` ends it from another thread. Depth is the search's own business.

    Attributes:
        nodes, most_nodes: States visited, and how many may be; infinity without a limit.
        compiling: Seconds that the search waited for compiled rules before its clock started.
        deepest: The most moves below the root that a visited state was.
        within: The budget of a search that this one is a part of: its time and its ``stop`` count here too.
        is_endless: True if only ``stop`` ends the search, whatever the limits, as on the opponent's time.
    """

    def __init__(
        self,
        limits: Limits,
        started: float | None = None,
        stop: StopFlag | None = None,
        compile: Compile = Compile.WAIT,  # noqa: A002 - the setting's name
        within: Budget | None = None,
        *,
        endless: bool = False,
    ) -> None:
        self.stop = StopFlag() if stop is None else stop
        self.started = self.now() if started is None else started
        self.limits, self.is_endless = limits, endless
        self._deadline = None if endless or limits.seconds is None else self.started + limits.seconds
        self._latest = math.inf
        self.compile, self.within = compile, within
        self.most_nodes = math.inf if endless or limits.nodes is None else limits.nodes
        self._checked, self._gap = math.inf, 0.0
        self.nodes, self.deepest, self.compiling = 0, 0, 0.0

    def end_within(self, seconds: float) -> None:
        """Ends the search some seconds of a game's clock after its start, which runs while rules compile."""
        limit, began = self.limits.seconds, self.started - self.compiling
        self._latest = began + seconds
        self._deadline = self._latest if limit is None else min(self.started + limit, self._latest)

    now = staticmethod(time.perf_counter)
    """The clock that limits go by, in seconds."""

    @contextlib.contextmanager
    def off_the_clock(self) -> Iterator[None]:
        """Moves the start and the deadline by the time that is spent in it, which is added to ``compiling``."""
        before = self.now()
        try:
            yield
        finally:
            self.delay(self.now() - before)

    @contextlib.contextmanager
    def ending_earlier(self, seconds: float) -> Iterator[None]:
        """Keeps some of the seconds that are left for what comes after the block."""
        kept = 0.0 if self._deadline is None else seconds
        self._latest -= kept
        self._deadline = None if self._deadline is None else self._deadline - kept
        try:
            yield
        finally:
            self._latest += kept
            self._deadline = None if self._deadline is None else self._deadline + kept

    def delay(self, seconds: float) -> None:
        """Moves the start and the deadline by some seconds, unless they are too few to count."""
        if seconds < _WORTH_COUNTING:
            return
        self.compiling += seconds
        self.started += seconds
        if self._deadline is not None:
            self._deadline = min(self._deadline + seconds, self._latest)
        if self.within is not None:
            self.within.delay(seconds)

    def waits(self) -> bool:
        return self.compile is Compile.WAIT and not self.stop.is_set

    @property
    def seconds(self) -> float:
        return self.now() - self.started

    @property
    def nodes_left(self) -> float:
        return self.most_nodes - self.nodes

    @property
    def seconds_left(self) -> float:
        """How much time is left; infinity without a limit."""
        left = math.inf if self._deadline is None else self._deadline - self.now()
        return left if self.within is None else min(left, self.within.seconds_left)

    def visit(self, ply: int) -> None:
        """Counts one node, ``ply`` moves below the root, unless a limit forbids it.

        Raises:
            SearchStopped: A limit is reached; the node is not counted.
            RecursionError: The node is too far below the root.
        """
        if self.nodes >= self.most_nodes:
            raise SearchStopped(StoppedBy.NODES)
        if self._deadline is not None or self.within is not None or self.stop.is_set:
            self.check_clock()
        self.nodes += 1
        if ply > self.deepest:
            if ply > MAX_PLIES:
                raise RecursionError
            if ply % PLIES_AT_ONCE == 0:
                make_room()
            self.deepest = ply

    def check_clock(self) -> None:
        """For long work inside one node, such as playouts.

        Raises:
            SearchStopped: The time is up, or will be before the next call if that comes as late as one of the
                last two did; or another thread wants the search to end.
        """
        if self.within is not None:
            self.within.check_clock()
        if self.stop.is_set:
            raise SearchStopped(StoppedBy.INTERRUPT)
        if self._deadline is None:
            return
        now = self.now()
        before, self._gap, self._checked = self._gap, now - self._checked, now
        if now + max(before, self._gap) >= self._deadline:
            raise SearchStopped(StoppedBy.SECONDS)
