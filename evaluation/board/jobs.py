"""Jobs of one game for a process that searches, which is started when first needed and can be killed."""

from __future__ import annotations

import contextlib
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import cloudpickle
import numpy as np

from zermelo.envs.errors import GameOverError, InvalidSettingError, UnsupportedGameError
from zermelo.evaluation.board.session import Session
from zermelo.evaluation.board.settings import BoardSettings
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.match.faults import manner_of_death
from zermelo.evaluation.match.live_game import EnvDriver
from zermelo.evaluation.match.play import agent_seeds
from zermelo.evaluation.match.text import shown
from zermelo.evaluation.workers.forked_process import AgentProcess, read_frame, write_frame
from zermelo.evaluation.workers.shipping import pack_env, unpack_answer

OnAnswer = Callable[[dict[str, Any]], None]
_PATIENCE: Final = 2.0  # seconds that a search has to stop when it is told to


class _Wanted(NamedTuple):
    number: int
    job: dict[str, Any]
    on_answer: OnAnswer


class JobProcess:
    """Does one job at a time; a new one takes the place of the last."""

    def __init__(self) -> None:
        if sys.platform == "win32":
            raise UnsupportedGameError(
                "playing in the browser needs processes that fork, which Windows does not have: play in the "
                "terminal, without --browser, or in the Windows Subsystem for Linux"
            )
        self._lock = threading.Lock()
        self._process: AgentProcess | None = None
        self._wanted: _Wanted | None = None
        self._busy: set[int] = set()
        self._number, self._killed = 0, -1
        self._ponders = False
        self.waits = ""  # what the process does before it thinks, such as compiling, as a line says it

    @property
    def is_busy(self) -> bool:
        return self._wanted is not None

    def ask(self, job: dict[str, Any], on_answer: OnAnswer) -> None:
        """Begins a job; ``on_answer`` is called in another thread, last with ``done`` or ``failed``."""
        self._end_job(keep=False)
        with self._lock:
            self._ponders = bool(job.get("ponders"))
            self._number += 1
            self._wanted = _Wanted(self._number, job, on_answer)
            failure = self._send(self._wanted)
        if failure is not None:
            on_answer({"failed": failure})

    def prepare(self, job: dict[str, Any]) -> None:
        """Begins a job that only gets ready for others: nobody waits for its answer, and it is not stopped."""
        with self._lock, contextlib.suppress(WorkerError, OSError):  # the first job will say why
            self._number += 1
            self._write(self._number, job)

    def stop(self, *, keep: bool = False) -> None:
        """Ends the job; with ``keep`` what it has found so far is its answer; else it has none, nor ponders."""
        self._end_job(keep=keep)
        if self._ponders and not keep and self._process is not None:
            self._ponders = False
            self.prepare({"kind": "rest"})

    def close(self) -> None:
        with self._lock:
            self._wanted, process = None, self._process
            if process is not None:
                process.kill()
        if process is not None:
            self._reader.join(_PATIENCE)

    def _send(self, wanted: _Wanted) -> str | None:
        try:
            self._write(wanted.number, wanted.job)
            self._busy.add(wanted.number)
        except (WorkerError, OSError) as error:
            self._wanted = None
            return str(error)
        return None

    def _write(self, number: int, job: dict[str, Any] | None) -> None:
        if (process := self._process) is None:
            self._process = process = AgentProcess("zermelo.evaluation.board.job_process:main")
            self._busy = set()
            self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
            self._reader.start()
        write_frame(process.requests, pickle.dumps((number, job)))

    def _end_job(self, *, keep: bool) -> None:
        with self._lock:
            wanted = self._wanted
            if wanted is None:
                return
            if not keep:
                self._wanted = None
            if self._process is None or wanted.number not in self._busy:
                return
            with contextlib.suppress(OSError):
                self._write(wanted.number, None)
            timer = threading.Timer(_PATIENCE, self._kill_if_busy, (self._process, wanted.number))
            timer.daemon = True
            timer.start()

    def _kill_if_busy(self, process: AgentProcess, number: int) -> None:
        with self._lock:
            if process is self._process and number in self._busy:
                self._killed = number
                process.kill()

    def _read(self, process: AgentProcess) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (data := read_frame(process.answers)) is not None:
                answer = unpack_answer(data)
                with self._lock:
                    number, wanted = answer.get("job"), self._wanted
                    mine = wanted is not None and wanted.number == number
                    is_waiting = "waits" in answer  # whichever job it is: the others wait for it too
                    self.waits = answer["waits"] if is_waiting else ""
                    if "done" in answer or "failed" in answer:
                        self._busy.discard(number)
                        self._wanted = None if mine else wanted
                if (mine or is_waiting) and wanted is not None:
                    wanted.on_answer(answer)
        self._ended(process)

    def _ended(self, process: AgentProcess) -> None:
        """Says that the process has ended, or begins the job that waited behind another one again."""
        failure: str | None = None
        with self._lock:
            exit_code = process.stop()
            if self._process is not process:
                return
            self._process, wanted, others = None, self._wanted, self._busy
            if wanted is not None and others - {wanted.number}:
                failure = self._send(wanted)  # the process was killed for the sake of this job
            elif wanted is not None:
                self._wanted = None
                failure = f"its process has ended ({manner_of_death(exit_code)})"
                if wanted.number == self._killed:
                    failure = f"it did not stop within {_PATIENCE:g} s of being told to, so its process was ended"
        if failure is not None and wanted is not None:
            wanted.on_answer({"failed": failure})


