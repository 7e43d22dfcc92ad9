"""What adapters return; each ecosystem has a module of its own, which ``as_game`` lists."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Adapted(NamedTuple):
    """An environment as a game.

    Attributes:
        constants: The configuration for which its traits hold: digests of attributes by path.
        enough: The patience in seconds with which random play would show no more than it did.
    """

    game: Any
    constants: dict[str, bytes]
    enough: float = math.inf
