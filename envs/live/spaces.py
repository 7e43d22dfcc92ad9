"""Numbers for the actions of a space: every finite Gymnasium space, nested ones too.

For ``Discrete`` they are the environment's own actions. Others are flattened to digits, one for each entry, in the
order of the space; numbers are flat indices in C order.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zermelo.envs.errors import UnsupportedGameError

MAX_ENUMERATED_ACTIONS = 100_000
"""Action spaces greater than this are not enumerated: no search could look at so many actions."""


class ActionCodec:
    """The integers that stand for the actions of one finite space; ``owner`` says in messages whose it is.

    Attributes:
        size: The number of actions in the space.
        is_discrete: Whether numbers are the environment's own actions.
        as_numpy: Whether a single number is given as an integer of NumPy's, as by ``space.sample()``.

    Raises:
        UnsupportedGameError: The space cannot be enumerated.
    """

    def __init__(self, space: Any, owner: str, *, as_numpy: bool = False) -> None:
        self.space = space
        self.as_numpy = as_numpy
        self._owner = owner
        self._all: tuple[int, ...] | None = None
        self.is_discrete = _kind(space) == "Discrete"
        self.first = int(getattr(space, "start", 0)) if self.is_discrete else 0
        self._radices = _radices(space, f"the action space of {owner} is {space}")
        self.size = math.prod(self._radices)

    def to_env(self, action: int) -> Any:
        """The action for this integer, as ``env.step`` takes it."""
        if self.is_discrete:
            return _native(self.space, action) if self.as_numpy else action
        return _element(self.space, iter(np.unravel_index(action, self._radices)), as_numpy=self.as_numpy)

    def to_index(self, env_action: Any) -> int:
        """The integer for what ``env.step`` takes; the inverse of ``to_env``."""
        if self.is_discrete:
            return int(env_action)
        return int(np.ravel_multi_index(tuple(_digits(self.space, env_action)), self._radices))

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
        An array may have the shape of the table of actions instead, one axis for each component of the space, or
        that of the first components: what it allows is then allowed with all values of the others; all zero, it
        stands for their first values, as with a pass that is a component of its own.
        """
        if self.is_discrete:
            entries = np.asarray(mask)
            if entries.size != self.size:
                raise self._unfit(mask, f"{self.size} entries")
            allowed = entries.ravel().nonzero()[0]
            return tuple((allowed + self.first if self.first else allowed).tolist())
        is_flat = not isinstance(mask, tuple | Mapping) and np.ndim(mask) == 1 and np.size(mask) == self.size
        is_multi_discrete = _kind(self.space) == "MultiDiscrete"
        if is_flat and len(self._radices) > 1 and sum(self._radices) == self.size and is_multi_discrete:
            raise self._unfit(mask, "a tuple with one mask for each component (a flat one is ambiguous here)")
        if is_flat:
            return tuple(np.flatnonzero(np.asarray(mask)).tolist())
        if self._is_table(mask):
            first, others = np.flatnonzero(np.asarray(mask)), self.size // int(np.size(mask))
            first = np.zeros(1, int) if others > 1 and not first.size else first
            return tuple((first[:, np.newaxis] * others + np.arange(others)).ravel().tolist())
        try:
            return self._product(_allowed(self.space, mask))
        except ValueError:
            raise self._unfit(mask, _mask_form(self.space)) from None

    def _is_table(self, mask: Any) -> bool:
        """Whether a mask is an array with an axis for each of the first components, and not one row for each."""
        has_axes = _kind(self.space) in ("MultiDiscrete", "Tuple", "Dict")
        shape = [*np.shape(mask)] if has_axes and not isinstance(mask, tuple | list | Mapping) else []
        is_by_rows = len({*self._radices}) == 1 and shape == [len(self._radices), self._radices[0]]
        return len(shape) > 1 and shape == self._radices[: len(shape)] and not is_by_rows

    def _product(self, digits: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        count = math.prod(len(choices) for choices in digits)
        if count > MAX_ENUMERATED_ACTIONS:
            raise UnsupportedGameError(
                f"the action mask of {self._owner} allows {count:.3g} actions: search enumerates at most "
                f"{MAX_ENUMERATED_ACTIONS:,}"
            )
        weights = [math.prod(self._radices[i + 1 :]) for i in range(len(self._radices))]
        parts = [[d * weight for d in choices] for choices, weight in zip(digits, weights, strict=True)]
        return tuple(sum(part) for part in itertools.product(*parts))

    def _unfit(self, mask: Any, wanted: str) -> UnsupportedGameError:
        parts: Any = mask.values() if isinstance(mask, Mapping) else mask
        shape = tuple(map(np.shape, parts)) if isinstance(mask, tuple | Mapping) else np.shape(mask)
        return UnsupportedGameError(
            f"the action mask of {self._owner} has shape {shape}, but its action space {self.space} needs {wanted}"
        )


def _kind(space: Any) -> str:
    """The name of the class that a space is of, in Gymnasium or in Gym."""
    cls: Any = type(space)
    return _kind_of(cls)


@functools.cache  # by the class itself, whose bases are fixed
def _kind_of(space: Any) -> str:
    modules = ("gymnasium.spaces.", "gym.spaces.")
    return next((cls.__name__ for cls in space.__mro__ if cls.__module__.startswith(modules)), "")


def _parts(space: Any) -> list[tuple[Any, Any]]:
    return list(space.spaces.items() if _kind(space) == "Dict" else enumerate(space.spaces))


def _is_nested(space: Any) -> bool:
    return _kind(space) in ("Tuple", "Dict")


def _radices(space: Any, whose: str) -> list[int]:
    """The radix of each digit of an action; ``whose`` begins the message if one is infinite."""
    if _is_nested(space):
        return [radix for _, part in _parts(space) for radix in _radices(part, whose)]
    if _kind(space) == "Discrete":
        return [int(space.n)]
    if _kind(space) == "MultiDiscrete":
        return [int(n) for n in np.ravel(space.nvec)]
    if _kind(space) == "MultiBinary":
        return [2] * math.prod(space.shape)
    if _kind(space) == "Box" and np.issubdtype(space.dtype, np.integer) and space.is_bounded():
        return [int(n) for n in np.ravel(space.high).astype(np.int64) - np.ravel(space.low).astype(np.int64) + 1]
    remedy = "zermelo.envs.discretise(env, actions=[...]) makes it those that you list"
    if _kind(space) == "Box":
        remedy = "zermelo.envs.discretise(env, bins=5) makes so many actions of each number"
    raise UnsupportedGameError(f"{whose}, which cannot be enumerated, as search needs: {remedy}")


def _first_values(space: Any) -> Any:
    """The values that the digits 0 of a space stand for."""
    if _kind(space) == "Box":
        return np.ravel(space.low).astype(np.int64)
    return np.ravel(getattr(space, "start", 0))


def _native(space: Any, number: int) -> Any:
    return np.dtype(getattr(space, "dtype", None) or np.int64).type(number)


def _element(space: Any, digits: Iterator[Any], *, as_numpy: bool) -> Any:
    """The element of a space for the next digits."""
    if _is_nested(space):
        parts = [(name, _element(part, digits, as_numpy=as_numpy)) for name, part in _parts(space)]
        return dict(parts) if _kind(space) == "Dict" else tuple(element for _, element in parts)
    if _kind(space) == "Discrete":
        number = int(next(digits)) + int(getattr(space, "start", 0))
        return _native(space, number) if as_numpy else number
    values = np.array([int(next(digits)) for _ in range(math.prod(space.shape))]) + _first_values(space)
    return values.astype(space.dtype).reshape(space.shape)


def _digits(space: Any, element: Any) -> list[int]:
    if _is_nested(space):
        return [digit for name, part in _parts(space) for digit in _digits(part, element[name])]
    return list((np.ravel(np.asarray(element)).astype(np.int64) - _first_values(space)).tolist())


def _allowed(space: Any, mask: Any) -> list[tuple[int, ...]]:
    """The values of each digit that a mask in Gymnasium's form allows."""
    if _is_nested(space):
        parts = _parts(space)
        if not isinstance(mask, tuple | list | Mapping) or len(mask) != len(parts):
            raise ValueError
        digits: list[tuple[int, ...]] = []
        for name, part in parts:
            every = [tuple(range(radix)) for radix in _radices(part, "")]
            digits += every if mask[name] is None else _allowed(part, mask[name])
        return digits
    radices = _radices(space, "")
    if _kind(space) == "MultiBinary":
        entries = np.ravel(np.asarray(mask))
        if entries.size != len(radices):
            raise ValueError
        return [(0, 1) if entry == 2 else (int(entry != 0),) for entry in entries]
    masks = _components(mask)
    if len(masks) == 1 and masks[0].size == sum(radices):
        masks = np.split(masks[0], np.cumsum(radices)[:-1])
    if [part.size for part in masks] != radices:
        raise ValueError
    if not any(part.any() for part in masks):
        return [()] * len(masks)
    return [tuple(np.flatnonzero(part).tolist()) or (0,) for part in masks]


def _mask_form(space: Any) -> str:
    if _is_nested(space):
        return f"a {'mapping' if _kind(space) == 'Dict' else 'tuple'} with the mask of each space"
    if _kind(space) == "MultiBinary":
        return f"shape {space.shape}, with 0, 1 or 2 (either) in each place"
    return f"a tuple of masks with {', '.join(map(str, _radices(space, '')))} entries"


def _components(mask: Any) -> list[np.ndarray[Any, Any]]:
    """The masks inside a possibly nested tuple, in order; a single array is one component."""
    if isinstance(mask, tuple | list) and any(np.ndim(part) for part in mask):
        return [component for part in mask for component in _components(part)]
    array = np.asarray(mask)
    if array.ndim > 1:
        return [np.asarray(row) for row in array.reshape(-1, array.shape[-1])]
    return [array]
