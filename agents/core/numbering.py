"""Answers of searches in the numbers of actions of the game that was given."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

Answer = TypeVar("Answer")
_BY_ACTION: Final = ("action_values", "visits", "policy", "action_plies")


def renumbered(answer: Answer, game: Any, state: Any) -> Answer:
    """A result or solution of a state of a game, with ``game.to_env_action`` of each action in it."""
    found: Any = answer
    number = functools.partial(game.to_env_action, state)
    changes: dict[str, Any] = {"principal_variation": _line(game, state, found.principal_variation)}
    for name in _BY_ACTION:
        values = getattr(found, name, None)
        if isinstance(values, Mapping):
            changes[name] = dict(sorted((number(action), value) for action, value in values.items()))
    if hasattr(found, "action"):
        changes["action"] = number(found.action)
        changes["proven_actions"] = tuple(sorted(map(number, found.proven_actions)))
        changes["best_lines"] = tuple(
            line._replace(
                action=number(line.action), principal_variation=_line(game, state, line.principal_variation)
            )
            for line in found.best_lines
        )
    changed: Answer = dataclasses.replace(found, **changes)
    return changed


def _line(game: Any, state: Any, actions: Sequence[int]) -> tuple[int, ...]:
    numbers = []
    for action in actions:
        numbers.append(game.to_env_action(state, action))
        state = game.result(state, action)
    return tuple(numbers)
