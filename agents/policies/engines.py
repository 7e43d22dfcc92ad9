"""Programs of others that play, as agents, which start and end them: what UCI, GTP and GNU Backgammon share."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.settings import declared
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError, ZermeloError
from zermelo.envs.support.waiting import say_after

PATIENCE: Final = 10.0  # seconds for an answer beyond what the engine was given to think
START_SECONDS: ContextVar[float] = ContextVar("START_SECONDS", default=60.0)  # for an engine to start
_LAST_WORDS: Final = 1.0  # seconds that an engine has to end once it has closed a pipe
_LOOK: Final = 0.05  # seconds between two looks at whether it has ended
_QUIT_SECONDS: Final = 2.0  # the time an engine has to end after it was told to quit
_LONGEST_LINE: Final = 2**16  # bytes that are read of a line
_READS: Final = 16  # how often what an engine has written unasked is read, before it is asked
_MOST_LINES: Final = 2**12  # lines of an answer that are kept
_LONG: Final = 5.0  # seconds of a start after which a line says what is waited for
_SHOWN: Final = 80  # characters of an answer in a message
_GUARD: Final = 'read -r line || kill -9 "-$1"'  # ends a process group if its input ends without a line


class EngineError(ZermeloError):
    """An engine did not answer, ended, or answered with something else."""


class EngineTimeoutError(EngineError):
    """An engine did not answer in time."""


class EngineMoveError(EngineError):
    """An engine answered with something that is not a legal move."""


def quoted(answer: str) -> str:
    """An engine's answer for a message."""
    return repr(answer if len(answer) <= _SHOWN else f"{answer[: _SHOWN - 3]}...")


