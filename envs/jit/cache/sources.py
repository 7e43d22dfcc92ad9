"""The version of rules in this process: an object that stays the same until something is edited.

Whatever is made from rules, such as kernels, trees and tables of searches, goes by this object.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any, Final

from zermelo.envs.jit.cache.fingerprint import CodeWalk, digest_of_kernel, walk_rules
from zermelo.envs.rules.history import without_past
from zermelo.envs.support.code_parts import UncomparableError

if TYPE_CHECKING:
    from zermelo.envs.jit.kernel import Kernel


class Sources:
    """What the compiled code of a rules class is made from.

    Attributes:
        tables: The large tables that are read, by their symbols.
        narrow: The types of arrays of integers that do not have 64 bits and a sign, by the arrays' names.
    """

    def __init__(self, rules_class: type, state_class: type, walk: CodeWalk) -> None:
        self.tables, self.narrow = walk.tables, walk.narrow
        self._classes = rules_class, state_class
        self._take(walk)

    def _take(self, walk: CodeWalk) -> None:
        self._digest, self._snapshot = walk.digest.hexdigest(), walk.snapshot
        self._uncomparable, self._alive = walk.uncomparable, walk.alive
        self._kernels: dict[Kernel, str] = {}

    def is_current(self) -> bool:
        """True if nothing was edited since."""
        return self._snapshot.is_current()

    def takes(self, walk: CodeWalk) -> bool:
        """Whether a newer walk found the same; then its snapshot counts from now on."""
        is_same = walk.digest.hexdigest() == self._digest and walk.tables == self.tables
        if is_same:
            self._take(walk)
        return is_same

    def digest(self, kernel: Kernel) -> str:
        """A hash of all that a kernel's code depends on, apart from versions, types and the processor.

        Raises:
            UncomparableError: It depends on a thing that cannot be compared with another process's.
        """
        if self._uncomparable:
            raise UncomparableError(self._uncomparable)
        if kernel not in self._kernels:
            own = digest_of_kernel(kernel, *self._classes)
            self._kernels[kernel] = hashlib.sha256(f"{self._digest} {own}".encode()).hexdigest()
        return self._kernels[kernel]


_LOCK: Final = threading.RLock()
_KNOWN: Final[dict[tuple[type, type], Sources]] = {}


def sources_of(rules: Any, state: Any = None) -> Sources:
    """The version of some rules, in which ``state`` is one of their states; None for the initial one.

    It is another object after an edit of what their compiled code depends on.

    Raises:
        RulesError: They read two large tables of one name.
    """
    state = rules.initial_state() if state is None else without_past(state)
    return sources_of_classes(type(rules), type(state))


def sources_of_classes(rules_class: type, state_class: type) -> Sources:
    """As ``sources_of``, by the classes of rules and states."""
    known = _KNOWN.get((rules_class, state_class))
    if known is not None and known.is_current():
        return known
    with _LOCK:
        walk = walk_rules(rules_class, state_class)
        known = _KNOWN.get((rules_class, state_class))
        if known is not None and known.takes(walk):
            return known
        if known is not None and walk.has_compiled:
            walk.uncomparable = "a function that Numba compiled before an edit"
        found = _KNOWN[rules_class, state_class] = Sources(rules_class, state_class, walk)
        return found


def forget_sources(sources: Sources) -> None:
    """Has the rules walked anew next time, as where they did not compile: a missing name may be written since."""
    with _LOCK:
        for classes in [classes for classes, known in _KNOWN.items() if known is sources]:
            del _KNOWN[classes]


def digest_of(rules_class: type, state_class: type, kernel: Kernel, *, by_source: bool = False) -> str:
    """A hash of all that a kernel's code for a rules class depends on, apart from versions and the processor.

    With ``by_source`` it is the same in all versions of Python.

    Raises:
        UncomparableError: It depends on a thing that cannot be compared.
    """
    if not by_source:
        return sources_of_classes(rules_class, state_class).digest(kernel)
    of_rules = walk_rules(rules_class, state_class, by_source=True).comparable_digest()
    of_kernel = digest_of_kernel(kernel, rules_class, state_class, by_source=True)
    return hashlib.sha256(f"{of_rules} {of_kernel}".encode()).hexdigest()
