"""Numbers for the actions of a space: every finite Gymnasium space, nested ones too.

For a ``Discrete`` space the numbers are the environment's own actions (its ``start`` included). Other spaces are
flattened to digits, one for each ``Discrete``, each entry of a ``MultiDiscrete`` or ``MultiBinary`` and each entry
of a bounded ``Box`` of integers, in the order of the space; numbers are flat indices in C order, the last digit
changing fastest. ``ActionCodec.to_env`` gives the element of the space.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.envs.errors import UnsupportedGameError

MAX_ENUMERATED_ACTIONS = 100_000
"""Action spaces greater than this are not enumerated: no search could look at so many actions."""


@dataclass(frozen=True)
class _Part:
    """A space as digits.

    Attributes:
        radices: How many values each digit has.
        build: The element of the space for digits.
        read: The digits of an element of the space.
        allowed: The values of each digit that a mask in Gymnasium's form allows.
        masks: What such a mask is, for messages.
    """

    radices: tuple[int, ...]
    build: Callable[[Sequence[int]], Any]
    read: Callable[[Any], list[int]]
    allowed: Callable[[Any], list[tuple[int, ...]]]
    masks: str


class _UnfitMaskError(Exception):
    """A mask is not of the form that its space needs."""


class ActionCodec:
    """The integers that stand for the actions of one space.

    Args:
        space: A finite space: ``Discrete``, ``MultiDiscrete``, ``MultiBinary``, a ``Box`` of integers, or a
            ``Tuple`` or ``Dict`` of such.
        owner: Whose space it is, for messages.

    Attributes:
        size: The number of actions in the space.

    Raises:
        UnsupportedGameError: The space cannot be enumerated.
    """

    def __init__(self, space: Any, owner: str) -> None:
        from gymnasium import spaces

        self.space = space = _in_gymnasium(space)
        self._owner = owner
        self._all: tuple[int, ...] | None = None
        self.is_discrete = isinstance(space, spaces.Discrete)
        """Whether integers are the environment's own actions."""
        self.first = int(space.start) if self.is_discrete else 0
        self._part = _part(space, f"the action space of {owner} is {space}")
        self.size = math.prod(self._part.radices)

    def to_env(self, action: int) -> Any:
        """What ``env.step`` takes for this integer."""
        if self.is_discrete:
            return action
        return self._part.build([int(digit) for digit in np.unravel_index(action, self._part.radices)])

    def to_index(self, env_action: Any) -> int:
        """The integer for what ``env.step`` takes; the inverse of ``to_env``."""
        if self.is_discrete:
            return int(env_action)
        return int(np.ravel_multi_index(tuple(self._part.read(env_action)), self._part.radices))

    def all_actions(self) -> tuple[int, ...]:
        """Every action of the space, ascending."""
        if self._all is None:
            if self.size > MAX_ENUMERATED_ACTIONS:
                raise UnsupportedGameError(
                    f"the action space of {self._owner} has {self.size:.3g} actions and no action mask: search "
                    f"enumerates at most {MAX_ENUMERATED_ACTIONS:,}; zermelo.envs.discretise(env, actions=[...]) "
                    "keeps to those that you list"
                )
            self._all = tuple(range(self.first, self.first + self.size))
        return self._all

    def masked(self, mask: Any) -> tuple[int, ...]:
        """The actions that a mask allows, ascending.

        A mask has one entry for each action, or the form that ``space.sample(mask)`` takes; for ``MultiDiscrete``
        also one mask after the other in one array. A component of it that is all zero stands for its first value.
        """
        if self.is_discrete:
            allowed = np.flatnonzero(np.asarray(mask))
            if np.size(mask) != self.size:
                raise self._unfit(mask, f"{self.size} entries")
            if self.first:
                allowed = allowed + self.first
            result: list[int] = allowed.tolist()
            return tuple(result)
        is_flat = not isinstance(mask, tuple | Mapping) and np.ndim(mask) == 1 and np.size(mask) == self.size
        radices = self._part.radices
        if is_flat and len(radices) > 1 and sum(radices) == self.size and _is_multi_discrete(self.space):
            raise self._unfit(mask, "a tuple with one mask for each component (a flat one is ambiguous here)")
        if is_flat:
            return tuple(np.flatnonzero(np.asarray(mask)).tolist())
        try:
            return self._product(self._part.allowed(mask))
        except _UnfitMaskError:
            raise self._unfit(mask, self._part.masks) from None

    def _product(self, digits: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        count = math.prod(len(choices) for choices in digits)
        if count > MAX_ENUMERATED_ACTIONS:
            raise UnsupportedGameError(
                f"the action mask of {self._owner} allows {count:.3g} actions: search enumerates at most "
                f"{MAX_ENUMERATED_ACTIONS:,}"
            )
        radices = self._part.radices
        weights = [math.prod(radices[i + 1 :]) for i in range(len(radices))]
        parts = [[d * weight for d in choices] for choices, weight in zip(digits, weights, strict=True)]
        return tuple(sum(part) for part in itertools.product(*parts))

    def _unfit(self, mask: Any, wanted: str) -> UnsupportedGameError:
        shape: Any = (
            np.shape(mask) if not isinstance(mask, tuple | Mapping) else tuple(map(np.shape, _values(mask)))
        )
        return UnsupportedGameError(
            f"the action mask of {self._owner} has shape {shape}, but its action space {self.space} needs {wanted}"
        )


def _is_multi_discrete(space: Any) -> bool:
    from gymnasium import spaces

    return isinstance(space, spaces.MultiDiscrete)


def _values(mask: Any) -> Iterable[Any]:
    return mask.values() if isinstance(mask, Mapping) else mask


def _part(space: Any, whose: str) -> _Part:
    """A space as digits; ``whose`` begins the message if it is not finite."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return _array([int(space.n)], int(space.start), lambda digits: int(digits[0]), "a mask for each number")
    if isinstance(space, spaces.MultiDiscrete):
        radices = [int(n) for n in np.ravel(space.nvec)]
        masks = f"a tuple of masks with {', '.join(map(str, radices))} entries"
        return _array(radices, np.ravel(space.start), _shaped(space), masks)
    if isinstance(space, spaces.MultiBinary):
        part = _array([2] * math.prod(space.shape), 0, _shaped(space), "")
        masks = f"shape {space.shape}, with 0, 1 or 2 (either) in each place"
        return _Part(part.radices, part.build, part.read, _binary(len(part.radices)), masks)
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.integer) and space.is_bounded():
        low = np.ravel(space.low).astype(np.int64)
        radices = (np.ravel(space.high).astype(np.int64) - low + 1).tolist()
        return _array(
            radices, low, _shaped(space), f"a tuple of masks with {', '.join(map(str, radices))} entries"
        )
    if isinstance(space, spaces.Tuple):
        parts = [_part(each, whose) for each in space.spaces]
        return _nested(parts, range(len(parts)), tuple, "a tuple with the mask of each space")
    if isinstance(space, spaces.Dict):
        parts = [_part(each, whose) for each in space.spaces.values()]
        names = list(space.spaces)
        return _nested(
            parts,
            names,
            lambda values: dict(zip(names, values, strict=True)),
            "a mapping with the mask of each space",
        )
    remedy = (
        "zermelo.envs.discretise(env, bins=5) makes so many actions of each number"
        if isinstance(space, spaces.Box)
        else "zermelo.envs.discretise(env, actions=[...]) makes it those that you list"
    )
    raise UnsupportedGameError(f"{whose}, which cannot be enumerated, as search needs: {remedy}")


def _in_gymnasium(space: Any) -> Any:
    """The space itself; of Gym's spaces, which Gymnasium follows, the same one of Gymnasium."""
    from gymnasium import spaces

    if not type(space).__module__.startswith("gym.spaces"):
        return space
    kind = type(space).__name__
    if kind == "Discrete":
        return spaces.Discrete(int(space.n), start=int(getattr(space, "start", 0)))
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(space.nvec)
    if kind == "MultiBinary":
        return spaces.MultiBinary(space.n)
    if kind == "Box":
        return spaces.Box(space.low, space.high, dtype=space.dtype.type)
    if kind == "Tuple":
        return spaces.Tuple([_in_gymnasium(each) for each in space.spaces])
    if kind == "Dict":
        return spaces.Dict({name: _in_gymnasium(each) for name, each in space.spaces.items()})
    return space


def _shaped(space: Any) -> Callable[[Any], Any]:
    return lambda digits: np.asarray(digits).astype(space.dtype).reshape(space.shape)


def _array(radices: Sequence[int], offsets: Any, build: Callable[[Any], Any], masks: str) -> _Part:
    """Numbers from offsets on, in an array or alone."""

    def allowed(mask: Any) -> list[tuple[int, ...]]:
        parts = _components(mask)
        if len(parts) == 1 and parts[0].size == sum(radices):
            parts = np.split(parts[0], np.cumsum(radices)[:-1])
        if [part.size for part in parts] != list(radices):
            raise _UnfitMaskError
        if not any(part.any() for part in parts):
            return [()] * len(parts)
        return [tuple(np.flatnonzero(part).tolist()) or (0,) for part in parts]

    return _Part(
        tuple(radices),
        lambda digits: build(np.asarray(digits) + offsets),
        lambda action: (np.ravel(np.asarray(action)).astype(np.int64) - offsets).tolist(),
        allowed,
        masks,
    )


def _binary(count: int) -> Callable[[Any], list[tuple[int, ...]]]:
    def allowed(mask: Any) -> list[tuple[int, ...]]:
        entries = np.ravel(np.asarray(mask))
        if entries.size != count:
            raise _UnfitMaskError
        return [(0, 1) if entry == 2 else (int(entry != 0),) for entry in entries]

    return allowed


def _nested(parts: Sequence[_Part], names: Sequence[Any], build: Callable[[list[Any]], Any], masks: str) -> _Part:
    """The digits of several spaces, one after the other."""
    ends = list(itertools.accumulate(len(part.radices) for part in parts))
    begins = [0, *ends[:-1]]

    def allowed(mask: Any) -> list[tuple[int, ...]]:
        if not isinstance(mask, tuple | list | Mapping) or len(mask) != len(parts):
            raise _UnfitMaskError
        digits: list[tuple[int, ...]] = []
        for part, name in zip(parts, names, strict=True):
            digits += [tuple(range(n)) for n in part.radices] if mask[name] is None else part.allowed(mask[name])
        return digits

    return _Part(
        tuple(radix for part in parts for radix in part.radices),
        lambda digits: build([part.build(digits[a:b]) for part, a, b in zip(parts, begins, ends, strict=True)]),
        lambda action: [
            digit for part, name in zip(parts, names, strict=True) for digit in part.read(action[name])
        ],
        allowed,
        masks,
    )


def _components(mask: Any) -> list[np.ndarray[Any, Any]]:
    """The masks inside a possibly nested tuple, in order; a single array is one component."""
    if isinstance(mask, tuple | list) and any(np.ndim(part) for part in mask):
        return [component for part in mask for component in _components(part)]
    array = np.asarray(mask)
    if array.ndim > 1:
        return [np.asarray(row) for row in array.reshape(-1, array.shape[-1])]
    return [array]
