"""Trees and environments whose steps take their time, so that searching them in several processes pays."""

from __future__ import annotations

import time
import zlib
from typing import Any

from doubles.game_envs import SmallEnv
from doubles.small_games import Node, TreeGame


class SlowTree(TreeGame):
    """A tree whose steps take some milliseconds."""

    def result(self, state: Node, action: int) -> Any:
        time.sleep(0.002)
        return super().result(state, action)


class Hashed(SmallEnv):
    """Each move earns its player what a hash of all moves so far says, up to a point, until so many are made."""

    zermelo_traits: Any = {"information": "perfect", "chance": "deterministic", "reward_sum": "zero_sum"}  # noqa: RUF012

    def __init__(self, width: int = 12, length: int = 20, pause: float = 0.002) -> None:
        super().__init__(["a", "b"], width)
        self.length, self.pause = length, pause

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.code, self.sum = 0, 0.0

    def play(self, agent: Any, action: Any) -> None:
        time.sleep(self.pause)
        self.code = zlib.crc32(b"%d %d" % (self.code, int(action)))
        self.sum += (1 if agent == "a" else -1) * (self.code % 1000) / 1000
        if self.turns == self.length:
            share = self.sum / self.length
            self.rewards = {"a": share, "b": -share}
            self.end()
        self.next_agent()


def lead(game: Any, state: Any) -> tuple[float, float]:
    """The evaluation of ``Hashed``: what was earned so far."""
    share = state.env.sum / state.env.length
    return share, -share


def hashed(**settings: Any) -> Hashed:
    env = Hashed(**settings)
    env.reset(seed=0)
    return env
