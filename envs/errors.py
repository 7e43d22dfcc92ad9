"""The errors a user can meet, and what each one means.

    ZermeloError
    ├── CloneError             a copy of an environment would not be, or was not, right
    ├── UnsupportedGameError   this game and this agent do not fit; the message names one that does
    ├── IllegalActionError     the action is not legal in that position
    ├── GameOverError          there is nothing to decide: the game has ended, or nobody can move
    ├── EnvFailedError         the environment's own code raised an error (kept as ``__cause__``)
    ├── InvalidSettingError    a setting has a value it cannot have
    ├── UnknownNameError       no environment, agent or evaluator of that name ("did you mean ...")
    ├── RulesError             rules break their contract, or do not compile; the message names the method
    ├── MissingDependencyError an optional package is needed; the message ends in the command
    └── AssumptionFailed       an environment did what it was assumed not to do; agents go on, others search again

Every message says what was wrong, with the offending value, and what to do instead. ``UnknownTraitWarning``,
``EnvFailureWarning`` and ``BlindSearchWarning`` are no errors: a search goes on, on an assumption that it names,
without the lines of play in which the environment fails, or although it tells no action from another. Each is said
once for all environments of a class (``warn_once``).
"""

from __future__ import annotations

import inspect
import os
import warnings
import weakref
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final


class ZermeloError(Exception):
    """The parent of every error that this package raises on purpose."""


class CloneError(ZermeloError):
    """A copy of an environment would not be, or was not, the same game."""


class UnsupportedGameError(ZermeloError):
    """The game has a trait that the agent cannot search."""


class IllegalActionError(ZermeloError, ValueError):
    """The action is not legal in that position."""


def illegal_action(action: Any, where: str, legal: Sequence[Any]) -> IllegalActionError:
    """The error for an action that is not legal: what is, shortened where there is much."""
    first = ", ".join(map(str, legal[:20])) or "none"
    more = f", ... ({len(legal)} in all)" if len(legal) > 20 else ""
    return IllegalActionError(f"{action!r} is not legal {where}: legal are {first}{more}")


def require_actions_of(movers: Sequence[int], actions: Mapping[int, Any], name: str) -> None:
    """Refuses moves made at the same time that are not one of each of the seats that decide."""
    if {*movers} != {*actions}:
        raise IllegalActionError(
            f"an action of each of the seats {list(movers)} is needed in {name}, not {dict(actions)}"
        )


class GameOverError(ZermeloError):
    """The game has ended, or the player to move has no legal action."""


class EnvFailedError(ZermeloError):
    """The environment's own code raised an error while a copy of it was played; ``__cause__`` is that error."""


class InvalidSettingError(ZermeloError, ValueError):
    """A setting has a value it cannot have."""


class UnknownNameError(ZermeloError, LookupError):
    """No environment, agent or evaluator has that name."""


class RulesError(ZermeloError):
    """A game's rules break the contract of ``zermelo.envs.rules``, or cannot be compiled."""


class MissingDependencyError(ZermeloError, ImportError):
    """An optional package is needed; the message ends in the command that installs it."""


class AssumptionFailed(ZermeloError):  # noqa: N818 - no error of the user's
    """A search saw what its environment was assumed not to do; it is known from now on.

    Attributes:
        field: The field of ``Traits`` that was assumed to be something else.
        value: What it is.
        seen: What was seen.
        drawn: The generators that a step drew from and the environment does not hold.
        nodes: The states that the search had visited.
    """

    def __init__(self, field: str, value: str, seen: str, name: str = "", drawn: tuple[str, ...] = ()) -> None:
        super().__init__(f"{name} is not as it was assumed to be ({field}): {seen}; search it again")
        self.field, self.value, self.seen, self.name = field, value, seen, name
        self.drawn, self.nodes = drawn, 0

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.value, self.seen, self.name, self.drawn)


class UnknownTraitWarning(UserWarning):
    """A search rests on an assumption for which there is little evidence, or sees what its player does not."""


class EnvFailureWarning(UserWarning):
    """The environment's own code fails in some lines of play, which a search leaves out."""


class BlindSearchWarning(UserWarning):
    """A search does not see any difference between actions, and another agent is made for the game."""


_SOURCES: Final = tuple(f"{Path(__file__).parents[1] / room}{os.sep}" for room in ("envs", "agents", "evaluation"))
_said: Final[weakref.WeakKeyDictionary[type, set[Hashable]]] = weakref.WeakKeyDictionary()
"""What was said of each class: a class that is defined again, as in a notebook's cell, is another one."""


def warn_once(about: type, text: str, category: type[Warning], subject: Hashable = "") -> None:
    """Warns at the line of the caller's program, once for a class, of the same text or the same subject."""
    said = _said.setdefault(about, set())
    if (subject or text) in said:
        return
    said.add(subject or text)
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(_SOURCES):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)  # Python 3.12 has skip_file_prefixes for that


def forget_warnings() -> None:
    """Has everything be said again."""
    _said.clear()
