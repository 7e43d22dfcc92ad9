"""Who plays the games of a schedule: this process, one game after another, or worker processes.

A runner takes scheduled games and yields their records, in any order. It neither knows nor decides which games
there are, and it keeps nothing: those are the schedule's and the store's affair.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from zermelo.agents import Agent
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.env_driver import EnvDriver, drive_env
from zermelo.evaluation.match.fresh_envs import FreshEnvs
from zermelo.evaluation.match.play import MAX_MOVES, play_game
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, GameRecord, versions
from zermelo.evaluation.match.rehearsal import rehearse
from zermelo.evaluation.match.sources import EnvSource
from zermelo.evaluation.runners.participants import Participant
from zermelo.evaluation.sandbox.isolated import IsolatedAgent
from zermelo.evaluation.sandbox.supervision import Supervisor
from zermelo.evaluation.schedule import ScheduledGame

__all__ = ["GamePlayer", "Runner", "SerialRunner", "lost_game"]


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
    before its first game, on no move's time. ``close`` ends the agents' own processes.

    Attributes:
        env: What makes the environment.
        env_name: What records call it.
        seat_names: The environment's, for games in which it cannot even start.
        participants: The agents by name.
        max_moves: The limit on moves of a game.
    """

    env: EnvSource
    env_name: str
    seat_names: tuple[str, ...]
    participants: Mapping[str, Participant]
    max_moves: int = MAX_MOVES
    _agents: dict[tuple[str, int], Agent] = field(default_factory=dict, init=False, repr=False)
    _supervisor: Supervisor = field(default_factory=Supervisor, init=False, repr=False)
    _new: list[Agent] = field(default_factory=list, init=False, repr=False)
    _envs: FreshEnvs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._envs = FreshEnvs(self.env)

    def play(self, game: ScheduledGame, on_turn: Callable[[int], None] | None = None) -> GameRecord:
        """The record of the game, whatever the agents do; one that counts for nobody if the environment fails.

        Raises:
            UnsupportedGameError: An agent cannot play this kind of game at all.
        """
        try:
            agents = self._seated(game.seats)
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
                agent = self._agents[key] = self.participants[name].player(self._supervisor, copies=key[1])
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
        self._agents.clear()
        self._supervisor.close()

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_agents": {}, "_supervisor": None, "_new": [], "_envs": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _supervisor=Supervisor(), _envs=FreshEnvs(state["env"]))


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
        """One game after another, in order."""
        try:
            for game in games:
                yield self._player.play(game)
        finally:
            self._player.close()
