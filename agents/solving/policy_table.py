"""Solved games written out: a map from states to their optimal actions, kept in a file and read back.

A policy file is text, one JSON value a line, and compressed by gzip if its name ends in ``.gz``. The first line is
an object: ``format`` is ``"zermelo policy table"``, ``version`` is 1, ``game`` says which game it is, ``plan`` is
``"seat"`` or ``"full"``, ``seat`` the owner of a plan for one seat, ``states`` the number of lines that follow,
``tolerance`` how far off values may be, if they are not exact. Each of those lines is ``[key, value, actions]``:
the state's key; what the player to move can still get by perfect play; and all actions with which it does,
ascending. A state of rules has its integers for a key, separated by commas; any other state the first 128 bits of
the SHA-256 of its game's own key.
"""

from __future__ import annotations

import enum
import hashlib
import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from zermelo.agents.solving.policy_file import read_policy, write_policy
from zermelo.envs import Game, UnsupportedGameError
from zermelo.envs.rules.rules_game import RulesGame

_FORMAT: Final = "zermelo policy table"
_VERSION: Final = 1


class Plan(enum.StrEnum):
    """Which states a policy covers."""

    SEAT = "seat"
    """Those in which its owner is to move, and that can come up while the owner plays optimal actions, whatever
    the other does: a contingent plan."""
    FULL = "full"
    """Every state that can be reached at all."""


class _Header(msgspec.Struct):
    game: str
    plan: Plan
    seat: int | None
    tolerance: float = 0.0


_Entry: TypeAlias = tuple[str, float, Annotated[tuple[int, ...], msgspec.Meta(min_length=1)]]


@dataclass(frozen=True, kw_only=True)
class PolicyTable:
    """States and their optimal actions.

    Attributes:
        game: Which game it is, as ``game_identity`` says.
        plan: Which states it covers.
        seat: The owner, for a plan for one seat.
        entries: By the state's key, what the player to move can still get, and the optimal actions, ascending.
        tolerance: How far off the values may be; 0 where they are proven.
    """

    game: str
    plan: Plan
    seat: int | None
    entries: Mapping[str, tuple[float, tuple[int, ...]]] = field(repr=False)
    tolerance: float = 0.0

    def __len__(self) -> int:
        return len(self.entries)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, in place of one that is there."""
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "game": self.game,
            "plan": self.plan.value,
            "seat": self.seat,
            "states": len(self),
            **({"tolerance": self.tolerance} if self.tolerance else {}),
        }
        entries = ([key, value, list(actions)] for key, (value, actions) in self.entries.items())
        write_policy(path, header, entries)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PolicyTable:
        """Reads a file.

        Raises:
            InvalidSettingError: There is none, or it is no policy file of a version that can be read.
        """

        def read(header: _Header, entries: Iterable[_Entry]) -> PolicyTable:
            stored = {key: (value, actions) for key, value, actions in entries}
            return cls(
                game=header.game, plan=header.plan, seat=header.seat, entries=stored, tolerance=header.tolerance
            )

        kind = (_FORMAT, _VERSION)
        return read_policy(path, kind, _Header, _Entry, read, "`zermelo solve ENV --policy FILE`")


def game_identity(game: Game[Any]) -> str:
    """Which game it is, the same in every process: rules with all their parameters, else the game's name."""
    return repr(game.rules) if isinstance(game, RulesGame) else game.traits.name


def stable_key(game: Game[Any], state: Any) -> str:
    """A key of a state, the same in every process.

    Raises:
        UnsupportedGameError: The game's own key holds something that has no text of its own.
    """
    if isinstance(game, RulesGame):
        return ",".join(str(int(value)) for value in state)
    digest = hashlib.sha256()
    digest.update(key_text(game, game.key(state)).encode())
    return digest.hexdigest()[:32]


def key_text(game: Game[Any], key: Hashable) -> str:
    """A key as text: equal for equal keys, whatever the process."""
    if isinstance(key, enum.Enum):
        return f"{type(key).__qualname__}.{key.name}"
    if key is None or isinstance(key, bool | int | float | str | bytes):
        return f"{type(key).__name__} {key!r}"
    if isinstance(key, tuple):
        return f"({', '.join(key_text(game, part) for part in key)})"
    if isinstance(key, frozenset):
        return f"{{{', '.join(sorted(key_text(game, part) for part in key))}}}"
    if isinstance(key, type):
        return f"{key.__module__}.{key.__qualname__}"
    if type(key).__module__ == "numpy" and hasattr(key, "item"):
        return f"{type(key).__name__} {key.item()!r}"
    raise UnsupportedGameError(
        f"no policy can be written for {game.traits.name}: the key of a state holds a {type(key).__qualname__}, "
        "which is not the same in every process"
    )
