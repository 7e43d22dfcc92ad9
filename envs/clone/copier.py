"""The copier that clones an environment: specialised to its class where that is safe, general where it is not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from zermelo.envs.clone import arrays as copy_arrays
from zermelo.envs.clone import functions as copy_functions
from zermelo.envs.clone import libraries as copy_libraries
from zermelo.envs.clone.object_graph import path_to
from zermelo.envs.clone.plan import compile_copier
from zermelo.envs.clone.walk import CopyWalk, UncopyableError, register_copier
from zermelo.envs.errors import CloneError

__all__ = [
    "EXAMINERS",
    "RUNS",
    "copier_for",
    "copy_generally",
    "forget_shapes",
    "known_generators",
    "register_copier",
]

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
            "or say how to copy it: zermelo.envs.register_clone"
        ) from error
    except RecursionError:
        raise CloneError(
            f"cannot clone {_name(obj)}: its attributes are nested deeper than Python's recursion limit; "
            "raise it with sys.setrecursionlimit, or give the environment's class a __deepcopy__ method"
        ) from None


def _name(obj: Any) -> str:
    return type(obj).__qualname__ if type(obj).__module__ == "builtins" else f"this {type(obj).__qualname__}"


EXAMINERS: Final[list[Callable[[Any], bool]]] = []
"""Asked of an object before it is copied generally: they may register a copier for its class, and answer whether
its shape may be learned."""
_MOST_SHAPES: Final = 16


class _Copier:
    """The copiers of one class: those for shapes that were met, the last used first, then the general one.

    Threads may clone at the same time: ``copies`` is never changed, but replaced.
    """

    __slots__ = ("compilations", "copies", "lock", "misses", "run", "scans")

    def __init__(self) -> None:
        self.copies: tuple[Callable[[Any], Any], ...] = ()
        self.scans: dict[Callable[[Any], Any], Callable[[Any], tuple[Any, ...] | None]] = {}
        self.misses = 0
        self.compilations = 0
        self.lock = threading.Lock()
        self.run = self._runner()

    def _runner(self) -> Callable[[Any], Any]:
        def run(obj: Any) -> Any:
            copies = self.copies
            for copy in copies:
                new = copy(obj)
                if new is not None:
                    if copy is not copies[0]:
                        self._promote(copy)
                    return new
            return self._miss(obj)

        return run

    def _promote(self, copy: Callable[[Any], Any]) -> None:
        with self.lock:
            self.copies = (copy, *(other for other in self.copies if other is not copy))

    def _miss(self, obj: Any) -> Any:
        """No known shape fits: copies generally, and learns the shape if that happens often enough."""
        settled = all(examine(obj) for examine in EXAMINERS)
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
                with self.lock:
                    self.scans[copy] = scan
                    self.copies = (copy, *self.copies)[:_MOST_SHAPES]
                    self.scans = {known: self.scans[known] for known in self.copies}
        return new

    def generators(self, obj: Any) -> tuple[Any, ...] | None:
        """The random generators of an object of a known shape, or None if its shape is unknown."""
        scans = self.scans
        for copy in self.copies:
            found = scans[copy](obj) if copy in scans else None
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


def forget_shapes() -> None:
    """Has every shape learned anew, since some class is copied in another way from now on."""
    for copier in list(_copiers.values()):
        copier.copies = ()


def known_generators(obj: Any) -> tuple[Any, ...] | None:
    """The random generators in an object, found fast, or None where that takes a walk through all of it."""
    return _copier_of(type(obj)).generators(obj)


def _copier_of(cls: type) -> _Copier:
    copier = _copiers.get(cls)
    if copier is None:
        copier = _copiers.setdefault(cls, _Copier())
    return copier
