"""Comparison of what players observe with the state, in random play.

Two different states that look the same to the player to move show hidden information if another player sees them
differently, or if the same actions lead on to other moves, rewards or ends. Two that look different show nothing.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, Protocol

import numpy as np

from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import CHANCE, Game
from zermelo.envs.support.waiting import Deadline

_TOGETHER: Final = 3  # moves that are played in both of two positions to see whether they come to look the same
_WALKS: Final = 3
_WALK_STEPS: Final = 40


class Playable(Game[Any], Protocol):
    """A game over copies of an environment, as random play uses it."""

    as_numpy: bool
    pays_by_rewards: bool
    ignored_paths: dict[str, dict[str, str]]
    noisy: frozenset[str]

    def initial_state(self, seed: int = 0) -> Any: ...

    def play(self, state: Any, action: int) -> Any:
        """The state after an action, with the copy's own generators."""

    def probe(self, state: Any, action: int, seed: int) -> Any:
        """The state after an action, with all randomness from a seed."""

    def drew(self, before: Any, after: Any) -> bool:
        """Whether the step from one state to the other moved a random generator of the copy."""

    def draws_from(self) -> frozenset[str]:
        """The names of the generators outside of the environment that steps have moved."""

    def sides_said(self, state: Any) -> Mapping[str, Any]:
        """Whose move it is, by all names under which an environment for one player says it."""

    def rewards_now(self, state: Any) -> tuple[float, ...] | None:
        """The environment's ``rewards``, seat by seat; None where it has none."""

    def observation_key(self, state: Any, seat: int) -> Hashable:
        """A key of what a seat observes; None where that is not known."""

    def permuted(self, state: Any) -> Any:
        """A state with a copy of its own, which may be changed, and of which nothing is remembered."""

    def position(self, state: Any) -> Any: ...
    def environment(self, state: Any) -> Any: ...
    def leave_out(self, attributes: Mapping[str, Mapping[str, str]]) -> None: ...


def in_play(game: Playable, state: Any) -> dict[str, Any]:
    """Whose turn it is (None at the end), rewards and legal actions, by name."""
    over, mover = game.is_terminal(state), game.to_move(state)
    actions = () if over else game.chance_outcomes(state) if mover == CHANCE else game.legal_actions(state)
    return {"turn": None if over else mover, "rewards": game.utility(state), "actions": tuple(actions)}


def shown(game: Playable, state: Any) -> dict[str, Any]:
    """All that a state shows, by name, but for what differs at every look."""
    seen = {f"seen by {seat}": game.observation_key(state, seat) for seat in range(game.traits.seats)}
    return {name: part for name, part in (in_play(game, state) | seen).items() if name not in game.noisy}


def differences(game: Playable, first: Any, second: Any) -> set[str]:
    """The names of what two states show differently."""
    one, other = shown(game, first), shown(game, second)
    return {name for name in one if one[name] != other[name]}


def paid_between(game: Playable, before: Any, after: Any) -> tuple[float, ...]:
    """The payments on the way from one state to another."""
    return tuple(b - a for a, b in zip(game.utility(before), game.utility(after), strict=True))


def played_on(
    game: Playable, first: Any, second: Any, generator: np.random.Generator, steps: int, patience: Deadline
) -> Iterator[tuple[Any, Any]]:
    """Two states, and those that the same random moves lead to from both, until the first game ends."""
    yield first, second
    for step in range(steps):
        if game.is_terminal(first):
            return
        action = random_action(game, first, generator)
        patience.check()
        first, second = game.probe(first, action, step), game.probe(second, action, step)
        yield first, second


class Observability:
    """Pairs of positions that were compared; ``is_hidden`` says whether one showed that something is hidden.

    Attributes:
        pairs: How many pairs of different positions were compared.
        left: How many moves may still be played to see whether positions that look the same go on so.
        starts_alike: Whether each start looked like another one.
    """

    def __init__(self, game: Playable, probes: int, patience: Deadline) -> None:
        self._game, self._patience = game, patience
        self._generator = np.random.default_rng(1)
        self.pairs = 0
        self.left = probes
        self.is_hidden = False
        self.starts_alike = True

    def compare_starts(self, states: list[Any]) -> None:
        """Compares positions after resets with different seeds."""
        game = self._game
        groups: dict[Any, list[Any]] = {}
        for state in states:
            seen = None if game.is_terminal(state) else self._mover_sees(state)
            groups.setdefault(seen, []).append(state)
        self.starts_alike = all(len(group) > 1 for group in groups.values())
        for first, *others in groups.values():
            for other in others:
                self.compare(first, other)

    def compare(self, first: Any, second: Any) -> None:
        """Compares two positions, and those that the same moves lead to from both."""
        game = self._game
        for _ in range(_TOGETHER):
            if self.is_hidden or game.is_terminal(first) or game.is_terminal(second):
                return
            if CHANCE in (game.to_move(first), game.to_move(second)):
                return
            sees = self._mover_sees(first)
            if sees[-1] is None:  # it could not be asked
                return
            if sees == self._mover_sees(second):
                if game.position(first) == game.position(second):
                    return
                if not self._is_one(first, second):
                    self.is_hidden = True
                    return
            self.pairs += 1
            common = sorted(set(game.legal_actions(first)) & set(game.legal_actions(second)))
            if not common or game.to_move(first) != game.to_move(second):
                return
            self._patience.check()
            action = common[int(self._generator.integers(len(common)))]
            first, second = game.probe(first, action, 0), game.probe(second, action, 0)

    def _mover_sees(self, state: Any) -> Any:
        game = self._game
        mover = game.to_move(state)
        is_noisy = mover == CHANCE or f"seen by {mover}" in game.noisy
        return mover, tuple(game.legal_actions(state)), None if is_noisy else game.observation_key(state, mover)

    def _is_one(self, first: Any, second: Any) -> bool:
        """Whether two states that look the same to the player to move go on in the same way."""
        game, paid_before = self._game, {"rewards"}
        if differences(game, first, second) - paid_before:
            return False
        with contextlib.suppress(ZermeloError):  # where the environment fails nothing is shown
            for _ in range(_WALKS):
                steps = min(_WALK_STEPS, self.left // 2)
                pairs = played_on(game, first, second, self._generator, steps, self._patience)
                for before, after in itertools.pairwise(pairs):
                    self.left -= 2
                    one, other = (paid_between(game, *way) for way in zip(before, after, strict=True))
                    if one != other or differences(game, *after) - paid_before:
                        return False
        return True


def random_action(game: Any, state: Any, generator: np.random.Generator) -> int:
    """A legal action, or an outcome of chance with its probability."""
    if game.to_move(state) == CHANCE:
        outcomes, probabilities = zip(*game.chance_outcomes(state), strict=True)
        return int(generator.choice(outcomes, p=probabilities))
    actions = game.legal_actions(state)
    return int(actions[int(generator.integers(len(actions)))])
