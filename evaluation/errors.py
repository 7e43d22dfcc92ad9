"""What can go wrong around a match, besides an agent's failure (which is a result, not an error).

- ``ZermeloError``
    - ``EnvironmentFailureError`` (an ``EnvFailedError``): the environment itself raised; no agent is to blame
    - ``AgentStartError``: an agent cannot be made
    - ``WorkerError``: a worker process could not start
    - ``StoreError``: the results cannot be written or read
- ``KeyboardInterrupt``
    - ``TournamentInterrupted``: Ctrl-C, SIGTERM or SIGHUP during a tournament, with the standings so far
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from zermelo.envs import EnvFailedError, ZermeloError

if TYPE_CHECKING:
    from zermelo.evaluation.match.record import GameRecord
    from zermelo.evaluation.output.standings import Standings


class EnvironmentFailureError(EnvFailedError):
    """The environment raised, gave a reward that is not a number, or left a player without a legal action.

    Attributes:
        record: The game as far as it came, or None when the environment could not even be made.
    """

    def __init__(self, message: str, record: GameRecord | None = None) -> None:
        super().__init__(message)
        self.record = record


class AgentStartError(ZermeloError):
    """An agent cannot be made; no tournament should start with it."""


class WorkerError(ZermeloError):
    """A worker process ended before it could play anything."""


class StoreError(ZermeloError):
    """The folder for the results cannot be used, or what it holds cannot be read."""


class TournamentInterrupted(KeyboardInterrupt):
    """Ctrl-C during a tournament, or SIGTERM or SIGHUP: a ``KeyboardInterrupt`` with the standings so far.

    Attributes:
        standings: Of the games that were played.
        number: The signal; that of Ctrl-C where it is not known.
    """

    def __init__(self, standings: Standings, number: int | None = None) -> None:
        super().__init__("the tournament was interrupted")
        self.standings = standings
        self.number = int(signal.SIGINT) if number is None else number
