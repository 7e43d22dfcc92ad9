"""Containers and objects of Python classes: a built-in part, a dict and slots, whatever methods the class has.

No class is asked how to pickle itself, as ``EzPickle`` loses the game. What can hold itself is made empty and then
filled. Objects of C code are made again of what they say they consist of.
"""

from __future__ import annotations

import collections
import contextlib
import copyreg
import functools
import gc
import operator
import sys
import types
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import is_
from typing import Any, Final, NamedTuple

from zermelo.envs.clone.copy_classes import copy_class, original_class
from zermelo.envs.clone.kinds import (
    SHARED,
    ClassLayout,
    Kind,
    UncopyableError,
    Walk,
    are_shared,
    fields_of,
    full_name,
    is_defined_in,
    layout_of,
    no_parts,
)


class Builtin(NamedTuple):
    """A built-in class that others extend: how its part of an object is taken apart and put together.

    Attributes:
        parts: What it holds. All is asked of the built-in class, since a subclass may answer something else.
        fill: Puts copies of the parts of the second object into the first, empty one; None if ``make`` is needed.
        make: A new object of the class from such copies.
        value: As ``Kind.value``.
    """

    parts: Callable[[Any], Sequence[Any]] = no_parts
    fill: Callable[[Any, Any, list[Any]], None] | None = None
    make: Callable[[Any, Any, list[Any]], Any] | None = None
    value: Callable[[Any], Hashable] = no_parts


def _keys_and_values(obj: Any) -> list[Any]:
    return [*dict.keys(obj), *dict.values(obj)]


def _pairs(parts: list[Any]) -> Iterable[tuple[Any, Any]]:
    half = len(parts) // 2
    return zip(parts[:half], parts[half:], strict=True)


def _fill_dict(new: Any, obj: Any, parts: list[Any]) -> None:
    dict.update(new, _pairs(parts))


def _ordered_parts(obj: Any) -> list[Any]:
    keys = [*collections.OrderedDict.__iter__(obj)]
    return [*keys, *(dict.__getitem__(obj, key) for key in keys)]


def _fill_ordered(new: Any, obj: Any, parts: list[Any]) -> None:
    for key, value in _pairs(parts):
        collections.OrderedDict.__setitem__(new, key, value)


def _fill_default(new: Any, obj: Any, parts: list[Any]) -> None:
    collections.defaultdict.__init__(new, parts.pop())
    _fill_dict(new, obj, parts)


def _fill_set(new: set[Any], old: set[Any], items: list[Any]) -> None:
    """Fills an empty set with the elements of another, in its order if that comes by itself.

    The order depends on all that a set ever held; ``verify_clone`` names sets whose copies are in another one.
    """
    for ordered in (list, dict.fromkeys, set):
        set.clear(new)
        set.update(new, ordered(items))
        if [*set.__iter__(new)] == items:
            return


def _value(base: type, plain: Callable[[Any], Any]) -> Builtin:
    """Numbers and text, which hold nothing; ``plain`` gives their value without the subclass."""
    make: Callable[..., Any] = base.__new__
    return Builtin(make=lambda cls, obj, parts: make(cls, plain(obj)), value=lambda obj: repr(plain(obj)))


BUILTINS: Final[dict[type, Builtin]] = {
    object: Builtin(),
    types.SimpleNamespace: Builtin(),
    list: Builtin(list.copy, lambda new, obj, parts: list.extend(new, parts)),
    dict: Builtin(_keys_and_values, _fill_dict),
    collections.OrderedDict: Builtin(_ordered_parts, _fill_ordered),
    collections.defaultdict: Builtin(lambda obj: [*_keys_and_values(obj), obj.default_factory], _fill_default),
    collections.deque: Builtin(
        lambda obj: [*collections.deque.__iter__(obj)],
        lambda new, obj, parts: collections.deque.__init__(new, parts, obj.maxlen),
        value=lambda obj: obj.maxlen,
    ),
    set: Builtin(lambda obj: [*set.__iter__(obj)], _fill_set),
    bytearray: Builtin(fill=lambda new, obj, parts: bytearray.extend(new, bytes(obj)), value=bytes),
    tuple: Builtin(lambda obj: [*tuple.__iter__(obj)], make=lambda cls, obj, parts: tuple.__new__(cls, parts)),
    frozenset: Builtin(
        lambda obj: [*frozenset.__iter__(obj)], make=lambda cls, obj, parts: frozenset.__new__(cls, parts)
    ),
    int: _value(int, int.__int__),
    float: _value(float, float.__float__),
    complex: _value(complex, complex.__pos__),
    str: _value(str, str.__str__),
    bytes: _value(bytes, lambda obj: bytes.__getitem__(obj, slice(None))),
}
"""The built-in classes that are taken apart. An environment's dict or list may be of any subclass of these."""


