"""What random play shows of an environment: its sums of rewards, and whether it draws random numbers.

A step draws if playing it twice, with different seeds, leads to different states; that is tried on all of the
first steps, then on every fifth and on those that end a game.

Only legal actions are played, on copies, so no illegal end says anything. Play is bounded by ``MAX_STEPS`` steps
and ``MAX_SECONDS``, from a few resets with different seeds. What it shows is remembered for later environments of
the same class and the same configuration: all simple attributes that stayed the same throughout that play. An
environment whose constructor or reset options differ therefore is looked at again.
"""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from zermelo.envs.adapters.wrappers import game_layers
from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import CHANCE, Chance, RewardSum

__all__ = ["Findings", "Probe", "configuration", "infer", "remembered", "same_configuration"]

MAX_STEPS = 600
MAX_SECONDS = 0.3
MAX_PLAYOUTS = 12
_PAIRED_STEPS = 40
_PAIRED_EVERY = 5
_SUM_TOLERANCE = 1e-9


class Probe(Protocol):
    """What inference needs of an adapted game."""

    def initial_state(self, seed: int = 0) -> Any:
        """The position after a reset with a seed."""
        ...

    def to_move(self, state: Any) -> int:
        """The seat to move, or ``CHANCE``."""
        ...

    def chance_outcomes(self, state: Any) -> Any:
        """The outcomes of declared chance."""
        ...

    def legal_actions(self, state: Any) -> Any:
        """The legal actions."""
        ...

    def is_terminal(self, state: Any) -> bool:
        """Whether the game is over."""
        ...

    def utility(self, state: Any) -> tuple[float, ...]:
        """Rewards since the first state."""
        ...

    def probe(self, state: Any, action: int, seed: int) -> tuple[Any, bool]:
        """The state after an action with all randomness from a seed; whether global random modules were used."""
        ...

    def comparable(self, state: Any) -> Any:
        """A value of the state in which random generators do not count."""
        ...

    def environment(self, state: Any) -> Any:
        """The copy of the environment in a state."""
        ...


@dataclass(frozen=True)
class Findings:
    """What play showed.

    Attributes:
        inferred: Fields of ``Traits`` that play showed.
        assumed: Fields that play could not show, with the usual value.
        uses_global_random: A step drew from the ``random`` or ``numpy.random`` module.
        constants: The simple attributes that never changed, by path.
        finished: Playouts that reached an end.
    """

    inferred: Mapping[str, Any]
    assumed: Mapping[str, Any]
    uses_global_random: bool
    constants: Mapping[str, Any]
    finished: int


_memory: dict[tuple[type, ...], list[Findings]] = {}
_MEMORY_PER_CLASS = 32


def infer(game: Probe, root: Any, seats: int) -> Findings:
    """Plays at random from resets (and from ``root``, where reset does not work) and says what was seen."""
    play = _Play(game, root)
    play.run()
    inferred: dict[str, Any] = {"chance": Chance.SAMPLED if play.differs else Chance.NONE}
    assumed: dict[str, Any] = {}
    if play.sums:
        inferred |= _reward_sum(play.sums, seats)
        inferred["terminal_rewards_only"] = not play.early_rewards
    elif play.early_rewards:
        inferred["terminal_rewards_only"] = False
    if not play.sums:
        assumed["reward_sum"] = RewardSum.ZERO if seats == 2 else RewardSum.GENERAL
        assumed["constant"] = 0.0
    findings = Findings(inferred, assumed, play.uses_global_random, play.constants, len(play.sums))
    remembered_for_class = _memory.setdefault(_classes(game.environment(root)), [])
    if len(remembered_for_class) < _MEMORY_PER_CLASS:
        remembered_for_class.append(findings)
    return findings


def remembered(env: Any) -> Findings | None:
    """What play showed before of an environment of the same class and configuration, if it did."""
    known = _memory.get(_classes(env))
    if not known:
        return None
    now = configuration(env)
    return next((findings for findings in known if same_configuration(findings.constants, now)), None)


