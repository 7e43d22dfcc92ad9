"""Who plays the games of a schedule: this process, one game after another, or worker processes.

A runner takes scheduled games and yields their records, in any order. It neither knows nor decides which games
there are, and it keeps nothing: those are the schedule's and the store's affair.
"""

from __future__ import annotations

import contextlib
import math
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol, Self

import numpy as np

from zermelo.agents import Agent
from zermelo.envs.adapters.facts.inference import learn, to_be_learned
from zermelo.evaluation.errors import AgentStartError, EnvironmentFailureError
from zermelo.evaluation.match.env_driver import EnvDriver, drive_env
from zermelo.evaluation.match.faults import AgentFault, traceback_text
from zermelo.evaluation.match.play import MAX_MOVES, play_game
from zermelo.evaluation.match.readiness import rehearse
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, GameRecord, versions
from zermelo.evaluation.match.sources import EnvSource, FreshEnvs
from zermelo.evaluation.runners.participants import Participant
from zermelo.evaluation.sandbox.isolated import IsolatedAgent
from zermelo.evaluation.schedule import ScheduledGame


class Runner(Protocol):
    """Plays games."""

    def play(self, games: Sequence[ScheduledGame]) -> Iterator[GameRecord]:
        """The records of the games, each once, as they end. Closing the iterator stops all play."""
        ...


