"""The interface of adapted games for random play."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol


class Probe(Protocol):
    """A game over copies of an environment, as far as inference needs it."""

    def initial_state(self, seed: int = 0) -> Any: ...
    def to_move(self, state: Any) -> int: ...
    def chance_outcomes(self, state: Any) -> Any: ...
    def legal_actions(self, state: Any) -> Any: ...
    def is_terminal(self, state: Any) -> bool: ...
    def utility(self, state: Any) -> tuple[float, ...]: ...

    def trials(self, state: Any) -> Generator[None]:
        """Refuses what a search could not see; yields after steps and copies."""
        ...

    def probe(self, state: Any, action: int, seed: int) -> Any:
        """The state after an action with all randomness from a seed."""
        ...

    def draws_from(self) -> frozenset[str]:
        """The generators that probes drew from and the environment does not hold."""
        ...

    def comparable(self, state: Any) -> Any:
        """A value of the state in which random generators do not count."""
        ...

    def position(self, state: Any) -> Any:
        """The key of the environment in a state, a tuple."""
        ...

    def sight(self, state: Any, seat: int) -> Any:
        """A value of what a seat observes; None where that is not known."""
        ...

    def environment(self, state: Any) -> Any:
        """The copy of the environment in a state."""
        ...