class Engine:
    """A running program that reads lines and answers with lines, and leads a process group that ends with it.

    Reading and writing never wait for each other: a program that writes without end, or reads nothing, is noticed
    when its time is over. A shell watches from outside, so that the group also ends if this process is killed.
    ``merges_errors`` says that the engine writes its answers to standard error too.
    """

    def __init__(self, name: str, words: Sequence[str], *, merges_errors: bool = False) -> None:
        self._name, self._owner = name, os.getpid()
        errors = subprocess.STDOUT if merges_errors else subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(
                f"{name} cannot be started ({error.strerror or error}): give path a program for this machine"
            ) from error
        self._guard = self._guarded()
        self._read, self._written, self._complaints = bytearray(), bytearray(), bytearray()
        self._searched = 0
        self._last_line = ""
        self._selector = selectors.DefaultSelector()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                self._selector.register(pipe, selectors.EVENT_READ)
        assert self._process.stdin is not None, "it was started with a pipe"
        os.set_blocking(self._process.stdin.fileno(), False)

    def _guarded(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "sh", str(self._process.pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self._kill()
            raise EngineError(f"{self._name} cannot be watched by /bin/sh ({error.strerror or error})") from error

    def send(self, line: str) -> None:
        """Sends a line, at the latest while the answer is awaited."""
        self._written += f"{line}\n".encode()
        self._write()

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None, "it was started with a pipe"
        try:
            del self._written[: os.write(pipe.fileno(), self._written)]
        except BlockingIOError:
            pass
        except OSError as error:
            line = self._written.partition(b"\n")[0].decode(errors="replace")
            raise EngineError(f"{self._how_it_ended()}, and cannot read {quoted(line)}") from error
        is_watched = pipe in self._selector.get_map()
        if self._written and not is_watched:
            self._selector.register(pipe, selectors.EVENT_WRITE)
        elif is_watched and not self._written:
            self._selector.unregister(pipe)

    def line(self, ends: float) -> str:
        """The next line that it writes, until that time of the monotonic clock."""
        while True:
            left = ends - time.monotonic()
            if (line := self._next()) is not None and left > 0:
                self._last_line = line or self._last_line
                return line
            if left <= 0:
                wrote = (
                    f"; the last line that it has written is {quoted(self._last_line)}" if self._last_line else ""
                )
                raise EngineTimeoutError(f"{self._name} did not answer in time{wrote}")
            self._exchange(left)

    def lines_within(self, seconds: float) -> list[str]:
        """The lines that it writes in so many seconds."""
        ends, lines = time.monotonic() + seconds, list[str]()
        with contextlib.suppress(EngineTimeoutError):
            while True:
                lines.append(self.line(ends))
        return lines

    def discard_output(self) -> None:
        """Leaves out what it has written so far, which answers nothing."""
        for _ in range(_READS):
            is_more = self._exchange(0.0)
            del self._read[: self._read.rfind(b"\n") + 1]
            self._searched = 0
            if not is_more:
                return

    def _next(self) -> str | None:
        end = self._read.find(b"\n", self._searched)
        if end < 0:
            del self._read[_LONGEST_LINE:]
            self._searched = len(self._read)
            return None
        line = bytes(self._read[: min(end, _LONGEST_LINE)])
        del self._read[: end + 1]
        self._searched = 0
        return line.replace(b"\0", b"").decode(errors="replace").strip()  # some write UTF-16

    def _exchange(self, seconds: float) -> bool:
        """Waits for so long until it writes or reads something; False if it does not."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            if key.fileobj is self._process.stdin:
                self._write()
                continue
            part = os.read(key.fd, 2**16)
            if key.fileobj is self._process.stdout:
                if not part:
                    raise EngineError(self._how_it_ended())
                self._read += part
                continue
            self._complaints += part
            del self._complaints[:-_LONGEST_LINE]
            if not part:
                self._selector.unregister(key.fileobj)
        return bool(ready)

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(min(_LAST_WORDS, PATIENCE))
        except subprocess.TimeoutExpired:
            return f"{self._name} has closed its input or output"
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        if (errors := self._process.stderr) is not None:
            os.set_blocking(errors.fileno(), False)
            with contextlib.suppress(OSError):  # a process that it has started may hold it open
                while part := os.read(errors.fileno(), 2**16):
                    self._complaints += part
        lines = [line for line in self._complaints.decode(errors="replace").splitlines() if line.strip()]
        wrote = f", and wrote {quoted(lines[-1].strip())}" if lines else ""
        return f"{self._name} ended, with {how}{wrote}"

    def close(self, *, quits: bool = True) -> None:
        """Has it quit, and ends what is left of it and of all that it has started after two seconds."""
        if os.getpid() != self._owner:  # a fork's copy: it is another process's
            return
        try:
            if quits:
                self._quit()
        finally:
            self._kill()
        if self._guard.stdin is not None and not self._guard.stdin.closed:
            with contextlib.suppress(OSError):
                self._guard.stdin.write(b"ended\n")
                self._guard.stdin.flush()
                self._guard.stdin.close()
            self._guard.wait()
            self._selector.close()

    def _quit(self) -> None:
        ends = time.monotonic() + _QUIT_SECONDS
        if self._process.stdin is None or self._process.stdin.closed or self._process.poll() is not None:
            return
        with contextlib.suppress(EngineError, OSError):  # it has closed its pipes
            self._written.clear()
            self.send("quit")
            while self._process.poll() is None and (left := ends - time.monotonic()) > 0:
                self._exchange(min(left, _LOOK))
                self._read.clear()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(ends - time.monotonic(), 0.0))

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


class _Process(TransientState):
    """The engine that an agent has started; it is new until a move is asked for."""

    engine: Engine | None = None
    is_new = False
    has_greeted = False  # it speaks the protocol
    figures: tuple[int | None, int | None, float | None] = (None, None, None)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EngineAgent(ConfiguredAgent):
    """Base class of the agents of all protocols.

    Attributes:
        path: The program, with its arguments; a bare name is looked for where commands are.
    """

    _merges_errors: ClassVar[bool] = False  # true if the engine writes its answers to standard error too

    path: str = declared("", None, "a command")

    _process: _Process = field(init=False, default_factory=_Process)

    def _words(self) -> list[str]:
        words = shlex.split(self.path) if isinstance(self.path, str) else []
        if not words:
            raise InvalidSettingError(f"path must name a program, not {self.path!r}")
        program = shutil.which(words[0]) or shutil.which(f"/usr/games/{words[0]}")  # where Debian puts games
        if program is None:
            raise MissingDependencyError(f"there is no program {words[0]!r}: install it, or give path its place")
        return [program, *words[1:], *self._arguments()]

    def _arguments(self) -> list[str]:
        return []

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        process = self._process
        if process.engine is not None and process.is_new:
            return  # getting ready may take an engine long
        if process.engine is None:
            process.engine = engine = Engine(self.path, self._words(), merges_errors=self._merges_errors)
            process.has_greeted = False
            weakref.finalize(self, engine.close)
            with self._ended_by_errors():
                self._greet()
            process.has_greeted = True
        with self._ended_by_errors():
            self._new_game()
        process.is_new = True

    def act(self, env: Any) -> Any:
        self._process.is_new, self._process.figures = False, (None, None, None)
        return super().act(env)

    @property
    def figures(self) -> tuple[int | None, int | None, float | None]:
        """Nodes, depth and value of the last move, as far as the engine has said them."""
        return self._process.figures

    @property
    def _running(self) -> Engine:
        if self._process.engine is None:
            raise EngineError(f"{self.path} is not running: call reset first")
        return self._process.engine

    @contextlib.contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        """Ends an engine that fails or is interrupted: nobody knows what it would answer next."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Has the engine quit, and ends all that it has started; the next game starts it anew."""
        engine, self._process.engine = self._process.engine, None
        if engine is not None:
            engine.close(quits=self._process.has_greeted)

    def _greet(self) -> None:
        """Prepares an engine that has just been started."""

    @contextlib.contextmanager
    def _first_answer(self, protocol: str, remedy: str) -> Iterator[float]:
        """The end of the time for the first answer, which a program that speaks something else never gives."""
        seconds = START_SECONDS.get()
        try:
            with say_after(_LONG, f"waiting for {self.path} to answer in {protocol}, for at most {seconds:g} s"):
                yield time.monotonic() + seconds
        except EngineTimeoutError as error:
            raise EngineTimeoutError(
                f"{self.path} has started but does not answer in {protocol} within {seconds:g} s: {remedy}"
            ) from error

    def _new_game(self) -> None:
        """Says that a new game begins."""

    def _answer(
        self, *commands: str, until: Callable[[str], bool], seconds: float = 0.0, ends: float | None = None
    ) -> list[str]:
        """The last lines that answer some commands, to one for which ``until`` is true.

        They are awaited until a time of the monotonic clock, or for some seconds, to which ``PATIENCE`` is added.
        """
        engine = self._running
        with self._ended_by_errors():
            for command in commands:
                engine.send(command)
            ends = self._end_of(seconds) if ends is None else ends
            lines = [engine.line(ends)]
            while not until(lines[-1]):
                if len(lines) >= _MOST_LINES:
                    del lines[: _MOST_LINES // 2]
                lines.append(engine.line(ends))
        return lines

    def _end_of(self, seconds: float) -> float:
        """When the time for an answer is over, on the monotonic clock."""
        return time.monotonic() + seconds + PATIENCE

    def _forget_unasked(self) -> None:
        with self._ended_by_errors():
            self._running.discard_output()

    def __deepcopy__(self, memo: dict[int, Any]) -> EngineAgent:
        return replace(self)
