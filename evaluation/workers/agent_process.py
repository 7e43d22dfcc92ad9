"""Inside an agent's process: makes the agent, asks it, and answers with plain values.

Requests come from the worker and are trusted; they are pickled triples of a name, its value and a clock:

* ``make``: the agent's source, the module path, the limit on memory
* ``show``: for a rehearsal an environment, for the sake of what it imports, or an empty view; and what random
  play has shown of such environments
* ``fit``: an environment, or what the player to move sees and may do: can the agent play there?
* ``reset``: the seed
* ``act``: an environment to choose an action in
* ``see``: what the player sees, for an agent that needs no more; with both goes what the clocks show, or None
* ``rest``: no more pondering, as the game is over; every other request ends it too
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import GameClock
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.policies.engines import START_SECONDS
from zermelo.agents.policies.policy import ViewAgent
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import CloneError, UnsupportedGameError, ZermeloError
from zermelo.envs.live.wrappers import innermost, is_aec
from zermelo.evaluation.match.faults import choose, fault_kind, is_of_the_env, sentence, tell_clock, traceback_text
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.readiness import rehearse
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.sources import build_agent
from zermelo.evaluation.workers.forked_process import read_frame, write_frame
from zermelo.evaluation.workers.meters import children, is_zombie
from zermelo.evaluation.workers.shipping import pack_answer
from zermelo.evaluation.workers.work import seed_globals

GRACE: Final = 0.25
"""Seconds that what an agent started has to end after the answer."""


def serve(requests: int, answers: int, output: int) -> None:
    """Answers requests until there are no more."""
    _seclude(output)
    agent = _Child()
    while (frame := read_frame(requests)) is not None:
        name, value, clock = pickle.loads(frame)
        write_frame(answers, pack_answer(agent.answer(name, value, clock)))
        agent.go_on(name)


def _seclude(output: int) -> None:
    """Sends what is written to the worker, reads nothing, and says where it was when it dies."""
    import resource

    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(nothing)
    os.close(output)
    for number in (signal.SIGTERM, signal.SIGHUP):  # programs that the agent starts would ignore them too
        signal.signal(number, signal.SIG_DFL)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_memory(mebibytes: int) -> None:
    """A hard limit far enough up that the worker, which watches what is resident, is the one to judge.

    It stops one sudden great allocation, which no watcher could be in time for.
    """
    import resource

    own = 0
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/self/status").read_text().splitlines()
        own = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
    limit = own + mebibytes * 2**20
    with contextlib.suppress(ValueError, OSError):  # a lower limit is in force already
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


class _Child:
    def __init__(self) -> None:
        self._agent: Any = None
        self._env: Any = None  # what it was shown last
        self._allowed: set[Any] = set()
        self._ponders = False
        self._clock: GameClock | None = None

    def answer(self, name: str, value: Any, clock: GameClock | None) -> dict[str, Any]:
        method: Callable[[Any], dict[str, Any]] = getattr(self, f"_{name}")
        try:
            if self._ponders:
                self._agent.stop_pondering()
            self._clock = clock
            answer = method(value)
        except BaseException as error:  # SystemExit and KeyboardInterrupt of the agent's own are its failures too
            answer = self._raised("act" if name == "see" else name, error)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the agent may have put anything in their place
                stream.flush()
        return answer

    def _make(self, value: dict[str, Any]) -> dict[str, Any]:
        sys.path[:] = value["path"]
        if value["memory_mb"] is not None:
            _limit_memory(value["memory_mb"])
        START_SECONDS.set(value["start_seconds"])
        source = pickle.loads(value["source"])
        self._agent = build_agent(source)
        is_ours = isinstance(self._agent, ConfiguredAgent)
        self._ponders = value["ponder"] and is_ours
        self._allowed = {*_running()}
        name = getattr(self._agent, "name", None)
        needs = getattr(self._agent, "needs", "environment")
        try:
            parts = fingerprint(source, self._agent)
        except Exception:  # the agent may answer to any attribute in any way
            parts = fingerprint(source)
        called = None if name is None else str(name)
        has_children = bool(children(os.getpid()))
        return {
            "name": called,
            "needs": str(needs),
            "fingerprint": parts,
            "is_ours": is_ours,
            "has_children": has_children,
        }

    def _fit(self, shown: bytes) -> dict[str, Any]:
        asked = pickle.loads(shown)
        if isinstance(self._agent, ViewAgent):
            self._agent.check_view(*asked)
        else:
            self._agent.check_fit(asked)
        return {}

    def _show(self, shown: bytes) -> dict[str, Any]:
        rehearse(self._agent, pickle.loads(shown))
        return {}

    def _reset(self, seed: int) -> dict[str, Any]:
        seed_globals(seed)
        self._agent.reset(seed)
        self._allowed = {*_running()}
        return {}

    def _rest(self, _: None) -> dict[str, Any]:
        return {}

    def go_on(self, name: str) -> None:
        if self._ponders and name == "act":
            self._agent.ponder()

    def _act(self, value: bytes) -> dict[str, Any]:
        env = self._env = pickle.loads(value)
        ours = type(self._agent).__module__.startswith("zermelo.agents.")
        before = None if ours else shown_position(env)
        answer = self._timed(lambda: choose(self._agent, env))
        if not ours and shown_position(env) != before:
            answer["changed"] = True
        return answer | self._left()

    def _see(self, value: bytes) -> dict[str, Any]:
        view = pickle.loads(value)
        return self._timed(lambda: (self._agent.act_on(view), ())) | self._left()

    def _timed(self, decide: Callable[[], tuple[Any, tuple[Any, ...]]]) -> dict[str, Any]:
        began = time.perf_counter()
        if self._clock is not None:
            tell_clock(self._agent, self._clock)
        action, figures = decide()
        return {"action": action, "figures": figures, "seconds": time.perf_counter() - began}

    def _left(self) -> dict[str, Any]:
        ends = time.monotonic() + GRACE
        while left := [thing for thing in _running() if thing not in self._allowed]:
            if time.monotonic() > ends:
                names = [f"process {one}" if isinstance(one, int) else f"thread {one.name}" for one in left]
                kind = "a process" if any(isinstance(thing, int) for thing in left) else "a thread"
                return {"left": kind, "detail": ", ".join(sorted(names))[:1000]}
            time.sleep(0.005)
        return {}

    def _raised(self, method: str, error: BaseException) -> dict[str, Any]:
        category = "agent"
        if isinstance(error, Resignation):
            category = "resigned"
        elif isinstance(error, UnsupportedGameError) and method != "act":
            category = "unsupported"
        elif is_of_the_env(error, self._agent, self._env):
            category = "environment"
        is_ours = isinstance(error, ZermeloError)
        says_it_all = category != "agent" or (is_ours and method in ("make", "fit"))
        return {
            "raised": category,
            "message": str(error) if says_it_all else sentence(method, error),
            "error": type(error).__name__ if is_ours else "",
            "kind": str(fault_kind(error, FailureKind.CRASH)),
            "detail": traceback_text(error),
        }


def _running() -> list[Any]:
    """Threads that Python knows of, and child processes that have not ended.

    Threads of a ``ThreadPoolExecutor`` wait for work and end by themselves: they are not counted, and neither are
    those of native libraries.
    """
    pooled = getattr(sys.modules.get("concurrent.futures.thread"), "_threads_queues", {})
    threads = [thread for thread in threading.enumerate() if thread not in pooled]
    return [*threads, *(pid for pid in children(os.getpid()) if not is_zombie(pid))]


def shown_position(env: Any) -> Hashable:
    """All that the players of an AEC environment can see and know, or a Gymnasium environment's whole state.

    Not the whole state of an AEC environment: many remember things while they are only looked at.
    """
    if not is_aec(env):
        try:
            return state_key(env)
        except CloneError:
            return None
    inner = innermost(env)
    fields = ("agents", "agent_selection", "terminations", "truncations", "rewards", "_cumulative_rewards")
    public = [_value(getattr(inner, name, None)) for name in fields]
    seen: list[Hashable] = []
    for agent in list(getattr(inner, "agents", ())):
        with contextlib.suppress(Exception):  # some environments cannot show an agent what it has no turn to see
            seen.append(_value(inner.observe(agent)))
    return (tuple(public), tuple(seen))


def _value(thing: Any) -> Hashable:
    if isinstance(thing, np.ndarray):
        return (thing.shape, thing.dtype.str, thing.tobytes())
    if isinstance(thing, Mapping):
        return tuple((str(key), _value(item)) for key, item in thing.items())
    if isinstance(thing, list | tuple):
        return tuple(map(_value, thing))
    return thing if isinstance(thing, int | str | bytes | None) else repr(thing)  # repr: nan is to equal nan
