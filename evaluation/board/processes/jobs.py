"""Jobs of the agents' processes for a game on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cloudpickle
import numpy as np

from zermelo.envs import GameOverError, InvalidSettingError, UnsupportedGameError
from zermelo.evaluation.board.session import Session
from zermelo.evaluation.board.settings import TableSettings
from zermelo.evaluation.match.env_driver import EnvDriver
from zermelo.evaluation.match.play import agent_seeds
from zermelo.evaluation.match.writing import shown
from zermelo.evaluation.sandbox.shipping import pack_env


class Jobs:
    """Writes the jobs of one game, as plain values that a process can be sent.

    Args:
        settings: Who plays and who analyses.
        session: The game.
        number: Of the game on this page: agents forget what they know of those before.
    """

    def __init__(self, settings: TableSettings, session: Session, number: int) -> None:
        self.settings, self._session, self._number = settings, session, number
        self._seeds = agent_seeds(settings.seed, len(session.driver.seat_names))

    def _job(self, kind: str, agent: str, driver: EnvDriver, seat: int) -> dict[str, Any]:
        seed = self._seeds[seat]
        generator = np.random.default_rng([seed, len(self._session.played)])
        env = pack_env(driver.env, generator)
        return {"kind": kind, "agent": agent, "seat": seat, "seed": seed, "game": self._number, "env": env}

    def ready(self, seat: int) -> dict[str, Any]:
        """To prepare for the moves of a seat."""
        return self._job("ready", self.settings.opponent, self._session.driver, seat)

    def move(self, seat: int) -> dict[str, Any]:
        """To move for a seat, which sees what its player may see."""
        driver = self._session.driver
        return self._job("move", self.settings.opponent, driver, seat) | {"view": cloudpickle.dumps(driver.view())}

    def analysis(self, ply: Any, analyst: str, seconds: float | None = None) -> dict[str, Any]:
        """To have an agent look at a position, for some seconds or until stopped."""
        session = self._session
        last = len(session.played)
        if not isinstance(ply, int) or isinstance(ply, bool) or not 0 <= ply <= last:
            raise InvalidSettingError(f"there is no position {shown(ply, 20)}: the game has {last} moves")
        driver = session.shown_env(ply)
        seat = driver.turn()
        if seat is None:
            raise GameOverError("there is nothing to decide at the end of the game")
        if session.hides and seat not in session.people:
            raise UnsupportedGameError("an analysis would look at what the other player has: wait for your turn")
        return self._job("analyse", analyst, driver, seat) | {"seconds": seconds}

    def review(self, names: Sequence[str], seconds: float) -> dict[str, Any]:
        """To look at the whole game, at each move for so long."""
        session = self._session
        if session.hides:
            raise UnsupportedGameError("a review would show what is hidden: wait for the end of the game")
        if not session.played:
            raise GameOverError("there are no moves yet")
        text = session.record(names).to_json()
        return {"kind": "review", "record": text, "agent": self.settings.analyst, "seconds": seconds}
