"""An agent in a process of its own, as the worker sees it.

Everything that the agent can do is noticed from here: while an answer is awaited, one loop watches the clock, the
answer, what is written, what memory is resident, and whether the process still lives. None of that asks for the
agent's help, so native code that holds Python's lock is stopped like anything else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import pickle
import selectors
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any, Final

import cloudpickle
import numpy as np

from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import GameClock
from zermelo.agents.policies.observation import Observation
from zermelo.envs import errors
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.support.local_modules import search_path
from zermelo.evaluation.errors import AgentStartError, EnvironmentFailureError, WorkerError
from zermelo.evaluation.match.clock import too_late
from zermelo.evaluation.match.faults import AgentFault, manner_of_death
from zermelo.evaluation.match.live_game import EnvDriver
from zermelo.evaluation.match.play import RemoteAgent
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.workers.forked_process import AgentProcess, FrameReader, frame
from zermelo.evaluation.workers.meters import resident_mb
from zermelo.evaluation.workers.settings import AgentLimits
from zermelo.evaluation.workers.shipping import pack_env, unpack_answer

_MOVES: Final = ("act", "see")
"""Requests that a clock counts; before the first of them an agent has not started."""
_LATE: Final = 0.5
"""Seconds beyond its limit after which an agent is ended that has not answered: the way of the position to its
process and back takes time that is not its own, and more on a busy machine."""
_LOOK: Final = 0.02
"""Seconds between looks at the memory."""
_LAST_WORDS: Final = 0.3
"""Seconds that a process that is out of time has to say where it was."""
_DUMP: Final = "Fatal Python error: "
"""Beginning of what ``faulthandler`` writes at the end, which says nothing of why an agent did not start."""
_START: Final = 1.0
"""Seconds beyond its limit in which an agent that cannot start may say why itself."""
_FAREWELL: Final = 3.0
"""Seconds that an agent with engines has to end them."""
_UNREADABLE: Final = "sent an answer that cannot be read"
_KEPT: Final = 2000
"""Bytes that are kept of the beginning and of the end of what an agent writes during a move."""


class IsolatedAgent(RemoteAgent):
    """Speaks for an agent in a process of its own, which is started when first needed."""

    def __init__(self, source: Any, name: str, isolation: AgentLimits) -> None:
        self.name = name
        self.needs = "environment"  # or "observation", for an agent that is shown no more than a player sees
        self.fingerprint: dict[str, str] = {}  # what decides how it plays, once it has been started
        self._source, self._isolation = source, isolation
        self._process: AgentProcess | None = None
        self._rehearsed = False
        self._is_ours = self._has_children = False
        self._clock: GameClock | None = None
        self._dice = np.random.default_rng(0)

    def start(self) -> str | None:
        """Starts the process and makes the agent in it; its own name."""
        try:
            source = cloudpickle.dumps(self._source)
        except Exception as error:  # whatever an object's own pickling raises
            raise AgentStartError(
                f"{self.name} cannot be sent to a process of its own ({type(error).__name__}: {error}): give a "
                "function at the top level of a module, or play with isolate='none'"
            ) from error
        self.close()
        self._process = AgentProcess("zermelo.evaluation.workers.agent_process:serve", captures=True)
        os.set_blocking(self._process.requests, False)
        self._rehearsed = False
        limits = self._isolation
        request = {
            "source": source,
            "path": search_path(),
            "memory_mb": limits.memory_mb,
            "ponder": limits.ponder,
            "start_seconds": limits.start_seconds,
        }
        try:
            answer = self._ask("make", request)
        except AgentFault as fault:
            words = fault.detail.partition(_DUMP)[0].strip().splitlines()
            wrote = f", and wrote {words[-1].strip()[:200]!r}" if words else ""
            raise AgentStartError(f"{self.name} cannot start: it {fault.message}{wrote}") from fault
        if "raised" in answer:
            self.close()
            cls = getattr(errors, str(answer.get("error")), None)
            if isinstance(cls, type) and issubclass(cls, errors.ZermeloError):
                raise cls(str(answer["message"]))
            raise AgentStartError(f"{self.name} cannot start: {answer['message']}")
        self.needs = answer["needs"]
        self._is_ours = bool(answer["is_ours"])
        self._has_children = bool(answer["has_children"])
        self.fingerprint = dict(answer["fingerprint"])
        name: str | None = answer["name"]
        return name

    def require_fit(self, driver: EnvDriver) -> None:
        """Has an agent of ours, just started, say whether it can play the environment that the driver has reset.

        Raises ``UnsupportedGameError`` or ``InvalidSettingError``. What fails otherwise is left to games.
        """
        if not self._is_ours:
            return
        try:
            if self.needs == "observation":
                shown = cloudpickle.dumps((driver.view(), game_name(driver.env), driver.action_space()))
            else:
                shown = pack_env(driver.env, self._dice, for_all=True)
            answer = self._ask("fit", shown)
        except (AgentFault, EnvironmentFailureError):
            return
        kinds = (UnsupportedGameError, errors.InvalidSettingError)
        kind = next((kind for kind in kinds if kind.__name__ == answer.get("error")), None)
        if kind is not None:
            raise kind(f"{self.name} cannot play here: {answer['message']}")

    def get_ready(self, seed: int, env: Any, view: Callable[[], Observation] | None = None) -> None:
        """``reset`` before a game; in a new process also a rehearsal, so that no move pays for loading."""
        self._dice = np.random.default_rng([seed, 1])
        self._clock = None
        if self._process is None:
            try:
                self.start()
            except WorkerError:  # there is no process: nothing that the agent did
                raise
            except errors.ZermeloError as error:
                raise AgentFault(FailureKind.INVALID_START, str(error).splitlines()[0]) from error
        if not self._rehearsed:
            if self.needs != "observation":
                self._settle("show", pack_env(env, self._dice, for_all=True))
            elif view is not None:
                self._settle("show", cloudpickle.dumps(view().blank()))  # its form alone
            self._rehearsed = True
        self._settle("reset", seed)

    def reset(self, seed: int | None = None) -> None:
        self._settle("reset", 0 if seed is None else seed)

    def rest(self) -> None:
        if self._isolation.ponder and self._process is not None:
            with contextlib.suppress(AgentFault):  # the process is ended then
                self._settle("rest", None)

    def tell_clock(self, clock: GameClock) -> None:
        most = self._isolation.move_seconds
        self._clock = clock if most is None else dataclasses.replace(clock, move_seconds=most)

    def act(self, env: Any) -> Any:
        return self._answer("act", pack_env(env, self._dice))

    def act_on(self, view: Any) -> Any:
        return self._answer("see", cloudpickle.dumps(view))

    def _answer(self, name: str, value: bytes) -> Any:
        answer = self._settle(name, value)
        if answer.get("changed"):
            self._fault(FailureKind.ENVIRONMENT_CHANGED, "changed the environment that it was only shown")
        if "left" in answer:
            message = f"left {answer['left']} running after its move"
            self._fault(FailureKind.LEFT_RUNNING, message, f"still running: {answer.get('detail')}")
        self.figures = tuple(answer.get("figures", ()))[:4]
        if "action" not in answer:
            self._fault(FailureKind.CRASH, "sent an answer without an action")
        return answer["action"]

    def _settle(self, name: str, value: Any) -> dict[str, Any]:
        answer = self._ask(name, value)
        raised, message = answer.get("raised"), str(answer.get("message"))
        if raised is None:
            return answer
        if raised == "resigned":
            raise Resignation(message)
        if raised == "unsupported":
            raise UnsupportedGameError(message)
        if raised == "environment":
            raise errors.EnvFailedError(message)
        raise AgentFault(_kind(name, FailureKind(answer["kind"])), message, str(answer.get("detail")))

    def _fault(self, kind: FailureKind, message: str, detail: str = "") -> None:
        self.close()
        raise AgentFault(kind, message, detail)

    def _ask(self, name: str, value: Any) -> dict[str, Any]:
        """Sends a request and awaits the answer; a process that fails to give one is ended."""
        if self._process is None:
            raise AgentFault(FailureKind.CRASH, "has no process any more")
        limits, clock = self._isolation, None
        seconds: float | None = limits.start_seconds
        if name in _MOVES:
            clock, self._clock = self._clock, None
            seconds = limits.move_seconds
            if clock is not None:
                seconds = min(clock.own_left, clock.move_seconds)
        is_timed = name in _MOVES and seconds is not None
        if seconds is None:
            seconds = limits.hang_seconds
        request = _Request(self._process, frame(pickle.dumps((name, value, clock))), limits, seconds)
        ended = request.run(_LATE if is_timed else _START)
        if ended is None:
            try:
                answer = unpack_answer(request.answer)
            except ValueError as error:
                ended = FailureKind.CRASH, f"{_UNREADABLE} ({error})"
            else:
                self.seconds = _spent(answer, time.monotonic() - request.began)
                if not is_timed or seconds is None or self.seconds <= seconds:
                    return answer
                ended = FailureKind.TIMEOUT, ""
        kind, message = ended
        if kind is FailureKind.TIMEOUT:
            request.last_words()
            message = too_late(seconds or 0.0, clock)
        process, self._process = self._process, None
        exit_code = process.stop()
        message = message or f"ended its process ({manner_of_death(exit_code)})"
        raise AgentFault(_kind(name, kind), message, request.written())

    def close(self) -> None:
        """Ends the process; a later game starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            process.stop(_FAREWELL if self._has_children else 0.0)


