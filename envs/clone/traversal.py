"""The registry of how the objects of each class are treated, and the traversal of an object over it.

A memo maps each object to its copy: what two paths lead to is one object in the copy, and cycles end.
"""

from __future__ import annotations

import collections
import gc
import io
import itertools
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from zermelo.envs.clone import functions, libraries
from zermelo.envs.clone.copy_classes import copy_class
from zermelo.envs.clone.kinds import (
    SHARED,
    Kind,
    UncopyableError,
    Walk,
    are_shared,
    fields_of,
    full_name,
    is_shared_type,
    module_name,
    refusal,
    shared_kind,
)
from zermelo.envs.clone.structures import EZPICKLE, KIND_BY_REDUCTION, deep_copy, kind_by_structure
from zermelo.envs.errors import CloneError

KINDS: Final[dict[type, Kind]] = {}
"""The kinds of classes that were met or registered."""
# Classes whose own __deepcopy__ is not used: EzPickle loses the game, python-chess copies what it could share.
_DEEPCOPY_IGNORED: Final = (*EZPICKLE, "chess.BaseBoard")
_MANY: Final = 16
_STANDARD_STREAMS: Final = ("<stdin>", "<stdout>", "<stderr>")


def kind_of(cls: type) -> Kind:
    """How objects of exactly this class are treated."""
    kind = KINDS.get(cls)
    if kind is None:
        kind = KINDS[cls] = _find(cls)
    return kind


def defines_own(cls: type, name: str) -> bool:
    """Returns whether the class or a parent defines the method, ``object`` and ``EzPickle`` aside."""
    base = next(base for base in (*cls.__mro__, object) if name in base.__dict__ or base is object)
    return base is not object and full_name(base) not in _DEEPCOPY_IGNORED


def _find(cls: type) -> Kind:
    try:
        copy_class(cls)
    except Exception as error:  # whatever the class does where it is extended
        reason = f"is a {full_name(cls)}, which has a finaliser or caches, but cannot be extended ({error})"
        return replace(KIND_BY_REDUCTION, copy=_refusing(reason))
    if is_shared_type(cls):
        if module_name(cls) == "chess":  # two equal moves or positions may be two objects
            return replace(kind_by_structure(cls) or KIND_BY_REDUCTION, shared=True)
        return shared_kind(cls)
    refused = refusal(cls)
    known = None if refused else functions.find(cls) or libraries.find(cls)
    if known is not None:
        return known
    kind = kind_by_structure(cls) or KIND_BY_REDUCTION
    if refused is not None:
        return replace(kind, copy=_refusing(f"is {refused}"), plain=False)
    return replace(kind, copy=deep_copy, plain=False) if defines_own(cls, "__deepcopy__") else kind


def _refusing(reason: str) -> Callable[[Any, Walk], Any]:
    def refuse(obj: Any, walk: Walk) -> Any:
        if isinstance(obj, io.IOBase) and (
            obj in (sys.stdin, sys.stdout, sys.stderr) or getattr(obj, "name", None) in _STANDARD_STREAMS
        ):
            return obj
        raise UncopyableError(obj, reason)

    return refuse


# --- the traversal


def items_of_alike(objects: Sequence[Any]) -> list[Any] | None:
    """All items of many sets, or of many lists, of values that nothing can change; None of anything else."""
    if len(objects) < _MANY or type(objects[0]) not in (set, list) or len({*map(type, objects)}) > 1:
        return None
    items = [*itertools.chain.from_iterable(objects)]
    return items if are_shared(items) else None


class CopyWalk:
    """One copying of an object, the root, and all that it holds (``kinds.Walk``)."""

    __slots__ = ("_held", "keep", "late", "memo", "root", "shares_generators")

    def __init__(self, root: Any, *, shares_generators: bool = False) -> None:
        self.memo: dict[int, Any] = {}
        self.keep: list[Any] = []
        self.late: list[Callable[[], None]] = []
        self.root, self.shares_generators = root, shares_generators
        self._held: set[int] | None = None

    def copy_root(self) -> Any:
        """The copy of the root, with what could only be done at the end."""
        new = self.copy(self.root)
        for finish in self.late:
            finish()
        return new

    def copy(self, obj: Any) -> Any:
        """The copy of an object; the object itself where sharing it is right."""
        cls = type(obj)
        if cls in SHARED:
            return obj
        found = self.memo.get(id(obj))
        if found is not None:
            return found
        kind = KINDS.get(cls) or kind_of(cls)
        if kind.shared:
            return obj
        new = self.memo[id(obj)] = kind.copy(obj, self)
        return new

    def copy_all(self, objects: Sequence[Any]) -> list[Any]:
        """The copies of several."""
        if (copies := self._copy_alike(objects)) is not None:
            return copies
        copy, all_shared = self.copy, SHARED.issuperset
        return [
            obj if (cls := type(obj)) in SHARED or (cls is tuple and all_shared(map(type, obj))) else copy(obj)
            for obj in objects
        ]

    def _copy_alike(self, objects: Sequence[Any]) -> list[Any] | None:
        items = items_of_alike(objects)
        ids = [*map(id, objects)]
        if items is None or len({*ids}) < len(ids) or not self.memo.keys().isdisjoint(ids):
            return None
        copies = [*map(type(objects[0]).copy, objects)]
        if type(objects[0]) is set and [*itertools.chain.from_iterable(copies)] != items:
            return None  # the order of a set may decide what is played
        self.memo.update(zip(ids, copies, strict=True))
        return copies

    def is_held(self, obj: Any) -> bool:
        """Returns whether the root holds this object by something stronger than a weak reference."""
        if self._held is None:
            self._held = set(map(id, self.held()))
        return id(obj) in self._held

    def held(self) -> Iterator[Any]:
        """All objects that the root holds so."""
        return reachable(self.root)


