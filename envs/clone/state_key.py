"""A hashable key of everything in an environment that can change its future.

The key comes from the whole state, never from an observation: observations are relative to an agent and leave out
what the rules remember (repetitions, move counters). Left out are random generators, whose state a search
replaces; spaces; what only draws; the caches of PettingZoo's wrappers; and rewards already received.

Two states have equal keys when everything else in them is equal: values of the same type, in containers of the
same order (sets aside), shared in the same places. Types count: ``1``, ``1.0`` and ``True`` differ, and so do
``0.0`` and ``-0.0``; every nan of the same bits is the same nan.
"""

from __future__ import annotations

import collections
import enum
import functools
import gc
import random
import types
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.object_graph import path_to
from zermelo.envs.clone.object_kinds import (
    FLATTEN,
    instance_dict,
    is_defined_in,
    is_display_type,
    is_shared_type,
    layout_of,
)
from zermelo.envs.clone.rewards_read import reads_cumulative_rewards
from zermelo.envs.clone.walk import reduce_quietly
from zermelo.envs.errors import CloneError

__all__ = ["ignore_in_key", "register_key", "state_key"]

_PLAIN: Final = frozenset({int, str, bytes, types.NoneType})
_GENERATORS: Final = (
    np.random.BitGenerator,
    np.random.SeedSequence,
    np.random.Generator,
    np.random.RandomState,
    random.Random,
)
_SPACES: Final = ("gymnasium.spaces.space.Space", "gym.spaces.space.Space")

_keys: dict[type, Callable[[Any], Hashable]] = {}
_ignored: dict[str, frozenset[str]] = {
    "pettingzoo.utils.wrappers.terminate_illegal.TerminateIllegalWrapper": frozenset({"_prev_obs", "_prev_info"}),
    "pettingzoo.utils.wrappers.order_enforcing.OrderEnforcingWrapper": frozenset({"_has_updated"}),
    "pettingzoo.classic.go.go.raw_env": frozenset({"_last_obs"}),
    "pettingzoo.classic.rlcard_envs.rlcard_base.RLCardBase": frozenset({"_last_obs"}),
    "gymnasium.utils.ezpickle.EzPickle": frozenset({"_ezpickle_args", "_ezpickle_kwargs"}),
    "pettingzoo.utils.ezpickle.EzPickle": frozenset({"_ezpickle_args", "_ezpickle_kwargs"}),
}
_ignored_of_class: dict[type, frozenset[str]] = {}


def register_key(cls: type, function: Callable[[Any], Hashable]) -> None:
    """Takes the key of objects of exactly this class from ``function(obj)``, which must tell all futures apart."""
    _keys[cls] = function


def ignore_in_key(full_name: str, *attributes: str) -> None:
    """Leaves attributes of a class (``module.Class``) and its subclasses out: caches that no rule reads."""
    _ignored[full_name] = _ignored.get(full_name, frozenset()) | frozenset(attributes)
    _ignored_of_class.clear()


def state_key(env: Any) -> Hashable:
    """The key of an environment's state; equal keys mean the same future.

    Raises:
        CloneError: Something in the environment has no value that could be compared; the message names it.
    """
    walk = _KeyWalk(_rewards_count(env))
    try:
        walk.add(env)
    except _UnkeyableError as error:
        raise CloneError(
            f"no key can be made of this {type(env).__qualname__}: {path_to(env, error.obj)} is a "
            f"{type(error.obj).__qualname__}, whose value cannot be compared; "
            "say what it is made of with zermelo.envs.register_clone"
        ) from None
    return tuple(walk.out)


class _UnkeyableError(Exception):
    def __init__(self, obj: Any) -> None:
        super().__init__(type(obj).__qualname__)
        self.obj = obj


class _KeyWalk:
    """Writes the state as one flat sequence of hashable values, each container led by its type and length."""

    __slots__ = ("keep", "out", "rewards_count", "seen")

    def __init__(self, rewards_count: bool) -> None:
        self.rewards_count = rewards_count
        """Rewards received are part of the key, as something may read them."""
        self.out: list[Any] = []
        self.seen: dict[int, int] = {}
        self.keep: list[Any] = []

    def add(self, obj: Any) -> None:
        cls = type(obj)
        if cls in _PLAIN:
            self.out.append(obj)
            return
        own = _keys.get(cls)
        if own is not None:
            self.out += (cls, own(obj))
            return
        writer = _write_flattened if cls in FLATTEN else _writers.get(cls)
        if writer is None:
            writer = _writers[cls] = _find_writer(cls)
        if writer in _VALUE_WRITERS:
            writer(obj, self)
            return
        index = self.seen.get(id(obj))
        if index is not None:
            self.out += (_Mark.SAME, index)
            return
        self.seen[id(obj)] = len(self.seen)
        writer(obj, self)


