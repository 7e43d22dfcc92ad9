"""Calls of rules' methods for ``check_rules``: as they are and compiled, with the types that the contract says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, NoReturn

import numpy as np

from zermelo.envs.errors import RulesError
from zermelo.envs.jit.cache.sources import sources_of
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.rules.contract import METHODS, method_or_default
from zermelo.envs.rules.rules_game import RulesGame

_INTEGERS: Final = range(-(1 << 63), 1 << 63)


def compiled_or_none(rules: Any, *names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """The methods that rules write, or of these the named ones, compiled; none where nothing is compiled."""
    if why_not_compiled():
        return {}
    from zermelo.envs.jit.method_calls import compiled_methods

    return compiled_methods(rules, *map(list, names))


class Calls:
    """The methods of one game's rules."""

    def __init__(self, game: RulesGame) -> None:
        self.game, self.rules = game, game.rules
        self.compiled = compiled_or_none(game.rules)
        self._narrow = sources_of(game.rules).narrow
        self._overflow: Literal["raise", "warn"] = "raise" if self._narrow else "warn"

    def has(self, method: str) -> bool:
        """Whether the rules write an optional method."""
        return hasattr(self.rules, method)

    def ask(self, method: str, *args: Any) -> Any:
        """An optional method, or its default."""
        return method_or_default(self.rules, method)(*args)

    def fail(self, method: str, state: Any, what: str) -> NoReturn:
        """Raises the error of a method at a state."""
        where = "" if state is None else f" at {state}"
        raise RulesError(f"{type(self.rules).__name__}.{method}{where}: {what}")

    def call(self, method: str, *args: Any) -> Any:
        """Calls a method as it is and compiled: both give and write the same, of the right type."""
        state = args[0] if args else None
        plain, written = self.run(getattr(self.rules, method), method, args)
        self._check_type(method, state, plain)
        if method in self.compiled:
            both = self.run(self.compiled[method], method, args, self.rules)
            if both != (plain, written) or type(both[0]) is not type(plain):
                arguments = "" if len(args) < 2 else f" for {', '.join(map(str, args[1:]))}"
                what = f"compiled it gives {both}, uncompiled {(plain, written)}{arguments}"
                self.fail(method, state, what + self._about_arrays())
        for value, now in zip(args, written, strict=True):
            if isinstance(value, list):
                if len(now) != len(value):
                    self.fail(method, state, f"it changed the length of a buffer from {len(value)} to {len(now)}")
                value[:] = now
        return plain

    def run(self, function: Callable[..., Any], method: str, args: Any, *rules: Any) -> tuple[Any, list[Any]]:
        """The result of a method, and its arguments with what it has written into copies of the lists."""
        given = [list(value) if isinstance(value, list) else value for value in args]
        try:
            with np.errstate(over=self._overflow):
                return function(*rules, *given), given
        except Exception as error:
            state = args[0] if args else None
            overflows = isinstance(error, FloatingPointError | OverflowError)
            advice = self._about_arrays() if overflows else ""
            self.fail(method, state, f"it raised {type(error).__name__}: {error}{advice}")

    def _about_arrays(self) -> str:
        """What to write where the numbers of arrays have fewer bits in plain Python than in compiled code."""
        if not self._narrow:
            return ""
        named = " and ".join(f"{name} (an array of {kind})" for name, kind in self._narrow.items())
        what = f"; numbers read from {named} keep that type in plain Python, and have 64 bits in compiled code"
        return f"{what}: write int({next(iter(self._narrow))}[index]) before calculating with them"

    def actions(self, method: str, state: Any) -> list[int]:
        """The actions that a method writes."""
        buffer = [0] * self.game.num_moves
        count, most = self.call(method, state, buffer), self.game.max_legal_actions
        if not 0 <= count <= most:
            self.fail(method, state, f"it returned {count} for the number of actions, of at most {most} at once")
        actions = buffer[:count]
        for action in actions:
            self._check_integer(method, state, action)
            if not 0 <= action < (known := self.rules.num_actions()):
                self.fail(method, state, f"{action} is no action: they are 0 to {known - 1}")
        if len(set(actions)) != count:
            self.fail(method, state, f"an action is listed twice in {actions}")
        return actions

    def _check_type(self, method: str, state: Any, value: Any) -> None:
        returns = METHODS[method].returns
        if returns == "bool" and not isinstance(value, bool):
            self.fail(method, state, f"it gave {value!r}, which is neither True nor False")
        for number in (value,) if returns == "int" else value if returns.startswith("tuple") else ():
            self._check_integer(method, state, number)
        if returns == "Any":
            if not (isinstance(value, tuple) and hasattr(value, "_fields")):
                self.fail(method, state, f"a state is a named tuple of integers, not {value!r}")
            if state is not None and type(value) is not type(state):
                self.fail(method, state, f"it gave {value!r}, which is no {type(state).__name__}")
            for name, part in zip(value._fields, value, strict=True):
                if not all(map(_is_integer, part if isinstance(part, tuple) else (part,))):
                    self.fail(method, state, f"in the state it made, {name} is {part!r}: no integer of 64 bits")

    def _check_integer(self, method: str, state: Any, value: Any) -> None:
        if not _is_integer(value):
            self.fail(method, state, f"it gave {value!r}, which is not an integer of 64 bits")


def _is_integer(value: Any) -> bool:
    return type(value) is int and value in _INTEGERS