def same_configuration(constants: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether an environment still has all the values that never change in play."""
    missing = object()
    return all(now.get(path, missing) == value for path, value in constants.items())


def _reward_sum(sums: list[float], seats: int) -> dict[str, Any]:
    if seats > 1 and all(abs(total) <= _SUM_TOLERANCE for total in sums):
        return {"reward_sum": RewardSum.ZERO, "constant": 0.0}
    constant = sums[0]
    tolerance = _SUM_TOLERANCE * max(1.0, abs(constant))
    if seats > 1 and len(sums) > 1 and all(math.isclose(s, constant, abs_tol=tolerance) for s in sums):
        return {"reward_sum": RewardSum.CONSTANT, "constant": constant}
    return {"reward_sum": RewardSum.GENERAL, "constant": 0.0}


@dataclass
class _Play:
    """Random play and what was seen in it."""

    game: Probe
    root: Any
    sums: list[float] = field(default_factory=list)
    early_rewards: bool = False
    differs: bool = False
    uses_global_random: bool = False
    constants: dict[str, Any] = field(default_factory=dict)
    steps: int = 0

    def run(self) -> None:
        self.constants = configuration(self.game.environment(self.root))
        generator = np.random.default_rng(0)
        deadline = time.monotonic() + MAX_SECONDS
        for playout in range(MAX_PLAYOUTS):
            if self.steps >= MAX_STEPS or (playout and time.monotonic() > deadline):
                return
            try:
                state = self.game.initial_state(playout)
            except ZermeloError:
                state = self.root
            try:
                self._playout(state, generator, deadline)
            except ZermeloError:
                continue  # a broken position ends this playout; the search will report it if it gets there

    def _playout(self, state: Any, generator: np.random.Generator, deadline: float) -> None:
        game = self.game
        self._keep_constants(state)
        while not game.is_terminal(state):
            if self.steps >= MAX_STEPS or time.monotonic() > deadline:
                return
            action = self._draw(state, generator)
            after, used = game.probe(state, action, 2 * self.steps)
            self.uses_global_random |= used
            if not self.differs and (
                self.steps < _PAIRED_STEPS or self.steps % _PAIRED_EVERY == 0 or game.is_terminal(after)
            ):
                again, used = game.probe(state, action, 2 * self.steps + 1)
                self.uses_global_random |= used
                self.differs = game.comparable(after) != game.comparable(again)
            self.steps += 1
            state = after
            if not game.is_terminal(state) and any(game.utility(state)):
                self.early_rewards = True
            self._keep_constants(state)
        self.sums.append(math.fsum(game.utility(state)))

    def _draw(self, state: Any, generator: np.random.Generator) -> int:
        if self.game.to_move(state) == CHANCE:
            outcomes, probabilities = zip(*self.game.chance_outcomes(state), strict=True)
            return int(generator.choice(outcomes, p=probabilities))
        actions = self.game.legal_actions(state)
        return int(actions[int(generator.integers(len(actions)))])

    def _keep_constants(self, state: Any) -> None:
        now = configuration(self.game.environment(state))
        missing = object()
        changed = [path for path, value in self.constants.items() if now.get(path, missing) != value]
        for path in changed:
            del self.constants[path]


# -- configuration -----------------------------------------------------------------------------------------------

_SIMPLE = (int, float, complex, str, bytes, bool, type(None), enum.Enum, np.generic)
_MAX_ITEMS = 64
_MAX_DEPTH = 3


def configuration(env: Any) -> dict[str, Any]:
    """The simple values in an environment's attributes (numbers, text, short containers of them), by path."""
    found: dict[str, Any] = {}
    for depth, layer in enumerate(game_layers(env)):
        found[str(depth)] = type(layer)
        _collect(getattr(layer, "__dict__", {}), str(depth), found, 0)
    return found


def _collect(attributes: Mapping[str, Any], path: str, found: dict[str, Any], depth: int) -> None:
    for name, value in attributes.items():
        if name in ("render_mode", "_cumulative_rewards", "defer_chance"):
            continue
        here = f"{path}.{name}"
        simple = _simple(value)
        if simple is not _NOT_SIMPLE:
            found[here] = simple
        elif isinstance(value, Mapping):
            if len(value) <= _MAX_ITEMS and depth < _MAX_DEPTH:
                _collect({repr(key): item for key, item in value.items()}, here, found, depth + 1)
        elif type(value).__module__.startswith("gymnasium.spaces"):
            found[here] = repr(value)
        elif depth < _MAX_DEPTH - 1 and _is_plain_object(value):
            _collect(vars(value), here, found, depth + 1)


_NOT_SIMPLE = object()


def _simple(value: Any) -> Any:
    if isinstance(value, _SIMPLE):
        return value
    if type(value) in (tuple, list, frozenset, set) and len(value) <= _MAX_ITEMS:
        items = [_simple(item) for item in value]
        if all(item is not _NOT_SIMPLE for item in items):
            return frozenset(items) if isinstance(value, frozenset | set) else tuple(items)
    if isinstance(value, np.ndarray) and value.size <= _MAX_ITEMS and value.dtype != object:
        return value.shape, value.tobytes()
    return _NOT_SIMPLE


def _is_plain_object(value: Any) -> bool:
    module = type(value).__module__
    return (
        hasattr(value, "__dict__")
        and not isinstance(value, type)
        and not callable(value)
        and not module.startswith(("gymnasium", "pygame", "numpy", "random", "builtins"))
    )


def _classes(env: Any) -> tuple[type, ...]:
    return tuple(type(layer) for layer in game_layers(env))
