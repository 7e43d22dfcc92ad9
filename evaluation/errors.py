"""Errors around a match, besides an agent's failure (which is a result, not an error).

- ``ZermeloError``
    - ``EnvironmentFailureError`` (an ``EnvFailedError``): the environment itself raised; no agent is to blame
    - ``AgentStartError``: an agent cannot be made
    - ``WorkerError``: a worker process could not start
    - ``StoreError``: the results cannot be written or read
        - ``DamagedError``: the database of a run is damaged
- ``KeyboardInterrupt``
    - ``RunInterrupt``: the same three signals while an agent or the environment is at work
    - ``TournamentInterrupted``: the same during a tournament, with the standings so far
    - ``RatingInterrupted``: the same while checkpoints are rated, with their ratings so far
"""

from __future__ import annotations

from typing import Any

from zermelo.envs.errors import EnvFailedError, ZermeloError


class EnvironmentFailureError(EnvFailedError):
    """The environment raised, gave a reward that is not a number, or left a player without a legal action.

    ``record`` is the ``GameRecord`` so far, None where the environment could not even be made.
    """

    def __init__(self, message: str, record: Any = None) -> None:
        super().__init__(message)
        self.record = record


class AgentStartError(ZermeloError):
    """An agent cannot be made; no tournament should start with it."""


class WorkerError(ZermeloError):
    """A worker process ended before it could play anything."""


class StoreError(ZermeloError):
    """The folder for the results cannot be used, or what it holds cannot be read."""


class DamagedError(StoreError):
    """The database of a run is damaged."""


class RunInterrupt(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP for the run, wherever it was just then: no agent raised it."""


class TournamentInterrupted(KeyboardInterrupt):
    """Ctrl-C during a tournament, or SIGTERM or SIGHUP, its ``number``, with the ``Standings`` so far."""

    def __init__(self, standings: Any, number: int = 2) -> None:
        super().__init__("the tournament was interrupted")
        self.standings = standings
        self.number = number


class RatingInterrupted(KeyboardInterrupt):
    """Ctrl-C while checkpoints are rated, or SIGTERM or SIGHUP, its ``number``, with the ratings so far."""

    def __init__(self, rated: Any, number: int = 2) -> None:
        super().__init__("the rating was interrupted")
        self.rated = rated
        self.number = number
