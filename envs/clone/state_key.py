"""A hashable key of everything in an environment that can change its future.

The key comes from the whole state, never from an observation: observations are relative to an agent and leave out
what the rules remember (repetitions, move counters). Left out are random generators, whose state a search
replaces; spaces; what only draws; the caches of PettingZoo's wrappers; and rewards already received.

Two states have equal keys when everything else in them is equal: values of the same type, in containers of the
same order (sets aside), shared in the same places. Types count: ``1``, ``1.0`` and ``True`` differ, and so do
``0.0`` and ``-0.0``; every nan of the same bits is the same nan.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any, Final

from zermelo.envs.clone.kinds import (
    Kind,
    Layout,
    Mark,
    UncopyableError,
    is_defined_in,
    no_parts,
)
from zermelo.envs.clone.structures import BUILTINS, Builtin
from zermelo.envs.clone.traversal import KINDS, kind_of, path_to, register_kind
from zermelo.envs.errors import CloneError

__all__ = ["ignore_in_key", "register_key", "state_key"]

_PLAIN: Final = frozenset({int, str, bytes, types.NoneType})
_ignored: dict[str, frozenset[str]] = {
    "pettingzoo.utils.wrappers.terminate_illegal.TerminateIllegalWrapper": frozenset({"_prev_obs", "_prev_info"}),
    "pettingzoo.utils.wrappers.order_enforcing.OrderEnforcingWrapper": frozenset({"_has_updated"}),
    "pettingzoo.classic.go.go.raw_env": frozenset({"_last_obs"}),
    "pettingzoo.classic.rlcard_envs.rlcard_base.RLCardBase": frozenset({"_last_obs"}),
    "gymnasium.utils.ezpickle.EzPickle": frozenset({"_ezpickle_args", "_ezpickle_kwargs"}),
    "pettingzoo.utils.ezpickle.EzPickle": frozenset({"_ezpickle_args", "_ezpickle_kwargs"}),
}


def register_key(cls: type, function: Callable[[Any], Hashable]) -> None:
    """Takes the key of objects of exactly this class from ``function(obj)``, which must tell all futures apart."""
    register_kind(cls, replace(kind_of(cls), value=function, by_value=True, key=None))


def ignore_in_key(full_name: str, *attributes: str) -> None:
    """Leaves attributes of a class (``module.Class``) and its subclasses out: caches that no rule reads."""
    _ignored[full_name] = _ignored.get(full_name, frozenset()) | frozenset(attributes)
    _writers.clear()


def state_key(env: Any) -> Hashable:
    """The key of an environment's state; equal keys mean the same future.

    Raises:
        CloneError: Something in the environment has no value that could be compared; the message names it.
    """
    walk = _KeyWalk(_rewards_count(env))
    try:
        walk.add_all([env])
    except UncopyableError as error:
        raise CloneError(
            f"no key can be made of this {type(env).__qualname__}: {path_to(env, error.obj)} is a "
            f"{type(error.obj).__qualname__}, whose value cannot be compared; "
            "say what it is made of with zermelo.envs.register_clone"
        ) from None
    return tuple(walk.out)


class _KeyWalk:
    """Writes the state as one flat sequence of hashable values, each object led by its type and value."""

    __slots__ = ("keep", "out", "rewards_count", "seen")

    def __init__(self, rewards_count: bool) -> None:
        self.rewards_count = rewards_count
        """Rewards received are part of the key, as something may read them."""
        self.out: list[Any] = []
        self.seen: dict[int, int] = {}
        self.keep: list[Any] = []

    def add_all(self, objects: Iterable[Any]) -> None:
        """Writes objects one after another."""
        out, seen = self.out, self.seen
        self.keep.append(objects)  # what was made on the way must live, or its id would be used again
        for obj in objects:
            cls = type(obj)
            if cls in _PLAIN:
                out.append(obj)
                continue
            kind = KINDS.get(cls) or kind_of(cls)
            if kind.by_value:
                if kind.key is None:
                    out += (cls, kind.value(obj))
                else:
                    kind.key(obj, self)
                continue
            index = seen.get(id(obj))
            if index is not None:
                out += (Mark.SAME, index)
                continue
            seen[id(obj)] = len(seen)
            write = kind.key or _writers.get(kind) or _writer_of(cls, kind)
            write(obj, self)

    def alone(self, obj: Any) -> str:
        """The key of one object by itself, as text: it gives the elements of a set an order."""
        walk = _KeyWalk(self.rewards_count)
        walk.add_all([obj])
        return repr(walk.out)


Writer = Callable[[Any, _KeyWalk], None]
_writers: dict[Kind, Writer] = {}


def _writer_of(cls: type, kind: Kind) -> Writer:
    layout = kind.layout
    if layout is None:
        write = _content_writer(kind)
    elif layout.base in (set, frozenset):
        write = _fields_writer(cls, layout, _write_set)
    else:
        write = _fields_writer(cls, layout, _content_writer(BUILTINS[layout.base]))  # type: ignore[index]
    _writers[kind] = write
    return write


def _content_writer(kind: Kind | Builtin) -> Writer:
    parts_of, value_of, all_plain = kind.parts, kind.value, _PLAIN.issuperset

    def write(obj: Any, walk: _KeyWalk) -> None:
        parts = parts_of(obj)
        out = walk.out
        out += (type(obj), len(parts)) if value_of is no_parts else (type(obj), value_of(obj), len(parts))
        if all_plain(map(type, parts)):
            out += parts
        else:
            walk.add_all(parts)

    return write


def _write_set(obj: Any, walk: _KeyWalk) -> None:
    walk.out += (type(obj), len(obj))
    if all(type(item) in _PLAIN for item in obj):
        walk.out.append(frozenset(obj))
    else:
        # Each element's own key gives the order; then as usual, so that what they share is written as shared.
        walk.add_all(sorted(obj, key=walk.alone))


def _fields_writer(cls: type, layout: Layout, write_content: Writer) -> Writer:
    """What writes the built-in part of an object, then its attributes by name, whatever order they were set in."""
    if layout.dict_of is None and not layout.slots:
        return write_content
    ignored = frozenset(
        name
        for base in cls.__mro__
        for name in _ignored.get(f"{base.__module__}.{base.__qualname__}", frozenset())
    )
    dict_of = layout.dict_of
    slots = tuple(slot for slot in layout.slots if slot.__name__ not in ignored)
    unread = is_defined_in(cls, "pettingzoo.utils.env.AECEnv") and not _reads_rewards(cls)
    paid = frozenset({"_cumulative_rewards"} if unread else ())

    @functools.lru_cache(maxsize=64)
    def order(names: tuple[str, ...], rewards_count: bool) -> tuple[str, ...]:
        left_out = ignored if rewards_count else ignored | paid
        return tuple(sorted((name for name in names if name not in left_out), key=str))

    def write(obj: Any, walk: _KeyWalk) -> None:
        if layout.base is object:
            walk.out.append(cls)
        else:
            write_content(obj, walk)
        if dict_of is not None:
            fields = dict_of.__get__(obj)
            names = order(tuple(fields), walk.rewards_count)
            walk.out.append(names)
            walk.add_all([fields[name] for name in names])
        for slot in slots:
            try:
                content = slot.__get__(obj)
            except AttributeError:
                continue
            walk.out.append(slot.__name__)
            walk.add_all([content])

    return write


# --- rewards received: whether the rules look at them, judged by their code


def _rewards_count(env: Any) -> bool:
    """Whether the environment, or something that it wraps or that wraps it, may read rewards received."""
    layer, classes = env, []
    while layer is not None:
        classes.append(type(layer))
        layer = getattr(layer, "__dict__", {}).get("env")
    return _one_reads(tuple(classes))


@functools.lru_cache(maxsize=1024)
def _one_reads(classes: tuple[type, ...]) -> bool:
    return any(_reads_rewards(cls) for cls in classes)


_KNOWN: Final = ("pettingzoo.", "zermelo.envs.")
"""Packages whose functions outside of classes are known not to read them."""
_OF_SELF: Final = frozenset(
    {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD"}
)
_ITSELF: Final = frozenset({"env", "unwrapped", "aec_env"})
"""Attributes of an environment or wrapper that lead to an environment again."""
_CLOSURES: Final = frozenset({"MAKE_CELL", "LOAD_CLOSURE", "COPY_FREE_VARS"})


def _reads_rewards(cls: type) -> bool:
    """Whether the rules of an environment may depend on rewards received, judged by its code; yes if in doubt.

    There is doubt where a method hands the environment itself to other code, which may read anything of it.
    """
    for base in cls.__mro__:
        if base is object or base.__module__.startswith(("pettingzoo.utils.", "typing", "abc")):
            continue
        for value in vars(base).values():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if not isinstance(function, types.FunctionType):
                continue
            code = function.__code__
            is_method = not isinstance(value, staticmethod | classmethod)
            in_doubt = is_method and not base.__module__.startswith(_KNOWN)
            if _code_reads(code) or (in_doubt and _hands_on(code, code.co_varnames[:1])):
                return True
    return False


def _hands_on(code: types.CodeType, first: tuple[str, ...]) -> bool:
    """Whether a method uses its first argument other than for an attribute, or for a base class's ``__init__``.

    What a wrapper wraps counts as itself: ``helper(self.env.unwrapped)`` hands it on.
    """
    before = None
    waiting = False
    for instruction in dis.get_instructions(code):
        if waiting and instruction.opname not in _OF_SELF:
            return True
        if waiting and instruction.argval in _ITSELF and instruction.opname.startswith("LOAD_ATTR"):
            before = instruction
            continue
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        waiting = False
        if first and first[0] in names and instruction.opname not in _CLOSURES | _OF_SELF:
            starts_call = before is not None and before.argval == "__init__"
            waiting = not (starts_call and names[0] == first[0])
            if waiting and first[0] in names[:-1]:
                return True
        before = instruction
    return any(_hands_on(inner, first) for inner in code.co_consts if isinstance(inner, types.CodeType))


def _code_reads(code: types.CodeType) -> bool:
    line: list[dis.Instruction] = []
    for instruction in dis.get_instructions(code):
        if instruction.starts_line not in (None, False):  # a line number or None; from Python 3.13 on, a bool
            if _line_reads(line):
                return True
            line = []
        line.append(instruction)
    return _line_reads(line) or any(_code_reads(c) for c in code.co_consts if isinstance(c, types.CodeType))


def _line_reads(line: list[dis.Instruction]) -> bool:
    """Whether one line uses the rewards other than to set all, or one agent's, to something else."""
    names = [(i.opname, i.argval) for i in line]
    if any(argval in ("last", "getattr", "vars", "__dict__") for _, argval in names):
        return True
    if not any(argval == "_cumulative_rewards" for _, argval in names):
        return False
    if all(opname == "STORE_ATTR" for opname, argval in names if argval == "_cumulative_rewards"):
        return False
    operations = {opname for opname, _ in names}
    return "STORE_SUBSCR" not in operations or bool(
        operations & {"BINARY_SUBSCR", "BINARY_OP", "COMPARE_OP", "CALL"}
    )