def copy_generally(obj: Any, *, shares_generators: bool = False) -> Any:
    """A copy by the general walk; ``CloneError`` names where something is that cannot be copied."""
    cls = type(obj)
    name = cls.__qualname__ if module_name(cls) == "builtins" else f"this {cls.__qualname__}"
    collects = gc.isenabled()
    gc.disable()  # thousands of new containers would be looked at again and again
    try:
        return CopyWalk(obj, shares_generators=shares_generators).copy_root()
    except UncopyableError as error:
        raise CloneError(
            f"cannot clone {name}: {path_to(obj, error.obj)} {error.reason}; keep it out of the environment's "
            "attributes, or say how to copy it: zermelo.envs.register_clone, or register_state if it saves itself"
        ) from error
    except RecursionError:
        raise CloneError(
            f"cannot clone {name}: its attributes are nested deeper than Python's recursion limit; "
            "raise it with sys.setrecursionlimit, or say how to copy it: zermelo.envs.register_clone"
        ) from None
    finally:
        if collects:
            gc.enable()


def reachable(root: Any, holders: dict[int, Any] | None = None, *, all_flat: bool = True) -> Iterator[Any]:
    """Every object that the root holds and that is not shared, each once, the root first and the nearest next.

    Tuples of shared values count as shared. ``holders`` is filled with the object that holds each one, by the
    ``id`` of the held one. Without ``all_flat``, many sets or lists of shared values in one place are left out.
    """
    seen = {id(root)}
    waiting = collections.deque([root])
    keep: list[Any] = []  # what was made on the way must live, or its id would be used again
    while waiting:
        obj = waiting.popleft()
        yield obj
        parts = kind_of(type(obj)).parts(obj)
        keep.append(parts)
        if not all_flat and items_of_alike(parts) is not None:
            continue
        for part in parts:
            cls = type(part)
            if cls in SHARED or id(part) in seen or kind_of(cls).shared:
                continue
            if cls is tuple and SHARED.issuperset(map(type, part)):
                continue
            seen.add(id(part))
            waiting.append(part)
            if holders is not None:
                holders[id(part)] = obj


def path_to(root: Any, target: Any, name: str = "env") -> str:
    """How Python would reach ``target`` from ``root``, such as ``env.board.engine``."""
    holders: dict[int, Any] = {}
    if all(obj is not target for obj in reachable(root, holders)):
        return f"{name} (inside {type(target).__name__})"
    path, obj = "", target
    while obj is not root:
        holder = holders[id(obj)]
        path = _label(holder, obj) + path
        obj = holder
    return name + path


def _label(obj: Any, part: Any) -> str:
    """How Python would reach a part of an object, such as ``.board`` or ``[3]``."""
    for name, value in fields_of(obj).items():
        if value is part:
            return f".{name}"
    if isinstance(obj, dict):
        for key, value in dict.items(obj):
            if value is part:
                return f"[{key!r}]" if type(key) in SHARED else f"[{type(key).__name__}]"
    if isinstance(obj, list | tuple | collections.deque):
        return next((f"[{index}]" for index, value in enumerate(obj) if value is part), "")
    if isinstance(obj, types.FunctionType):
        cells = zip(obj.__code__.co_freevars, obj.__closure__ or (), strict=True)
        return next((f" (its variable {name})" for name, cell in cells if cell is part), " (a default argument)")
    for name in ("__self__", "__func__", "__wrapped__", "func", "args", "keywords"):
        if getattr(obj, name, None) is part:
            return f".{name}"
    return "" if isinstance(obj, types.CellType) else f" (inside the {type(obj).__name__})"