class _Mark(enum.Enum):
    SAME = "the object that was met as number ..."
    GENERATOR = "a random generator"
    SPACE = "a space"
    WEAK = "a weak reference"


Writer = Callable[[Any, _KeyWalk], None]


def _write_float(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (float, np.float64(obj).tobytes())


def _write_typed(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), obj)


def _write_shared(obj: Any, walk: _KeyWalk) -> None:
    try:
        hash(obj)
    except TypeError:
        walk.keep.append(obj)
        walk.out += (type(obj), id(obj))
    else:
        walk.out += (type(obj), obj)


def _write_text(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), repr(obj))


def _write_scalar(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), obj.dtype.str, obj.tobytes())


def _write_generator(obj: Any, walk: _KeyWalk) -> None:
    walk.out.append(_Mark.GENERATOR)


def _write_display(obj: Any, walk: _KeyWalk) -> None:
    walk.out.append(None)  # as if it were not there: it often comes with the first rendering


def _write_space(obj: Any, walk: _KeyWalk) -> None:
    walk.out.append(_Mark.SPACE)


def _write_sequence(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), len(obj))
    add = walk.add
    for item in obj:
        add(item)


def _write_flattened(obj: Any, walk: _KeyWalk) -> None:
    parts = FLATTEN[type(obj)](obj)
    walk.keep.append(parts)
    walk.out += (type(obj), len(parts))
    for part in parts:
        walk.add(part)


def _write_deque(obj: Any, walk: _KeyWalk) -> None:
    walk.out.append(obj.maxlen)
    _write_sequence(obj, walk)


def _write_dict(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), len(obj))
    add = walk.add
    for key, value in obj.items():
        add(key)
        add(value)


def _write_default(obj: Any, walk: _KeyWalk) -> None:
    walk.add(obj.default_factory)
    _write_dict(obj, walk)


def _write_set(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), len(obj))
    if all(type(item) in _PLAIN for item in obj):
        walk.out.append(frozenset(obj))
        return
    # Each element's own key first, to have an order; then as usual, so that what they share is written as shared.
    ordered = sorted(obj, key=functools.partial(_alone, rewards_count=walk.rewards_count))
    for item in ordered:
        walk.add(item)


def _alone(item: Any, rewards_count: bool) -> str:
    walk = _KeyWalk(rewards_count)
    walk.add(item)
    return repr(walk.out)


def _write_array(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), obj.shape, obj.dtype.str if obj.dtype.names is None else repr(obj.dtype))
    if obj.dtype == object:
        for item in obj.flat:
            walk.add(item)
    elif obj.dtype.hasobject:
        for item in obj.ravel().tolist():
            walk.add(item)
    else:
        walk.out.append(obj.tobytes())


def _write_bytes(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), bytes(obj))


def _write_function(obj: types.FunctionType, walk: _KeyWalk) -> None:
    walk.out.append(obj.__code__)
    for cell in obj.__closure__ or ():
        walk.add(cell)
    for part in (obj.__defaults__, obj.__kwdefaults__, obj.__dict__):
        if part:
            walk.add(part)


def _write_cell(obj: types.CellType, walk: _KeyWalk) -> None:
    try:
        walk.add(obj.cell_contents)
    except ValueError:
        walk.out.append(types.CellType)


def _write_method(obj: types.MethodType, walk: _KeyWalk) -> None:
    walk.out.append(types.MethodType)
    walk.add(obj.__func__)
    walk.add(obj.__self__)


def _write_builtin(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), obj.__name__)
    if obj.__self__ is None or isinstance(obj.__self__, types.ModuleType):
        walk.out.append(obj)
    else:
        walk.add(obj.__self__)


def _write_partial(obj: functools.partial[Any], walk: _KeyWalk) -> None:
    walk.out.append(functools.partial)
    for part in (obj.func, obj.args, obj.keywords):
        walk.add(part)


def _write_weakref(obj: weakref.ref[Any], walk: _KeyWalk) -> None:
    target = obj()
    index = walk.seen.get(id(target))
    walk.out += (_Mark.WEAK, type(target), -1 if index is None else index)


def _write_cached_function(obj: Any, walk: _KeyWalk) -> None:
    walk.add(obj.__wrapped__)


def _write_referents(obj: Any, walk: _KeyWalk) -> None:
    walk.out.append(type(obj))
    for item in gc.get_referents(obj):
        walk.add(item)


def _write_open_spiel_state(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), str(obj.get_game()), obj.serialize())


