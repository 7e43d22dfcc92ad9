"""The main job: an environment and some agents go in, standings come out.

    standings = round_robin("classic/connect_four-v3", ["random", "alphabeta(depth=4)"], games=20, seed=0)
    print(standings)

Stages, each of which knows only the next: schedule -> play -> store -> standings.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from zermelo.agents import Agent
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs import InvalidSettingError, UnsupportedGameError, as_game
from zermelo.evaluation.engines import Engine, GamePlayer, SerialEngine
from zermelo.evaluation.entrants import (
    AgentSource,
    Entrant,
    EnvSource,
    build_env,
    entrants,
    env_name,
    is_live,
    require_picklable,
)
from zermelo.evaluation.errors import TournamentInterrupted
from zermelo.evaluation.isolation import Isolation
from zermelo.evaluation.match import MAX_MOVES, checked_seed
from zermelo.evaluation.progress import progress_bar
from zermelo.evaluation.record import GameRecord, versions
from zermelo.evaluation.referee import referee_for
from zermelo.evaluation.schedule import ScheduledGame, game_order, round_robin_schedule
from zermelo.evaluation.standings import Standings
from zermelo.evaluation.store import JsonLinesStore

__all__ = ["Tournament", "round_robin"]


def round_robin(
    env: EnvSource,
    agents: Sequence[AgentSource] | Mapping[str, AgentSource],
    *,
    games: int = 10,
    seed: int = 0,
    workers: int = 1,
    out: str | os.PathLike[str] | None = None,
    max_moves: int = MAX_MOVES,
    isolation: Isolation | None = None,
    progress: bool | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Standings:
    """Every agent plays every other.

    The same environment, agents, games and seed give the same games, whatever the number of workers, unless an
    agent is limited by time.

    Args:
        env: A name (``"classic/connect_four-v3"``) or a function that makes an environment; with one worker also
            a live environment.
        agents: Texts (``"alphabeta(depth=4)"``), agents, or functions that make them; or a mapping of names for
            the tables to such.
        games: For each pairing; seats rotate. A single-player environment is played that often by each agent.
        seed: Decides every game.
        workers: Processes. With 1 the games are played in this process; with more, an agent that ends its process
            loses that game only.
        out: A new folder for every game's moves, rewards and timings (``games.jsonl``) and the standings.
        max_moves: A game that is longer ends there, and the rewards so far are compared.
        isolation: The limits on time and memory of each agent, and which agents get processes of their own; by
            default those that are named by text and run somebody's own code.
        progress: Whether to show a progress bar; by default if standard error is a terminal.
        on_game: Called with each game's record as it ends.

    Raises:
        ZermeloError: A name or setting is wrong, or an agent cannot play the game. Failures of agents in play are
            no errors: they are in the standings.
        TournamentInterrupted: Ctrl-C; its ``standings`` are those so far.
    """
    plan = Tournament.prepare(env, agents, games=games, seed=seed, max_moves=max_moves, isolation=isolation)
    engine = plan.engine(workers)
    with contextlib.ExitStack() as stack:
        store = None if out is None else stack.enter_context(JsonLinesStore(out, plan.to_dict()))
        interrupts = stack.enter_context(_Interrupts())
        records: list[GameRecord] = []
        try:
            advance = stack.enter_context(progress_bar(len(plan.schedule), progress))
            for record in stack.enter_context(contextlib.closing(_iterate(engine, plan.schedule))):
                with interrupts.held():
                    if store is not None:
                        store.append(record)
                    records.append(record)
                advance()
                if on_game is not None:
                    on_game(record)
        except KeyboardInterrupt as interrupt:
            interrupts.off()
            standings = plan.standings(records)
            if store is not None:
                store.finish(standings)
            raise TournamentInterrupted(standings) from interrupt
        standings = plan.standings(records)
        if store is not None:
            store.finish(standings)
        return standings


def _iterate(engine: Engine, schedule: Sequence[ScheduledGame]) -> Any:
    """The engine's records as a generator, which can be closed."""
    yield from engine.play(schedule)


