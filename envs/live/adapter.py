"""The protocol of adapters: each ecosystem has a module with one ``Adapter``; ``as_game`` lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """How the environments of one ecosystem become games.

    Attributes:
        accepts: Whether it can take an environment, below its checking wrappers.
        make: The game of an environment; called with it, with fields of ``Traits`` that the caller gave, and with
            the time of ``time.perf_counter`` at which it is needed.
        copies: Its states are copies of the environment, so that it serves for ``backend="clone"`` as well.
    """

    accepts: Callable[[Any], bool]
    make: Callable[[Any, Mapping[str, Any], float], Adapted]
    copies: bool = False
