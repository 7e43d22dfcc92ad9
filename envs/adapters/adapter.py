"""What an adapter is: each ecosystem of environments has a module with one ``Adapter``; ``as_game`` lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Adapter"]


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """How the environments of one ecosystem become games.

    Attributes:
        accepts: Whether it can take an environment, below its checking wrappers.
        make: The game of an environment, and the configuration for which its traits hold; called with it and with
            fields of ``Traits`` that the caller gave.
        copies: Its states are copies of the environment, so that it serves for ``backend="clone"`` as well.
    """

    accepts: Callable[[Any], bool]
    make: Callable[[Any, Mapping[str, Any]], tuple[Any, Mapping[str, Any]]]
    copies: bool = False