@dataclass
class GamePlayer:
    """Plays one scheduled game at a time; worker processes are sent one of these.

    Every game has a fresh environment, so that nothing is left of the last one. Agents are made once and
    reset before each game; one that has failed is made anew. What one loads or compiles at first use is loaded
    before its first game, on no move's time. Each game seeds Python's and NumPy's global generators: in a process
    that has other work to do, play inside ``kept_globals``. ``close`` ends the agents' own processes.

    Attributes:
        env: What makes the environment.
        env_name: What records call it.
        seat_names: The environment's, for games in which it cannot even start.
        participants: The agents by name.
        max_moves: The limit on moves of a game.
        hang_seconds: After so long without an answer an agent, or the environment, is taken to hang; None waits.
    """

    env: EnvSource
    env_name: str
    seat_names: tuple[str, ...]
    participants: Mapping[str, Participant]
    max_moves: int = MAX_MOVES
    hang_seconds: float | None = None
    _agents: dict[tuple[str, int], Agent] = field(default_factory=dict, init=False, repr=False)
    _new: list[Agent] = field(default_factory=list, init=False, repr=False)
    _envs: FreshEnvs = field(init=False, repr=False)
    _failed: set[str] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        self._envs = FreshEnvs(self.env)

    def play(self, game: ScheduledGame, on_turn: Callable[[int], None] | None = None) -> GameRecord:
        """The record of the game, whatever the agents do; one that counts for nobody if the environment fails.

        Raises:
            UnsupportedGameError: An agent cannot play this kind of game at all.
        """
        try:
            agents = self._seated(game.seats)
        except AgentFault as fault:
            failed = next(seat for seat, name in enumerate(game.seats) if name in self._failed)
            self._failed.clear()
            failure = Failure(fault.kind, failed, fault.message, fault.detail)
            return lost_game(game, self.env_name, self.seat_names, failure)
        seed_globals(game.seed)
        try:
            driver = drive_env(self._envs.make(), game.seed)
            self._rehearse(driver)
            record = play_game(
                driver,
                agents,
                seed=game.seed,
                env=self.env_name,
                names=game.seats,
                game_id=game.game_id,
                opening=game.opening,
                max_moves=self.max_moves,
                on_turn=on_turn,
            )
        except EnvironmentFailureError as error:
            if error.record is not None:
                return error.record
            failure = Failure(FailureKind.ENVIRONMENT_ERROR, None, str(error))
            return lost_game(game, self.env_name, self.seat_names, failure)
        if record.failure is not None and record.failure.seat is not None:
            self._dismiss(agents[record.failure.seat])
        return record

    def _seated(self, names: Sequence[str]) -> list[Agent]:
        copies, seated = Counter[str](), []
        for name in names:
            key = (name, copies[name])
            copies[name] += 1
            if key not in self._agents:
                try:
                    agent = self.participants[name].player(copies=key[1])
                except AgentStartError as error:  # it could be made when the tournament began
                    if key[1]:
                        raise  # a second one is wanted, which nobody has tried before
                    self._failed.add(name)
                    detail = traceback_text(error.__cause__)
                    raise AgentFault(FailureKind.INVALID_START, str(error), detail) from error
                self._agents[key] = agent
                if not isinstance(agent, IsolatedAgent):
                    self._new.append(agent)
            seated.append(self._agents[key])
        return seated

    def _rehearse(self, driver: EnvDriver) -> None:
        """Once for each agent that is made; those in processes of their own do so there."""
        while self._new:
            agent = self._new.pop()
            needs_view = getattr(agent, "needs", None) == "observation"
            with contextlib.suppress(EnvironmentFailureError):  # the game will say so
                rehearse(agent, driver.view() if needs_view else driver.env)

    def _dismiss(self, failed: Agent) -> None:
        if isinstance(failed, IsolatedAgent):
            failed.close()
        self._agents = {key: agent for key, agent in self._agents.items() if agent is not failed}

    def close(self) -> None:
        """Ends the agents' own processes."""
        for agent in self._agents.values():
            if isinstance(agent, IsolatedAgent):
                agent.close()
        self._agents.clear()

    def __getstate__(self) -> dict[str, Any]:
        left: dict[str, Any] = {"_agents": {}, "_new": [], "_envs": None}
        return {**vars(self), **left, "learned": to_be_learned()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        learn(state.pop("learned"))  # or every worker would play at random to find out the game's traits
        vars(self).update(state, _envs=FreshEnvs(state["env"]))


def seed_globals(seed: int) -> None:
    """Seeds Python's and NumPy's global generators, for agents and environments that draw from them."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002


@contextlib.contextmanager
def kept_globals() -> Iterator[None]:
    """Python's and NumPy's global generators are after it as they were before."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def lost_game(game: ScheduledGame, env: str, seat_names: tuple[str, ...], failure: Failure) -> GameRecord:
    """The record of a game of which nothing is known but how it failed."""
    return GameRecord(
        env=env,
        agents=game.seats,
        seat_names=seat_names,
        seed=game.seed,
        rewards=(0.0,) * len(game.seats),
        end=EndReason.FAILURE,
        game_id=game.game_id,
        opening=game.opening,
        failure=failure,
        versions=versions(),
    )


class SerialRunner:
    """Plays in this process: the easiest to debug.

    An agent that ends the process ends the tournament, unless it has a process of its own.
    """

    def __init__(self, player: GamePlayer) -> None:
        self._player = player

    def play(self, games: Sequence[ScheduledGame]) -> Iterator[GameRecord]:
        """One game after another, in order. The global generators are the games' until the last has ended."""
        watching = _Watchdog(self._player.hang_seconds)
        with kept_globals(), contextlib.closing(self._player), watching as watchdog:
            for game in games:
                record = self._player.play(game, watchdog.on_turn)
                watchdog.rest()
                yield record


class _Watchdog:
    """Stops what takes too long in this process, by a signal: Python code, that is, and in the main thread.

    Args:
        seconds: That an agent, or the environment between two of them, may take; None for any time.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._seat, self._due = -1, math.inf
        self._ended = threading.Event()
        number: int | None = getattr(signal, "SIGVTALRM", None)
        is_main = threading.current_thread() is threading.main_thread()
        is_free = number is not None and is_main and signal.getsignal(number) is signal.SIG_DFL
        self._number = number if seconds is not None and is_free else None

    def __enter__(self) -> Self:
        if self._number is not None:
            signal.signal(self._number, self._bark)
            threading.Thread(target=self._watch, args=[self._number], daemon=True, name="zermelo watchdog").start()
        return self

    def on_turn(self, seat: int) -> None:
        """Begins to count anew: for a seat, or for the environment (-1)."""
        self._seat = seat
        self._due = math.inf if self._seconds is None else time.monotonic() + self._seconds

    def rest(self) -> None:
        """Counts nothing until the next turn."""
        self._due = math.inf

    def _watch(self, number: int) -> None:
        # Again and again: an agent may catch whatever is raised.
        while not self._ended.wait(min(1.0, (self._seconds or 1.0) / 4)):
            if time.monotonic() > self._due:
                signal.pthread_kill(threading.main_thread().ident or 0, number)

    def _bark(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() <= self._due:
            return
        if self._seat == -1:
            raise EnvironmentFailureError(f"the environment did not return for {self._seconds:g} s")
        raise AgentFault(FailureKind.TIMEOUT, f"did not answer within {self._seconds:g} s")

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._number is not None:
            signal.signal(self._number, signal.SIG_DFL)