@dataclass(frozen=True)
class Tournament:
    """Everything that is known before the first game.

    Attributes:
        env: What makes the environment.
        seat_names: The environment's seats.
        entrants: The agents.
        games: For each pairing.
        seed: Decides every game.
        max_moves: The limit on moves of a game.
        schedule: The games, in order.
    """

    env: EnvSource
    seat_names: tuple[str, ...]
    entrants: tuple[Entrant, ...]
    games: int
    seed: int
    max_moves: int
    schedule: tuple[ScheduledGame, ...]

    @classmethod
    def prepare(
        cls,
        env: EnvSource,
        agents: Sequence[AgentSource] | Mapping[str, AgentSource],
        *,
        games: int,
        seed: int,
        max_moves: int = MAX_MOVES,
        isolation: Isolation | None = None,
    ) -> Tournament:
        """Makes and resets the environment once, makes every agent once, and lays out the schedule.

        Raises:
            ZermeloError: Something in that cannot be.
        """
        seed = checked_seed(seed)
        if isinstance(max_moves, bool) or not isinstance(max_moves, int) or max_moves < 1:
            raise InvalidSettingError(f"max_moves must be a whole number of at least 1, not {max_moves!r}")
        referee = referee_for(build_env(env)[0], seed)
        found = entrants(agents, isolation or Isolation())
        for entrant in found:
            if entrant.may_be_made_here:
                require_fit(entrant.build(), referee.env, entrant.name)
        names = [entrant.name for entrant in found]
        schedule = round_robin_schedule(names, seats=len(referee.seat_names), games=games, seed=seed)
        return cls(env, referee.seat_names, found, games, seed, max_moves, schedule)

    def engine(self, workers: int) -> Engine:
        """The engine for that many workers.

        Raises:
            InvalidSettingError: There is no such number, or worker processes cannot be sent what they need.
        """
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise InvalidSettingError(f"workers must be a whole number of at least 1, not {workers!r}")
        by_name = {entrant.name: entrant for entrant in self.entrants}
        player = GamePlayer(self.env, env_name(self.env), self.seat_names, by_name, self.max_moves)
        if workers == 1:
            return SerialEngine(player)
        if is_live(self.env):
            raise InvalidSettingError(
                f"a live environment ({env_name(self.env)}) cannot be shared by {workers} workers: give its name, "
                "or a function that makes it, or play with workers=1"
            )
        require_picklable(self.env, "the environment", env_name(self.env))
        for entrant in self.entrants:
            require_picklable(entrant, "the agent", entrant.name)
        from zermelo.evaluation.processes import ProcessEngine

        return ProcessEngine(player, workers)

    def standings(self, records: Sequence[GameRecord]) -> Standings:
        """The table of these games of the schedule."""
        ordered = sorted(records, key=lambda record: game_order(record.game_id))
        return Standings.from_records(
            ordered,
            agents=[entrant.name for entrant in self.entrants],
            planned=len(self.schedule),
            env=env_name(self.env),
            seat_names=self.seat_names,
        )

    def to_dict(self) -> dict[str, Any]:
        """The specification as plain values, with the versions and the machine it ran on."""
        return {
            "kind": "round robin",
            "env": env_name(self.env),
            "seats": list(self.seat_names),
            "agents": [{"name": entrant.name, "source": _described(entrant.source)} for entrant in self.entrants],
            "games": self.games,
            "seed": self.seed,
            "max_moves": self.max_moves,
            "scheduled": len(self.schedule),
            "versions": versions(),
            "machine": {"system": platform.platform(), "processors": os.cpu_count()},
        }


def require_fit(agent: Agent, env: Any, name: str) -> None:
    """Asks a search whether it can play this kind of game, before any game is lost over it.

    Raises:
        UnsupportedGameError: It cannot; the message says which agent can.
    """
    if not isinstance(agent, SearchAgent):
        return
    try:
        agent.check_game(as_game(env, backend=agent.backend, traits=agent.traits).traits)
    except UnsupportedGameError as error:
        raise UnsupportedGameError(f"{name} cannot play here: {error}") from error


def _described(source: AgentSource) -> str:
    if isinstance(source, str):
        return source
    kind = source if isinstance(source, type) or not hasattr(source, "act") else type(source)
    return f"{kind.__module__}:{getattr(kind, '__qualname__', type(kind).__qualname__)}"


class _Interrupts:
    """Ctrl-C during a run: noticed even if an agent swallows it, and never inside a write."""

    def __init__(self) -> None:
        self._asked = False
        self._held = False
        self._before: Any = None

    def __enter__(self) -> _Interrupts:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if not self._held:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """An interrupt that comes inside is raised at the end; so is one that somebody swallowed before."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._asked:
            raise KeyboardInterrupt

    def off(self) -> None:
        """From now on a further Ctrl-C is only remembered: the table is being written."""
        self._held = True

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
