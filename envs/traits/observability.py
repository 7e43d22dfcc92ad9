"""Returns whether what players observe determines the state, judged by random play.

Two positions that look the same to the player to move, but are different states, are compared: they show hidden
information if another player sees them differently, or if the same actions lead on to other moves, rewards or
ends. The positions are what two actions, two draws of chance and two resets lead to, and where the same moves lead
from there.

Nothing follows from two positions that look different. So an environment that deals at the start is not found to
be of perfect information unless its starts look the same in groups: hands seldom do, who begins does.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, Protocol

import numpy as np

from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import CHANCE

_TOGETHER: Final = 3
"""Moves that are played in both of two positions to see whether they come to look the same."""
_WALKS: Final = 3
_WALK_STEPS: Final = 40
_COMPARISONS: Final = 5
"""Fewer pairs of different states say nothing."""


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


class Observability:
    """The observability of a game, as inferred.

    What compares is a generator that yields after each move it has played.
    """

    def __init__(self, game: Probe, seats: int, probes: int) -> None:
        self._game = game
        self._seats = seats
        self._generator = np.random.default_rng(1)
        self._compared = 0
        self._left = probes
        self._hidden = False
        self._starts_unlike = False

    def is_whole(self) -> bool:
        """Returns whether enough was compared, and every observation determined the state."""
        return not (self._hidden or self._starts_unlike) and self._compared >= _COMPARISONS

    def compare_starts(self, states: list[Any]) -> Generator[None]:
        """Compares positions after resets with different seeds."""
        game = self._game
        if len(states) < 2:
            self._starts_unlike = True  # reset does not work, so nothing is known about it
            return
        groups: dict[Any, list[Any]] = {}
        for state in states:
            sight = None if game.is_terminal(state) else self._mover_sees(state)
            groups.setdefault(sight, []).append(state)
        self._starts_unlike = any(len(group) == 1 for group in groups.values())
        for first, *others in groups.values():
            for other in others:
                yield from self.compare(first, other)

    def compare(self, first: Any, second: Any) -> Generator[None]:
        """Compares two positions, and those that the same moves lead to from both."""
        game = self._game
        for _ in range(_TOGETHER):
            if self._hidden or game.is_terminal(first) or game.is_terminal(second):
                return
            if CHANCE in (game.to_move(first), game.to_move(second)):
                return
            if game.position(first) == game.position(second):
                return
            self._compared += 1
            if self._mover_sees(first) == self._mover_sees(second) and not (
                yield from self._is_one(first, second)
            ):
                self._hidden = True
                return
            common = sorted(set(game.legal_actions(first)) & set(game.legal_actions(second)))
            if not common or game.to_move(first) != game.to_move(second):
                return
            action = common[int(self._generator.integers(len(common)))]
            first = game.probe(first, action, 0)
            yield
            second = game.probe(second, action, 0)
            yield

    def _mover_sees(self, state: Any) -> Any:
        game = self._game
        mover = game.to_move(state)
        return mover, tuple(game.legal_actions(state)), None if mover == CHANCE else game.sight(state, mover)

    def _is_one(self, first: Any, second: Any) -> Generator[None, None, bool]:
        """Returns whether two states that look the same to the player to move go on in the same way."""
        game = self._game
        if any(game.sight(first, seat) != game.sight(second, seat) for seat in range(self._seats)):
            return False
        try:
            for _ in range(_WALKS):
                if not (yield from self._walk_is_one(first, second)):
                    return False
        except ZermeloError:
            return False
        return True

    def _walk_is_one(self, first: Any, second: Any) -> Generator[None, None, bool]:
        game, generator = self._game, self._generator
        for step in range(_WALK_STEPS):
            if self._left <= 0:
                return True
            self._left -= 2
            ends = game.is_terminal(first), game.is_terminal(second)
            if any(ends):
                return all(ends)
            if game.to_move(first) != game.to_move(second):
                return False
            if game.to_move(first) == CHANCE:
                actions = [outcome for outcome, _ in game.chance_outcomes(first)]
                others = [outcome for outcome, _ in game.chance_outcomes(second)]
            else:
                actions, others = list(game.legal_actions(first)), list(game.legal_actions(second))
            if actions != others:
                return False
            action = actions[int(generator.integers(len(actions)))]
            paid = [game.utility(first), game.utility(second)]
            first = game.probe(first, action, step)
            yield
            second = game.probe(second, action, step)
            yield
            gains = [
                tuple(now - before for now, before in zip(game.utility(state), was, strict=True))
                for state, was in zip((first, second), paid, strict=True)
            ]
            if gains[0] != gains[1]:
                return False
        return True
