"""The methods of rules as a table, their defaults, and a check for misspelt ones."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from zermelo.envs.errors import RulesError
from zermelo.envs.rules.protocol import NEVER_COMPILED, PARTS, RequiredMethods


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes:
        function: Its signature, its docstring, and as its body the default.
        group: What its group is for.
        required: Whether every game has it.
        compiled: Whether compiled code calls it.
    """

    name: str
    function: Callable[..., Any]
    group: str
    required: bool
    compiled: bool

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of its arguments."""
        return tuple(inspect.signature(self.function).parameters)[1:]

    @property
    def returns(self) -> str:
        """The type of what it returns, as written: ``Any`` is a state."""
        return str(self.function.__annotations__["return"])

    @property
    def about(self) -> str:
        """The result."""
        return inspect.getdoc(self.function) or ""


METHODS: Final[dict[str, Method]] = {
    name: Method(name, function, inspect.getdoc(part) or "", part is RequiredMethods, name not in NEVER_COMPILED)
    for part in PARTS
    for name, function in vars(part).items()
    if inspect.isfunction(function) and not name.startswith("_")
}
"""Every method of rules that this package calls."""
REQUIRED: Final = tuple(name for name, method in METHODS.items() if method.required)
COMPILED: Final = tuple(name for name, method in METHODS.items() if method.compiled)
_WITHOUT: Final = {*REQUIRED, "layout", "write_observation", "table_state"}
DEFAULTS: Final = {name: METHODS[name].function for name in COMPILED if name not in _WITHOUT}
"""What stands in compiled code for a method that rules do not write."""


def method_or_default(rules: Any, name: str) -> Callable[..., Any]:
    """An optional method of rules, or what stands in for it."""
    own: Callable[..., Any] | None = getattr(rules, name, None)
    return own if own is not None else functools.partial(METHODS[name].function, _Complete(rules))


class _Complete:
    """Rules with every method, its own or the default, as defaults call them."""

    def __init__(self, rules: Any) -> None:
        self._rules = rules

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):  # as pickle asks before there are rules
            raise AttributeError(name)
        return method_or_default(self._rules, name)


_SIMILAR: Final = 0.75
"""From this ratio of ``difflib`` on, names with one first letter and about one length are taken for one name."""
_LENGTHS: Final = 3


@functools.lru_cache(maxsize=256)  # by the class itself; what is wrong is not kept
def require_known_names(kind: type) -> None:
    """Raises ``RulesError`` for a public method that looks like a misspelt one of the contract.

    A name that resembles one which the same class also writes is a helper's.
    """
    for part in kind.__mro__:
        written = {name for name, value in vars(part).items() if _is_method(value)}
        for name in written - {*METHODS}:
            if name.startswith("_") or part in (tuple, object):
                continue
            alike = [known for known in {*METHODS} - written if known[0] == name[0]]
            alike = [known for known in alike if abs(len(known) - len(name)) <= _LENGTHS]
            nearest = difflib.get_close_matches(name, alike, 1, _SIMILAR)
            if nearest:
                raise RulesError(
                    f"{part.__name__}.{name} is no method of rules: did you mean {nearest[0]}? (Begin the name of "
                    "a helper with an underscore.)"
                )


def _is_method(value: object) -> bool:
    return inspect.isroutine(value) or isinstance(value, property | functools.cached_property)
