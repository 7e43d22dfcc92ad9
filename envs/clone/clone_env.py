"""An independent copy of a live environment, at its current position.

``copy.deepcopy`` cannot do this: PettingZoo's environments inherit ``EzPickle``, so that a deep copy is built anew
from constructor arguments and has lost the game. Here a class whose objects are cloned often gets copiers written
for the shapes that they have (``plan``); what has another shape goes through the general traversal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from zermelo.envs.clone.plan import Copy, Scan, compile_copier
from zermelo.envs.clone.traversal import copy_generally
from zermelo.envs.errors import CloneError

Env = TypeVar("Env")


def clone_env(env: Env) -> Env:
    """An independent copy of an environment at the current position; stepping one never changes the other.

    Args:
        env: Any PettingZoo environment, raw or wrapped, or any Gymnasium environment; also one not yet reset.

    Returns:
        A new environment of the same class. What cannot change is shared with ``env`` (spaces without a random
        generator of their own, pygame surfaces, fonts and clocks); everything else is copied, and objects that
        ``env`` reaches by two paths are one object in the copy as well. Random generators are copied with their
        state, so the copy draws the same numbers: a search replaces them first (``replace_generators``).

    Raises:
        CloneError: Something in the environment cannot be copied right, such as an open file or a thread; the
            message names it by its path.
    """
    run = _RUNS.get(type(env))
    if run is None:
        if env is None or isinstance(env, type) or not hasattr(env, "step"):
            shown = repr(env) if not isinstance(env, type) else f"the class {env.__qualname__}"
            raise CloneError(f"clone_env needs a live environment, with a step method, not {shown[:100]}")
        run = copier_for(env)
    copied: Env = run(env)
    return copied


_MOST_SHAPES: Final = 16


class _Copier:
    """The copiers of one class: those for shapes that were met, the last used first, then the general one.

    Threads may clone at the same time: ``shapes`` is never changed, but replaced.
    """

    __slots__ = ("compilations", "lock", "misses", "run", "shapes")

    def __init__(self) -> None:
        self.shapes: tuple[tuple[Copy, Scan], ...] = ()
        self.misses = 0
        self.compilations = 0
        self.lock = threading.Lock()

        def run(obj: Any) -> Any:
            shapes = self.shapes
            for shape in shapes:
                new = shape[0](obj)
                if new is not None:
                    if shape is not shapes[0]:
                        self._put_first(shape)
                    return new
            return self._miss(obj)

        self.run = run

    def _put_first(self, shape: tuple[Copy, Scan]) -> None:
        with self.lock:
            self.shapes = (shape, *(other for other in self.shapes if other is not shape))[:_MOST_SHAPES]

    def _miss(self, obj: Any) -> Any:
        """No known shape fits: copies generally, and learns the shape if that happens often enough."""
        new = copy_generally(obj)
        self.misses += 1
        # Compiling takes about as long as a hundred general copies: wait twice as long each few times.
        if self.misses > 2 ** (1 + self.compilations // 3):
            self.compilations += 1
            shape = compile_copier(obj, loose=self.compilations > 2)
            if shape is not None:
                self._put_first(shape)
        return new


_copiers: Final[dict[type, _Copier]] = {}
_RUNS: Final[dict[type, Callable[[Any], Any]]] = {}


def _copier_of(cls: type) -> _Copier:
    return _copiers.get(cls) or _copiers.setdefault(cls, _Copier())


def copier_for(obj: Any) -> Callable[[Any], Any]:
    """The fastest function that clones objects of the class of ``obj``; call it with the object."""
    cls = type(obj)
    return _RUNS.get(cls) or _RUNS.setdefault(cls, _copier_of(cls).run)


def forget_shapes() -> None:
    """Has every shape learned anew, since some class is copied in another way from now on."""
    for copier in list(_copiers.values()):
        copier.shapes = ()


def known_generators(obj: Any) -> tuple[Any, ...] | None:
    """The random generators in an object, found fast, or None where that takes a walk through all of it."""
    shapes = _copier_of(type(obj)).shapes
    return next((found for _, scan in shapes if (found := scan(obj)) is not None), None)
