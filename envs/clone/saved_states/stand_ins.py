"""Emulators and simulators: objects whose memory is outside of Python, copied as the states that they save.

A copy of an environment holds a ``StandIn`` for such an object: a saved state under the methods of its class. One
second object of the process, made as the first was, serves all stand-ins: it is restored to the state of one when
that is called. The user's own object is only asked to save itself.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import pickle
import random
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.copy_classes import original_class, stand_for
from zermelo.envs.clone.kinds import SHARED, Kind, UncopyableError, Walk, are_shared, full_name
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.clone.saved_states.saving import Recipe, Saving, find_saving, recipe_of
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.structures import own_copy
from zermelo.envs.clone.traversal import KINDS, CopyWalk, reachable
from zermelo.envs.errors import CloneError

_MOST_SECONDS: Final = 16


def copy_by_state(root: Any, obj: Any) -> bool:
    """Has the class of what cannot be copied, or of an object that holds it, be copied by its states from now on.

    Returns:
        Whether there is such a class: the nearest to the object of those that can save themselves.
    """
    holders: dict[int, Any] = {}
    if all(part is not obj for part in reachable(root, holders)):
        return False
    while obj is not None:
        cls = type(obj)
        saving = None if issubclass(cls, StandIn) or cls in _savings else find_saving(cls)
        if saving is not None:
            register_saving(cls, saving)
            return True
        obj = holders.get(id(obj))
    return False


def register_saving(cls: type, saving: Saving) -> None:
    """Has objects of exactly this class be copied by saved states."""
    _savings[cls] = saving
    KINDS[cls] = Kind(copy=functools.partial(_copy_live, saving), key=_write_live)


_savings: Final[dict[type, Saving]] = {}  # by the class itself


# --- second objects


class _Second:
    """An object that serves all copies of those made alike, under a lock, as threads search at the same time.

    ``holder`` is the copy whose state it is in; ``env`` has what it was made with, which may end it.
    """

    __slots__ = ("env", "holder", "lock", "obj", "recipe", "saving")

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.saving, self.lock = recipe, recipe.saving, threading.RLock()
        arguments, options = pickle.loads(recipe.arguments)
        self.env = recipe.function(*arguments, **options)
        found = self.env if recipe.number is None else self._found(recipe.number)
        self.obj = found if self.saving.second is None else self.saving.second(found)
        self.holder: Callable[[], _SavedCopy | None] = _nobody

    def _found(self, index: int) -> Any:
        for reset in (False, True):
            if reset:
                self.env.reset()
            alike = [part for part in reachable(self.env) if type(part) is self.recipe.cls]
            if len(alike) > index:
                return alike[index]
        raise CloneError(f"its environment made anew has no such {self.recipe.cls.__name__}")

    def release(self) -> None:
        """Has whoever holds it keep its state."""
        holder = self.holder()
        if holder is not None:
            holder.keep()
        self.holder = _nobody


def _nobody() -> None:
    return None


_seconds: Final[dict[Recipe, _Second]] = {}  # by all that decides what it is
_making: Final = threading.RLock()


def _second(recipe: Recipe) -> _Second:
    """The second object of a recipe; to make it draws nothing from the process's generators."""
    with _making:
        found = _seconds.pop(recipe, None)
        if found is None:
            python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002  # the global one
            try:
                with OUTPUT_GUARD:
                    found = _Second(recipe)
            finally:
                random.setstate(python)
                np.random.set_state(numpy)  # noqa: NPY002  # the global one
        _seconds[recipe] = found  # the last used comes last
        if len(_seconds) > _MOST_SECONDS:
            del _seconds[next(iter(_seconds))]
        return found


# --- copies


class _Saved:
    """A state as it was saved, which copies share."""

    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state


