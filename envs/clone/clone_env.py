"""An independent copy of a live environment, at its current position.

``copy.deepcopy`` would lose the game of PettingZoo's environments, which ``EzPickle`` builds anew. A class that is
cloned often gets copiers for the shapes of its objects (``plan``); others go through the general traversal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from zermelo.envs.clone.key_plan import forget_keys
from zermelo.envs.clone.kinds import Kind
from zermelo.envs.clone.plan import Copy, Scan, Shapes, compile_copier
from zermelo.envs.clone.saved_states.saving import Saving
from zermelo.envs.clone.saved_states.stand_ins import copy_by_state, register_saving
from zermelo.envs.clone.structures import own_copy
from zermelo.envs.clone.traversal import KINDS, copy_generally, kind_of
from zermelo.envs.errors import CloneError, InvalidSettingError
from zermelo.envs.support.calls import checked_call

T = TypeVar("T")


def clone_env(env: T) -> T:
    """An independent copy of an environment at the current position; stepping one never changes the other.

    Args:
        env: Any PettingZoo environment, raw or wrapped, or any Gymnasium environment; also one not yet reset.

    Returns:
        A new environment of the same class. What cannot change is shared (spaces without a generator of their
        own, pygame surfaces, fonts and clocks), and what ``env`` reaches by two paths is one object in the copy as
        well. Random generators are copied with their state: a search replaces them (``replace_generators``).

    Raises:
        CloneError: Something in the environment cannot be copied right, such as an open file or a thread; the
            message names it by its path.
    """
    run = _runs.get(type(env))
    if run is None:
        if env is None or isinstance(env, type) or not hasattr(env, "step"):
            given = repr(env) if not isinstance(env, type) else f"the class {env.__qualname__}"
            raise CloneError(f"clone_env needs a live environment, with a step method, not {given[:100]}")
        run = copier_for(env)
    copied: T = run(env)
    return copied


@checked_call
def register_clone(
    cls: type[T],
    clone: Callable[[T], T] | None = None,
    *,
    flatten: Callable[[T], Sequence[Any]] | None = None,
    unflatten: Callable[[Sequence[Any]], T] | None = None,
) -> None:
    """Says how objects of exactly this class are copied when an environment is cloned.

    Give ``clone``, which is called with an object and returns an independent copy, or a pair: ``flatten`` returns
    all that decides what the object will do (the parts themselves, since a search reseeds the generators among
    them), and ``unflatten`` makes an object of copies of that. With the pair objects can also be compared, so that
    a search may use a table of positions::

        register_clone(Deck, flatten=lambda deck: (deck.cards, deck.place), unflatten=lambda parts: Deck(*parts))
        register_clone(MyEnv, lambda env: MyEnv.restored(env.save_state()))

    Raises:
        InvalidSettingError: Not a class, or neither ``clone`` nor both of the pair.
    """
    if not isinstance(cls, type):
        raise InvalidSettingError(f"register_clone needs a class, not {cls!r}")
    if clone is not None and flatten is None and unflatten is None:
        copy, name = clone, "registered clone"
        KINDS[cls] = replace(kind_of(cls), copy=lambda obj, _: own_copy(obj, lambda: copy(obj), name), plain=False)
    elif clone is None and flatten is not None and unflatten is not None:
        take, make = flatten, unflatten
        KINDS[cls] = Kind(copy=lambda obj, walk: make(walk.copy_all(take(obj))), parts=take)
    else:
        raise InvalidSettingError("register_clone needs either clone, or flatten and unflatten")
    _forget_shapes()


@checked_call
def register_state(
    cls: type[T],
    save: Callable[[T], Any],
    restore: Callable[[T, Any], Any],
    *,
    arguments: Callable[[T], tuple[Any, ...]] | None = None,
    seed: Callable[[T, int], Any] | None = None,
) -> None:
    """Says how objects of exactly this class, such as emulators, are copied by the states that they save.

    The user's object is only asked to save itself. A second object, one for all copies in a process, is restored
    to the state of a copy when that is stepped or looked at::

        register_state(Emulator, Emulator.save, Emulator.load, arguments=lambda emulator: (emulator.rom,))

    Args:
        cls: The class.
        save: Returns the state of an object, with all that decides how it goes on, random generators included.
        restore: Puts another object of the class into a state.
        arguments: Returns what the class is called with to make the second object. By default the environment
            is made anew, from Gymnasium's spec or what ``EzPickle`` keeps, and the object is taken from that.
        seed: Starts the random generators of an object from a whole number of 32 bits, and changes nothing else.
            Without it a search foresees the chance that is part of a state.

    Raises:
        InvalidSettingError: Not a class.
    """
    if not isinstance(cls, type):
        raise InvalidSettingError(f"register_state needs a class, not {cls!r}")
    register_saving(cls, Saving(save=save, restore=restore, arguments=arguments, seed=seed))
    _forget_shapes()


def _forget_shapes() -> None:
    for copier in list(_copiers.values()):
        copier.known = ()
    forget_keys()


class _Copier(Shapes[tuple[Copy, Scan]]):
    """The copiers of one class: those for shapes that were met, then the general one."""

    __slots__ = ()

    def run(self, obj: Any, shares_generators: bool = False) -> Any:
        shapes = self.known
        for shape in shapes:
            new = shape[0](obj, shares_generators)
            if new is not None:
                if shape is not shapes[0]:
                    self.put_first(shape)
                return new
        new = _copied_generally(obj, shares_generators)
        if self.is_due() and (written := compile_copier(obj, loose=self.compilations > 2)) is not None:
            self.put_first(written)
        return new


def _copied_generally(obj: Any, shares_generators: bool) -> Any:
    """A copy by the general walk; what cannot be copied but saves itself is copied by its states from then on."""
    while True:
        try:
            return copy_generally(obj, shares_generators=shares_generators)
        except CloneError as error:
            failed = getattr(error.__cause__, "obj", None)
            if failed is None or not copy_by_state(obj, failed):
                raise


_copiers: Final[dict[type, _Copier]] = {}
_runs: Final[dict[type, Callable[..., Any]]] = {}


def copier_for(obj: Any) -> Callable[..., Any]:
    """The fastest function that clones objects of the class of ``obj``.

    Call it with the object, and with ``True`` if the copy is to hold the same random generators.
    """
    cls = type(obj)
    return _runs.get(cls) or _runs.setdefault(cls, _copiers.setdefault(cls, _Copier()).run)


def known_generators(obj: Any) -> tuple[Any, ...] | None:
    """The random generators in an object, found fast, or None where that takes a walk through all of it."""
    copier = _copiers.get(type(obj))
    shapes = () if copier is None else copier.known
    return next((found for _, scan in shapes if (found := scan(obj)) is not None), None)