_IGNORED: Final[dict[str, frozenset[str]]] = {
    "pettingzoo.utils.wrappers.terminate_illegal.TerminateIllegalWrapper": frozenset({"_prev_obs", "_prev_info"}),
    "pettingzoo.utils.wrappers.order_enforcing.OrderEnforcingWrapper": frozenset({"_has_updated"}),
    "pettingzoo.classic.go.go.raw_env": frozenset({"_last_obs"}),
    "pettingzoo.classic.rlcard_envs.rlcard_base.RLCardBase": frozenset({"_last_obs"}),
    "gymnasium.utils.ezpickle.EzPickle": frozenset({"_ezpickle_args", "_ezpickle_kwargs"}),
    "pettingzoo.utils.ezpickle.EzPickle": frozenset({"_ezpickle_args", "_ezpickle_kwargs"}),
}
"""Attributes that only remember what was shown, or how the environment was made."""


def kind_by_structure(cls: type) -> Kind | None:
    """The kind of a class whose objects are a built-in part, a dict and slots; None for C code not known."""
    layout = layout_of(cls)
    if layout.base not in BUILTINS:
        return None
    builtin = BUILTINS[layout.base]
    if cls is tuple:  # a tuple is its own parts
        builtin = builtin._replace(parts=tuple)
    has_fields = layout.dict_of is not None or bool(layout.slots)
    inner = builtin.parts
    return Kind(
        copy=_copier(cls, layout.base, builtin, has_fields),
        parts=(lambda obj: [*inner(obj), *fields_of(obj).values()]) if has_fields else inner,
        value=builtin.value,
        key=_key_of(cls, layout, builtin) if has_fields or layout.base in (set, frozenset) else None,
        layout=layout,
        plain=True,
    )


def counted_names(cls: type, names: tuple[str, ...]) -> tuple[str, ...]:
    """The attributes of an object of a class that count in a key, in order."""
    ignored = {name for base in cls.__mro__ for name in _IGNORED.get(full_name(base), ())}
    return tuple(sorted((name for name in names if name not in ignored), key=str))


def _key_of(cls: type, layout: ClassLayout, builtin: Builtin) -> Callable[[Any, Any], None]:
    """Returns the writer of an object's built-in part and then of its attributes in order of name."""

    @functools.lru_cache(maxsize=64)  # by the names; the class is fixed here
    def counted(names: tuple[str, ...]) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
        chosen = counted_names(cls, names)
        if len(chosen) > 1:
            return chosen, operator.itemgetter(*chosen)
        return chosen, lambda fields: [fields[name] for name in chosen]

    def write(obj: Any, walk: Any) -> None:
        if layout.base is object:
            walk.out.append(original)
        elif layout.base in (set, frozenset):
            walk.add_set(cls, builtin.parts(obj))
        else:
            walk.add_content(cls, builtin.value(obj), builtin.parts(obj))
        if layout.dict_of is not None or layout.slots:
            fields = fields_of(obj) if layout.slots else layout.dict_of.__get__(obj)
            names, read = counted(tuple(fields))
            walk.add_attributes(original, names, read(fields))

    original = original_class(cls)
    return write


