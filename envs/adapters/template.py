"""The copy of a live environment that a game is made with."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from zermelo.envs.adapters.wrappers import is_dead
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import CloneError

_SLOW: Final = 0.02
"""Seconds that a copy takes which is worth a comparison."""


class Template:
    """A copy of an environment, from which resets start.

    Args:
        copy: Returns the copy of an environment.
        env: The environment.

    Attributes:
        env: The copy; it is never stepped.
        seconds: How long it took to make.
    """

    def __init__(self, copy: Callable[[Any], Any], env: Any) -> None:
        self._copy = copy
        begun = time.perf_counter()
        self.env = copy(env)
        self.seconds = time.perf_counter() - begun

    def position(self, env: Any) -> Any:
        """A copy of an environment, not to be stepped: this one where copies are slow and nothing has happened."""
        if self.seconds > _SLOW and not is_dead(env):
            try:
                if state_key(env) == state_key(self.env):
                    return self.env
            except CloneError:  # something in it cannot be compared
                pass
        return self._copy(env)