def _kind(request: str, kind: FailureKind) -> FailureKind:
    """The failure's kind: who crashes or hangs before the first move has not started."""
    is_start = request not in _MOVES and kind in (FailureKind.CRASH, FailureKind.TIMEOUT)
    return FailureKind.INVALID_START if is_start else kind


def _spent(answer: dict[str, Any], since_request: float) -> float:
    """The seconds that the agent took, as its process counts them; at most those since the request."""
    seconds = answer.get("seconds")
    return min(seconds, since_request) if isinstance(seconds, float) and seconds >= 0 else since_request


class _Request:
    def __init__(
        self, process: AgentProcess, request: bytes, isolation: AgentLimits, seconds: float | None
    ) -> None:
        self.answer = b""
        self.began = time.monotonic()
        self._process = process
        self._request = memoryview(request)
        self._limit = isolation
        self._seconds = seconds
        self._reader = FrameReader()
        self._output = bytearray()

    def run(self, late: float) -> tuple[FailureKind, str] | None:
        """Waits for ``answer``, ``late`` seconds beyond the limit; a fault instead of one, or None.

        Where the process has ended or is late, the fault has no message.
        """
        process, most, memory = self._process, self._seconds, self._limit.memory_mb
        ends = math.inf if most is None else self.began + most + late
        with selectors.PollSelector() as selector:
            for pipe in (process.answers, process.output, process.sentinel):
                selector.register(pipe, selectors.EVENT_READ)
            selector.register(process.requests, selectors.EVENT_WRITE)
            while True:
                left = min(max(0.0, ends - time.monotonic()), math.inf if memory is None else _LOOK)
                ready = {key.fd for key, _ in selector.select(None if left == math.inf else left)}
                end = self._look(ready, selector)
                if end is not None or self.answer:
                    return end
                if time.monotonic() >= ends:
                    return FailureKind.TIMEOUT, ""
                if memory is not None and resident_mb(process.pid) - process.inherited_mb > memory:
                    return FailureKind.OUT_OF_MEMORY, f"took more than the {memory} MB of memory that it may"

    def _look(self, ready: set[int], selector: selectors.BaseSelector) -> tuple[FailureKind, str] | None:
        process = self._process
        if process.requests in ready:
            try:
                self._request = self._request[os.write(process.requests, self._request) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                self._request = self._request[:0]  # it is gone, as its life will say
            if not self._request:
                selector.unregister(process.requests)
        if process.output in ready and not self._read_output():
            selector.unregister(process.output)
        if len(self._output) > self._limit.output_kb * 1024:
            return FailureKind.FLOOD, f"wrote more than {self._limit.output_kb} KB of output"
        if process.answers in ready:
            try:
                part = os.read(process.answers, 2**20)
                self.answer = self._reader.feed(part) or b""
            except ValueError as error:
                return FailureKind.CRASH, f"{_UNREADABLE} ({error})"
            if not part:
                selector.unregister(process.answers)
        elif process.sentinel in ready:
            while wait([process.output], 0) and len(self._output) < 2**24 and self._read_output():
                pass
            return FailureKind.CRASH, ""
        return None

    def _read_output(self) -> bool:
        part = os.read(self._process.output, 2**16)
        self._output += part
        return bool(part)

    def last_words(self) -> None:
        """Has the process write where it is (``faulthandler`` does, whatever holds Python's lock), and die."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGABRT)
        ends, process = time.monotonic() + _LAST_WORDS, self._process
        while (left := ends - time.monotonic()) > 0:
            ready = wait([process.sentinel, process.output], left)
            if (process.output not in ready or not self._read_output()) and process.sentinel in ready:
                return

    def written(self) -> str:
        size, text = len(self._output), self._output
        if size > 2 * _KEPT:
            text = text[:_KEPT] + f"\n[... {size - 2 * _KEPT} bytes ...]\n".encode() + text[-_KEPT:]
        return text.decode(errors="replace")