def _have_own_hash(parts: Sequence[Any], *, is_dict: bool) -> bool:
    """Returns whether Python code makes the hash of an element of a set, or of a key of a dict."""
    keys = parts[: len(parts) // 2] if is_dict else parts
    return any(isinstance(cls.__hash__, types.FunctionType) for cls in {*map(type, keys)})


def _fill_twice(base: Any, fill: Any, new: Any, obj: Any, copies: list[Any], walk: Walk) -> None:
    """Fills a set or a dict now, for whoever needs it on the way, and at the end, when all hashes are right.

    A key that leads back here has not got all of its attributes yet.
    """

    def refill() -> None:
        base.clear(new)
        own_copy(obj, lambda: fill(new, obj, copies), "content")

    with contextlib.suppress(Exception):  # whatever a hash raises where an attribute is not there yet
        fill(new, obj, [*copies])
    walk.late.append(refill)


def _copier(cls: type, base: Any, builtin: Builtin, has_fields: bool) -> Callable[[Any, Walk], Any]:
    parts_of, fill, make, _ = builtin
    new_object, made_class = base.__new__, copy_class(cls)
    is_dict = issubclass(base, dict)
    is_hashed = is_dict or base is set

    def copy_set(obj: Any, walk: Walk) -> Any:
        items = [*obj]
        if are_shared(items):
            new = set.copy(obj)
            if [*new] == items:
                walk.memo[id(obj)] = new
                return new
        return copy_filled(obj, walk)

    def copy_filled(obj: Any, walk: Walk) -> Any:
        new = new_object(made_class)
        walk.memo[id(obj)] = new
        if fill is not None:
            parts = parts_of(obj)
            copies = walk.copy_all(parts)
            if is_hashed and not SHARED.issuperset(map(type, parts)) and _have_own_hash(parts, is_dict=is_dict):
                _fill_twice(base, fill, new, obj, copies, walk)
            else:
                fill(new, obj, copies)
        if has_fields:
            copy_fields(obj, new, walk)
        return new

    if cls is set:
        return copy_set
    if make is None:
        return copy_filled

    def copy_made(obj: Any, walk: Walk) -> Any:
        parts = parts_of(obj)
        if not has_fields and SHARED.issuperset(map(type, parts)):
            return obj
        copies = walk.copy_all(parts)
        found = walk.memo.get(id(obj))
        if found is not None:  # a part led back here
            return found
        if not has_fields and all(map(is_, copies, parts)):
            return obj
        new = walk.memo[id(obj)] = own_copy(obj, functools.partial(make, made_class, obj, copies), "content")
        if has_fields:
            copy_fields(obj, new, walk)
        return new

    return copy_made


def copy_fields(obj: Any, new: Any, walk: Walk) -> None:
    """Copies the attributes of an object, those in slots as well, to its copy."""
    layout = layout_of(type(obj))
    if layout.dict_of is not None:
        old_fields, new_fields = layout.dict_of.__get__(obj), layout.dict_of.__get__(new)
        walk.memo[id(old_fields)] = new_fields
        copy = walk.copy
        new_fields.clear()
        for name, value in old_fields.items():
            new_fields[name] = value if type(value) in SHARED else copy(value)
    for slot in layout.slots:
        try:
            value = slot.__get__(obj)
        except AttributeError:  # never set
            continue
        slot.__set__(new, walk.copy(value))


def deep_copy(obj: Any, walk: Walk) -> Any:
    """A copy by the object's own method."""
    return own_copy(obj, lambda: obj.__deepcopy__(walk.memo), "own __deepcopy__")


def own_copy(obj: Any, copy: Callable[[], Any], name: str) -> Any:
    """A copy by code of the object's author."""
    try:
        return copy()
    except (UncopyableError, RecursionError):
        raise
    except Exception as error:
        reason = f"is a {full_name(type(obj))}, whose {name} raised {type(error).__name__}: {error}"
        raise UncopyableError(obj, reason) from error


# --- objects of C code

EZPICKLE: Final = ("gymnasium.utils.ezpickle.EzPickle", "pettingzoo.utils.ezpickle.EzPickle")


def _quiet() -> contextlib.AbstractContextManager[Any]:
    """Python 3.12 warns that copying itertools objects will end with 3.14; until then it works."""
    if sys.version_info < (3, 12):
        return contextlib.nullcontext()
    return warnings.catch_warnings(action="ignore", category=DeprecationWarning)


def _reduced(obj: Any) -> Any:
    cls = type(obj)
    try:
        if is_defined_in(cls, *EZPICKLE):
            raise TypeError("it would be built anew, without the game")
        with _quiet():
            reducer = copyreg.dispatch_table.get(cls)
            return reducer(obj) if reducer is not None else obj.__reduce_ex__(4)
    except Exception as error:
        raise UncopyableError(obj, f"is a {full_name(cls)}, which cannot be copied") from error


def _copy_by_reduction(obj: Any, walk: Walk) -> Any:
    reduced = _reduced(obj)
    if isinstance(reduced, str):
        return obj
    walk.keep.append(reduced)
    try:
        return _remade(obj, reduced, walk)
    except UncopyableError:
        raise
    except Exception as error:  # whatever a class raises that cannot be made of what it says it consists of
        raise UncopyableError(obj, f"is a {full_name(type(obj))}, which cannot be copied") from error


def _remade(obj: Any, reduced: tuple[Any, ...], walk: Walk) -> Any:
    make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    copies = walk.copy_all(arguments)
    if id(obj) in walk.memo:  # an argument led back here
        return walk.memo[id(obj)]
    new = make(*copies)
    if type(new) is not copy_class(type(new)):
        new.__class__ = copy_class(type(new))
    walk.memo[id(obj)] = new
    if state is not None and hasattr(new, "__setstate__"):
        with _quiet():
            new.__setstate__(walk.copy(state))
    elif state is not None:
        fields, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
        new.__dict__.update(walk.copy(fields) or {})
        for name, value in (slots or {}).items():
            setattr(new, name, walk.copy(value))
    for item in items or ():
        new.append(walk.copy(item))
    for key, value in pairs or ():
        new[walk.copy(key)] = walk.copy(value)
    return new


def _write_reduced(obj: Any, walk: Any) -> None:
    walk.out.append(type(obj))
    if walk.is_digest:  # the object would be asked
        return
    reduced = _reduced(obj)
    parts = reduced if isinstance(reduced, tuple) else (reduced,)
    functions = types.BuiltinFunctionType | types.FunctionType
    walk.add_all([part for part in parts if part is not None and not isinstance(part, functions)])


KIND_BY_REDUCTION: Final = Kind(
    copy=_copy_by_reduction,
    parts=lambda obj: [*gc.get_referents(obj), *fields_of(obj).values()],
    key=_write_reduced,
)
