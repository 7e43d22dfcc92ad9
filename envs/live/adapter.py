"""What adapters return; each ecosystem has a module of its own, which ``as_game`` lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Adapted(NamedTuple):
    """An environment as a game.

    Attributes:
        game: The game.
        constants: The configuration for which its traits hold: digests of attributes by path.
        go_on: Finds out more of it by random play until a time of ``time.perf_counter``, over as many moves as it
            takes; None where nothing is to come.
    """

    game: Any
    constants: dict[str, bytes]
    go_on: Callable[[float], Adapted] | None = None
