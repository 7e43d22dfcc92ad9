"""The copier that clones an environment: specialised to its class where that is safe, general where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zermelo.envs.clone import arrays as copy_arrays
from zermelo.envs.clone import functions as copy_functions
from zermelo.envs.clone import libraries as copy_libraries
from zermelo.envs.clone.object_graph import path_to
from zermelo.envs.clone.own_clone import adopt_own_clone
from zermelo.envs.clone.plan import compile_copier
from zermelo.envs.clone.walk import CopyWalk, UncopyableError, register_copier
from zermelo.envs.errors import CloneError

__all__ = ["RUNS", "copier_for", "copy_generally", "known_generators", "register_copier"]

for _kinds in (copy_arrays, copy_functions, copy_libraries):
    _kinds.register()


def copy_generally(obj: Any, memo: dict[int, Any] | None = None) -> Any:
    """A copy by the general walk; ``memo`` may already hold copies, by the ``id`` of their originals.

    Raises:
        CloneError: Something in the object cannot be copied; the message names where it is.
    """
    walk = CopyWalk(obj, memo)
    try:
        return walk.copy(obj)
    except UncopyableError as error:
        where = path_to(obj, error.obj)
        if error.final:
            raise CloneError(f"cannot clone {_name(obj)}: {where} {error.reason}") from None
        raise CloneError(
            f"cannot clone {_name(obj)}: {where} {error.reason}; keep it out of the environment's attributes, "
            "or give its class a __deepcopy__ method that copies it right"
        ) from error
    except RecursionError:
        raise CloneError(
            f"cannot clone {_name(obj)}: its attributes are nested deeper than Python's recursion limit; "
            "raise it with sys.setrecursionlimit, or give the environment's class a __deepcopy__ method"
        ) from None


def _name(obj: Any) -> str:
    return type(obj).__qualname__ if type(obj).__module__ == "builtins" else f"this {type(obj).__qualname__}"


_MOST_SHAPES: Final = 16


class _Copier:
    """The copiers of one class: those for shapes that were met, the last used first, then the general one."""

    __slots__ = ("compilations", "copies", "misses", "run", "scans")

    def __init__(self) -> None:
        self.copies: list[Callable[[Any], Any]] = []
        self.scans: dict[Callable[[Any], Any], Callable[[Any], tuple[Any, ...] | None]] = {}
        self.misses = 0
        self.compilations = 0
        self.run = self._runner()

    def _runner(self) -> Callable[[Any], Any]:
        copies, promote, miss = self.copies, self._promote, self._miss

        def run(obj: Any) -> Any:
            for copy in copies:
                new = copy(obj)
                if new is not None:
                    if copy is not copies[0]:
                        promote(copy)
                    return new
            return miss(obj)

        return run

    def _promote(self, copy: Callable[[Any], Any]) -> None:
        self.copies.remove(copy)
        self.copies.insert(0, copy)

    def _miss(self, obj: Any) -> Any:
        """No known shape fits: copies generally, and learns the shape if that happens often enough."""
        settled = adopt_own_clone(obj)
        new = copy_generally(obj)
        if not settled:
            return new
        self.misses += 1
        # Compiling takes about as long as a hundred general copies: wait twice as long each few times.
        if self.misses > 2 ** (1 + self.compilations // 3):
            self.compilations += 1
            written = compile_copier(obj, loose=self.compilations > 2)
            if written is not None:
                copy, scan = written
                self.copies.insert(0, copy)
                self.scans[copy] = scan
                for forgotten in self.copies[_MOST_SHAPES:]:
                    self.copies.remove(forgotten)
                    del self.scans[forgotten]
        return new

    def generators(self, obj: Any) -> tuple[Any, ...] | None:
        """The random generators of an object of a known shape, or None if its shape is unknown."""
        for copy in self.copies:
            found = self.scans[copy](obj)
            if found is not None:
                return found
        return None


_copiers: dict[type, _Copier] = {}
RUNS: Final[dict[type, Callable[[Any], Any]]] = {}
"""What ``copier_for`` has answered, by class."""


def copier_for(obj: Any) -> Callable[[Any], Any]:
    """What clones objects of the same class as ``obj`` fastest; call it with the object to clone."""
    run = RUNS.get(type(obj))
    if run is None:
        run = RUNS[type(obj)] = _copier_of(type(obj)).run
    return run


def known_generators(obj: Any) -> tuple[Any, ...] | None:
    """The random generators in an object, found fast, or None where that takes a walk through all of it."""
    return _copier_of(type(obj)).generators(obj)


def _copier_of(cls: type) -> _Copier:
    copier = _copiers.get(cls)
    if copier is None:
        copier = _copiers[cls] = _Copier()
    return copier