def _write_opaque(obj: Any, walk: _KeyWalk) -> None:
    """An object of C code, by what it says it would be rebuilt from."""
    try:
        parts = reduce_quietly(obj)
    except Exception:
        raise _UnkeyableError(obj) from None
    walk.keep.append(parts)
    walk.out.append(type(obj))
    for part in parts if isinstance(parts, tuple) else (parts,):
        if part is not None and not isinstance(part, types.BuiltinFunctionType | types.FunctionType):
            walk.add(part)


_CONTAINERS: Final[dict[type, Writer]] = {
    list: _write_sequence,
    tuple: _write_sequence,
    dict: _write_dict,
    collections.OrderedDict: _write_dict,
    collections.defaultdict: _write_default,
    set: _write_set,
    frozenset: _write_set,
    collections.deque: _write_deque,
    bytearray: _write_bytes,
}


def _object_writer(cls: type) -> Writer:
    layout = layout_of(cls)
    assert layout is not None  # asked for such classes only
    write_content = _CONTAINERS.get(layout.base)
    value = layout.base in (int, float, complex, str, bytes)
    ignored = _ignored_attributes(cls)
    slots = tuple(slot for slot in layout.slots if slot.__name__ not in ignored)

    unread = is_defined_in(cls, "pettingzoo.utils.env.AECEnv") and not reads_cumulative_rewards(cls)
    paid = frozenset({"_cumulative_rewards"} if unread else ())

    @functools.lru_cache(maxsize=64)
    def order(names: tuple[str, ...], rewards_count: bool) -> tuple[str, ...]:
        """Attributes in one order, whatever order they were set in."""
        left_out = ignored if rewards_count else ignored | paid
        return tuple(sorted((name for name in names if name not in left_out), key=str))

    def write(obj: Any, walk: _KeyWalk) -> None:
        walk.out.append(cls)
        if write_content is not None:
            write_content(obj, walk)
        elif value:
            walk.out.append(repr(layout.base(obj)))
        fields = instance_dict(obj)
        if fields is not None:
            add = walk.add
            for name in order(tuple(fields), walk.rewards_count):
                walk.out.append(name)
                add(fields[name])
        for slot in slots:
            try:
                content = slot.__get__(obj)
            except AttributeError:
                continue
            walk.out.append(slot.__name__)
            walk.add(content)

    return write


def _ignored_attributes(cls: type) -> frozenset[str]:
    found = _ignored_of_class.get(cls)
    if found is None:
        names: set[str] = set()
        for base in cls.__mro__:
            names |= _ignored.get(f"{base.__module__}.{base.__qualname__}", frozenset())
        found = _ignored_of_class[cls] = frozenset(names)
    return found


def _rewards_count(env: Any) -> bool:
    """Whether the environment, or something that it wraps or that wraps it, may read rewards received."""
    layer, classes = env, []
    while layer is not None:
        classes.append(type(layer))
        layer = getattr(layer, "__dict__", {}).get("env")
    return _one_reads(tuple(classes))


@functools.lru_cache(maxsize=1024)
def _one_reads(classes: tuple[type, ...]) -> bool:
    return any(reads_cumulative_rewards(cls) for cls in classes)


_writers: dict[type, Writer] = {
    float: _write_float,
    bool: _write_typed,
    types.FunctionType: _write_function,
    types.CellType: _write_cell,
    types.MethodType: _write_method,
    types.BuiltinMethodType: _write_builtin,
    types.MethodWrapperType: _write_builtin,
    functools.partial: _write_partial,
    weakref.ref: _write_weakref,
    type(functools.lru_cache(len)): _write_cached_function,
    types.MappingProxyType: _write_referents,
    **_CONTAINERS,
}
_VALUE_WRITERS: Final = frozenset(
    {
        _write_float,
        _write_typed,
        _write_shared,
        _write_text,
        _write_scalar,
        _write_generator,
        _write_display,
        _write_space,
        _write_weakref,
    }
)


def _find_writer(cls: type) -> Writer:
    if issubclass(cls, _GENERATORS):
        return _write_generator
    if is_display_type(cls):
        return _write_display
    if is_defined_in(cls, *_SPACES):
        return _write_space
    if is_shared_type(cls) and cls.__module__ != "chess":  # two equal moves or positions may be two objects
        if issubclass(cls, np.generic):
            return _write_scalar
        return _write_text if cls.__module__ in ("decimal", "fractions") or cls is complex else _write_shared
    if issubclass(cls, np.generic):
        return _write_scalar
    if is_defined_in(cls, "pyspiel.State"):
        return _write_open_spiel_state
    if issubclass(cls, np.ndarray):
        return _write_array
    if layout_of(cls) is not None:
        return _object_writer(cls)
    return _write_opaque
