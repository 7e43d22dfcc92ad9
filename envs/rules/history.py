"""Repetition and superko: states that know which positions there were before them.

Of rules with ``repetition_key`` states carry the keys of their path, as far back as a position can come again.
They are still values, and equal only where their past is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from zermelo.envs.errors import RulesError
from zermelo.envs.rules.contract import method_or_default


def has_history(rules: Any) -> bool:
    """Whether what happened before matters in these rules."""
    return hasattr(rules, "repetition_key")


class _State(tuple[Any, ...]):
    """Fields added to a class of states; no field of a named tuple begins with an underscore."""

    _kind: Any
    _keys: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and tuple(self) == tuple(other) and self._keys == keys_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((tuple(self), self._keys))

    def __reduce__(self) -> Any:
        return _with_keys, (without_past(self), self._keys)


@functools.cache  # by the class itself, whose fields are fixed
def _class_with_keys(kind: type) -> Any:
    return type(kind.__name__, (_State, kind), {"_kind": kind, "__module__": kind.__module__})


def _with_keys(state: Any, keys: tuple[int, ...]) -> Any:
    kind: Any = state._kind if isinstance(state, _State) else type(state)
    made = _class_with_keys(kind)._make(state)
    made._keys = keys
    return made


def keys_of(state: Any) -> tuple[int, ...]:
    """The keys of the positions on a state's path that can come again, and last its own; none of other states."""
    return state._keys if isinstance(state, _State) else ()


def without_past(state: Any) -> Any:
    """The rules' own state."""
    return state._kind._make(state) if isinstance(state, _State) else state


def with_past(rules: Any, state: Any, keys: Iterable[int]) -> Any:
    """A state of rules with ``repetition_key`` that was reached through other positions.

    For who reads the states of a live environment (``EquivalentRules``): ``keys`` has the ``repetition_key`` of
    each position before it, the oldest first; 0 for one that does not count.
    """
    keys = tuple(keys)
    back = min(method_or_default(rules, "reversible_plies")(state), len(keys))
    return _with_keys(state, (*keys[len(keys) - back :], rules.repetition_key(state)))


class RulesWithHistory:
    """Rules whose states know their past, in plain Python; its methods are those of rules that depend on it."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self._limit = int(method_or_default(rules, "repetition_limit")())
        self._is_illegal = bool(method_or_default(rules, "repetition_is_illegal")())
        self._is_claimed = bool(method_or_default(rules, "repetition_is_claimed")())
        self._utility = method_or_default(rules, "repetition_utility")
        if self._limit < 2:
            raise RulesError(
                f"{type(rules).__name__}.repetition_limit: it gave {self._limit}, but the first occurrence of a "
                "position is no repetition: 2 or more"
            )

    def initial_state(self) -> Any:
        return with_past(self.rules, self.rules.initial_state(), ())

    def result(self, state: Any, action: int) -> Any:
        return self._follow(state, self.rules.result(state, action))

    def pass_turn(self, state: Any) -> Any:
        return self._follow(state, self.rules.pass_turn(state))

    def future(self, state: Any) -> Any:
        return _with_keys(self.rules.future(state), keys_of(state))

    def legal_actions(self, state: Any, actions: list[int]) -> int:
        """Leaves out actions that repeat a position too often, where that is illegal."""
        count: int = self.rules.legal_actions(state, actions)
        if not self._is_illegal:
            return count
        kept = [action for action in actions[:count] if not self._repeats(self.result(state, action))]
        if not kept:
            raise RulesError(
                f"{type(self.rules).__name__}.legal_actions at {state}: every action repeats a position, which is "
                "illegal; there must be one that does not, such as a pass"
            )
        actions[: len(kept)] = kept
        return len(kept)

    def is_terminal(self, state: Any) -> bool:
        if self.rules.is_terminal(state):
            return True
        return not self._is_illegal and (self._repeats(state) or any(map(self._repeats, self._claims(state))))

    def utility(self, state: Any, seat: int) -> int:
        return int((self.rules.utility if self.rules.is_terminal(state) else self._utility)(state, seat))

    def key(self, state: Any) -> Any:
        """The rules' own key of the position, and in any order the positions that can come again.

        Then equal keys do have the same future: the value of a position may depend on the path to it ("graph
        history interaction": Campbell, "The graph-history interaction: on ignoring position history", 1985;
        Kishimoto and Mueller, "A general solution to the graph history interaction problem", AAAI 2004).
        """
        key = getattr(self.rules, "key", tuple)(state)
        return key, tuple(sorted(other for other in keys_of(state)[:-1] if other))

    def reach(self, state: Any) -> int:
        """Plies since the position whose repetition ends the game here, or forbids an action."""
        if self.rules.is_terminal(state):
            return 0
        if not self._is_illegal and self._repeats(state):
            return _back(state)
        children = self._children(state) if self._is_illegal else self._claims(state)
        return max((_back(child) - 1 for child in children if self._repeats(child)), default=0)

    def _claims(self, state: Any) -> Iterator[Any]:
        """The states of which one that repeats a position too often already ends the game here."""
        keys = keys_of(state)
        if self._is_claimed and any(keys.count(key) >= self._limit - 1 for key in set(keys) if key):
            yield from self._children(state)

    def _children(self, state: Any) -> Iterator[Any]:
        actions = [0] * int(method_or_default(self.rules, "max_legal_actions")())
        count = self.rules.legal_actions(state, actions)
        return (self.result(state, action) for action in actions[:count])

    def _follow(self, before: Any, state: Any) -> Any:
        return with_past(self.rules, state, keys_of(before) or (self.rules.repetition_key(before),))

    def _repeats(self, state: Any) -> bool:
        keys = keys_of(state)
        return bool(keys) and keys[-1] != 0 and keys.count(keys[-1]) >= self._limit


def _back(state: Any) -> int:
    keys = keys_of(state)
    return len(keys) - 1 - keys.index(keys[-1])