class Jobs:
    """Writes the jobs of one game, as plain values that a process can be sent."""

    def __init__(self, settings: BoardSettings, session: Session, number: int) -> None:
        self.settings, self._session, self._number = settings, session, number
        self._seeds = agent_seeds(settings.seed, len(session.driver.seat_names))

    def _job(self, kind: str, agent: str, driver: EnvDriver, seat: int) -> dict[str, Any]:
        seed = self._seeds[seat]
        env = pack_env(driver.env, np.random.default_rng([seed, len(self._session.played)]))
        return {"kind": kind, "agent": agent, "seat": seat, "seed": seed, "game": self._number, "env": env}

    def ready(self, seat: int) -> dict[str, Any]:
        return self._job("ready", self.settings.opponent, self._session.driver, seat)

    def move(self, seat: int) -> dict[str, Any]:
        driver = self._session.driver
        view = {"view": cloudpickle.dumps(driver.view()), "ponders": self.settings.ponder}
        return self._job("move", self.settings.opponent, driver, seat) | view

    def analysis(self, ply: Any, analyst: str, seconds: float | None = None) -> dict[str, Any]:
        session = self._session
        last = len(session.played)
        if not isinstance(ply, int) or isinstance(ply, bool) or not 0 <= ply <= last:
            raise InvalidSettingError(f"there is no position {shown(ply, 20)}: the game has {last} moves")
        driver = session.driver if ply == last else session.replayed(ply)
        seat = driver.turn()
        if seat is None:
            raise GameOverError("there is nothing to decide at the end of the game")
        if session.hides and seat not in session.people:
            raise UnsupportedGameError("an analysis would look at what the other player has: wait for your turn")
        return self._job("analyse", analyst, driver, seat) | {"seconds": seconds}

    def review(self, names: Sequence[str], seconds: float) -> dict[str, Any]:
        session = self._session
        if session.hides:
            raise UnsupportedGameError("a review would show what is hidden: wait for the end of the game")
        if not session.played:
            raise GameOverError("there are no moves yet")
        text = session.record(names).to_json()
        return {"kind": "review", "record": text, "agent": self.settings.analyst, "seconds": seconds}


class Analyst:
    """Thinks about one game, beside whoever plays it; answers come in other threads."""

    def __init__(self, lock: threading.RLock, on_change: Callable[[], None]) -> None:
        self._lock, self._on_change = lock, on_change
        self._process, self._round = JobProcess(), 0
        self._analysis: dict[str, Any] | None = None
        self._review: dict[str, Any] | None = None
        self.ply: int | None = None  # that is analysed
        self.hint: int | None = None  # the move that was found good
        self.problem = ""
        self.follows = False  # whether the last position is analysed, and the next one after a move

    def stop(self) -> None:
        """Ends what is going on; reviews that are finished stay."""
        self._process.stop()
        self._round += 1
        self._analysis = self.ply = None

    def moved(self, *, is_new: bool = False) -> None:
        """The position on the board has changed, or the game is another one, which nothing follows."""
        self.stop()
        self._review = self.hint = None
        self.follows, self.problem = self.follows and not is_new, ""

    def analyse(self, job: dict[str, Any], ply: int) -> None:
        self.stop()
        self.ply = ply
        self._ask(job)

    def look_for_hint(self, job: dict[str, Any], ply: int) -> None:
        """Looks for a good move; an analysis of the same position has one already."""
        if self._analysis is not None and self.ply == ply:
            self.hint = self._analysis["best"]
            return
        self.stop()
        self._ask(job, is_hint=True)

    def review(self, job: dict[str, Any]) -> None:
        self.stop()
        self._review, self.follows = None, False
        self._ask(job)

    def _ask(self, job: dict[str, Any], *, is_hint: bool = False) -> None:
        asked = self._round

        def answered(answer: dict[str, Any]) -> None:
            if "waits" in answer:
                return
            with self._lock:
                if asked != self._round:
                    return
                if "failed" in answer:
                    self.problem, self.ply, self.follows = answer["failed"], None, False
                elif job["kind"] == "review":
                    self._review = answer
                elif not is_hint:
                    self._analysis = answer
                elif "done" in answer:
                    self.hint = answer["best"]
                self._on_change()

        self._process.ask(job, answered)

    def view(self) -> dict[str, Any]:
        position = {"analysis": self._analysis, "analysed": self.ply, "analyses": self._process.is_busy}
        return position | {"hint": self.hint, "review": self._review}

    def close(self) -> None:
        self._process.close()