class _SavedCopy:
    """The state of one copy of an object.

    Attributes:
        saved: The state; None while only the second object has it.
        chance: A number that its random generators are to start from when it goes on, if a search has given one.
        shown: Answers of methods that ``Saving.shows``, which are no part of a state.
        is_stale: Whether the second object would not answer these right.
    """

    __slots__ = ("__weakref__", "chance", "is_stale", "saved", "second", "shown")

    def __init__(self, second: _Second, saved: _Saved, chance: int | None, shown: dict[str, Any]) -> None:
        self.second, self.chance, self.shown = second, chance, shown
        self.saved: _Saved | None = saved
        self.is_stale = True

    def copied(self) -> _SavedCopy:
        return _SavedCopy(self.second, self.keep(), self.chance, self.shown)

    def __reduce__(self) -> Any:
        return _unpacked, (self.second.recipe, self.keep().state, self.chance, self.shown)

    def keep(self) -> _Saved:
        """The state, saved."""
        second = self.second
        with second.lock:
            if self.saved is None:
                self.saved = _Saved(_frozen(second.saving.save(second.obj)))
            return self.saved

    def position(self) -> Any:
        """The state without that of random generators, where it can be told apart."""
        state, split = self.keep().state, self.second.saving.split
        return state if split is None else split(state)[0]

    def generators(self) -> Any:
        """A value that differs once random generators have drawn, or may have."""
        if self.chance is not None:
            with self.second.lock:
                self.enter()
        saved, split = self.keep(), self.second.saving.split
        return saved if split is None else split(saved.state)[1]

    def enter(self) -> Any:
        """The second object, in this state."""
        second = self.second
        if second.holder() is not self:
            second.release()
            second.saving.restore(second.obj, _frozen(self.keep().state))
            second.holder, self.is_stale = weakref.ref(self), True
        if self.chance is not None and second.saving.seed is not None:
            second.saving.seed(second.obj, self.chance)
            self.chance, self.saved = None, None
        return second.obj

    def call(self, face: StandIn, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Calls a method of the second object, restored to this state."""
        second = self.second
        saving = second.saving
        with second.lock:
            obj = self.enter()
            if name in saving.shows:
                return self._show(name, arguments, options)
            if name in saving.shown_by:
                self.shown, self.is_stale = {}, False
            self.saved = None
            result = getattr(obj, name)(*arguments, **options)
            return self.outside(face, name, result)

    def _show(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if not self.is_stale:
            answer = getattr(self.second.obj, name)(*arguments, **options)
            if not arguments and not options:
                self.shown[name] = answer
        elif name in self.shown and not arguments and not options:
            answer = self.shown[name]
        else:
            raise CloneError(
                f"{name} of a copied {self.second.recipe.cls.__name__} answers only after a step, "
                "as what it returns is no part of the state that was saved"
            )
        return _frozen(answer)

    def outside(self, face: StandIn, name: str, value: Any) -> Any:
        """A value of the second object, as it may be given away: its memory will hold another state."""
        if value is self.second.obj:
            return face
        try:
            return _frozen(value)
        except UncopyableError as error:
            raise CloneError(
                f"{name} of a copied {self.second.recipe.cls.__name__} leads to a {full_name(type(error.obj))}, "
                "which cannot be copied: use methods that return values"
            ) from error


SHARED.add(_SavedCopy)  # to traversals: what a stand-in holds is no part of the environment


def _frozen(value: Any) -> Any:
    """A copy of a value that shares no memory with it."""
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return value.copy()
    if type(value) in SHARED or (type(value) is tuple and are_shared(value)):
        return value
    return CopyWalk(value).copy_root()


def _unpacked(recipe: Recipe, state: Any, chance: int | None, shown: dict[str, Any]) -> _SavedCopy:
    return _SavedCopy(_second(recipe), _Saved(state), chance, shown)


# --- stand-ins


class StandIn:
    """Stands in a copy for an object that is copied by its state, and answers as that would.

    For each class there is one of these, which seems to be that class.
    """

    __slots__ = ("_zermelo_copy",)
    _zermelo_copy: _SavedCopy
    __dict__ = property(lambda self: {})  # it has no attributes of its own

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_zermelo_copy":  # it is none of the object's, or not there yet
            raise AttributeError(name)
        copy = self._zermelo_copy
        with copy.second.lock:
            return copy.outside(self, name, getattr(copy.enter(), name))

    def __setattr__(self, name: str, value: Any) -> None:
        copy = self._zermelo_copy
        with copy.second.lock:
            setattr(copy.enter(), name, value)
            copy.saved = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _stand_in, (self._zermelo_copy.copied(),)

    def __repr__(self) -> str:
        return f"<copy of a {self._zermelo_copy.second.recipe.cls.__name__}>"


def is_seeded(obj: Any) -> bool:
    """Returns whether an object stands in for one whose random generators can be seeded."""
    return issubclass(type(obj), StandIn) and obj._zermelo_copy.second.saving.seed is not None


def seed_stand_in(obj: StandIn, number: int) -> None:
    """Starts the random generators in what an object stands in for from a number."""
    obj._zermelo_copy.chance = number % 2**32


def generators_of(obj: StandIn) -> Any:
    """A value that differs once the random generators in what an object stands in for have drawn, or may have."""
    return obj._zermelo_copy.generators()


def _copy_live(saving: Saving, obj: Any, walk: Walk) -> StandIn:
    name = full_name(type(obj))
    state = own_copy(obj, lambda: _frozen(saving.save(obj)), "saved state")
    try:
        recipe = recipe_of(obj, saving, walk.root)
        is_new = recipe not in _seconds
        second = _second(recipe)
    except Exception as error:  # whatever the environment's own code raises
        reason = f"is a {name}, which saves its own state, but no second one could be made to restore: {error}"
        raise UncopyableError(obj, reason) from error
    if is_new and not _are_equal(_frozen(saving.save(obj)), state):
        saving.restore(obj, _frozen(state))
        raise UncopyableError(obj, f"is a {name}, of which a second one shares memory with it")
    shown = {method: _frozen(getattr(obj, method)()) for method in saving.shows}
    return _stand_in(_SavedCopy(second, _Saved(state), None, shown))


def _are_equal(one: Any, other: Any) -> bool:
    """Returns whether two states are equal, or cannot be compared."""
    with contextlib.suppress(CloneError):
        return state_key([one]) == state_key([other])
    return True


def _write_live(obj: Any, walk: Any) -> None:
    saving = _savings[type(obj)]
    state = None if walk.is_digest else _frozen(saving.save(obj))
    _write_position(type(obj), state if saving.split is None or state is None else saving.split(state)[0], walk)


def _write_copy(obj: Any, walk: Any) -> None:
    _write_position(original_class(type(obj)), None if walk.is_digest else obj._zermelo_copy.position(), walk)


def _write_position(cls: type, position: Any, walk: Any) -> None:
    walk.out.append(cls)
    walk.add_all([position])


def _stand_in(copy: _SavedCopy) -> StandIn:
    cls = copy.second.recipe.cls
    made: StandIn = object.__new__(_faces.get(cls) or _faces.setdefault(cls, _face_of(cls)))
    object.__setattr__(made, "_zermelo_copy", copy)
    return made


_faces: Final[dict[type, type[StandIn]]] = {}  # by the class itself
_LEFT_OUT: Final = frozenset({"__del__", "__copy__", "__deepcopy__", "__setstate__", "__getattr__", *dir(StandIn)})


def _face_of(cls: type) -> type[StandIn]:
    """A class of stand-ins, with each method that objects of the class have."""
    body: dict[str, Any] = {"__slots__": (), "__class__": property(lambda _: cls)}
    body |= {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    for name in dir(cls):
        own = inspect.getattr_static(cls, name)
        if callable(own) and not isinstance(own, type | staticmethod) and name not in _LEFT_OUT:
            body[name] = _forwarded(name) if name != "close" else _do_nothing
    face = types.new_class(cls.__name__, (StandIn,), exec_body=lambda space: space.update(body))
    KINDS[face] = Kind(copy=lambda obj, _: _stand_in(obj._zermelo_copy.copied()), key=_write_copy, alone=True)
    return stand_for(face, cls)


def _do_nothing(self: StandIn) -> None:
    """Closes nothing: other copies go on."""


def _forwarded(name: str) -> Callable[..., Any]:
    def method(self: StandIn, *arguments: Any, **options: Any) -> Any:
        return self._zermelo_copy.call(self, name, arguments, options)

    return method
