"""Policies as tables: for each state, or information state, the probability of each action.

A policy file has a JSON value a line, and is compressed if its name ends in ``.gz``: first the attributes of
``PolicyTable`` with ``format``, ``version``, ``checksum`` and ``states``, the number of lines that follow. Each of
those is ``[key, value, {action: probability}]``, with what the player to move can still get, or null. The key of a
state of rules is its integers, of any other the first 128 bits of the SHA-256 of its game's key, and where players
do not see everything, the seat and the information state.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import hashlib
import math
import os
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Game
from zermelo.envs.rules.fingerprint import RulesFingerprint, fingerprint
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flatten_state
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.data_files import FileKind, ShortText, decoded, open_lines, write_lines

KIND: Final = FileKind("policy", "write it anew with `zermelo solve ENV --policy FILE`, or PolicyTable.save")


class Plan(enum.StrEnum):
    """Which states a policy covers."""

    SEAT = "seat"
    """States in which its owner is to move, and that can come up while the owner plays optimal actions, whatever
    the other does: a contingent plan."""
    FULL = "full"
    """Every state that can be reached at all."""


Entry: TypeAlias = tuple[float | None, Mapping[int, float]]
"""Utility to come for the player to move, or None if not known, and the probability of each action."""


_Line: TypeAlias = tuple[str, float | None, Annotated[dict[str, float], msgspec.Meta(min_length=1)]]


class _PolicyHeader(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["zermelo policy"]
    version: Literal[3]
    states: Annotated[int, msgspec.Meta(ge=0)]
    game: ShortText
    plan: Plan = Plan.FULL
    seat: Annotated[int, msgspec.Meta(ge=0)] | None = None
    is_hidden: bool = False
    tolerance: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    values: tuple[float, ...] = ()
    exploitability: float | None = None
    rules: RulesFingerprint | None = None


@checked_call
@dataclass(frozen=True, kw_only=True)
class PolicyTable:
    """States, or information states, and the probability of each action there.

    Attributes:
        game: Which game it is, as ``game_identity`` says.
        entries: By the state's key.
        plan: Which states it covers.
        seat: The owner, for a plan for one seat.
        is_hidden: Whether keys are those of information states.
        tolerance: How far off the values of entries may be; 0 where they are proven.
        values: Each player's value when all play by it; empty if not known.
        exploitability: A player's gain by a best response, on average; None if not known.
        rules: The fingerprint of the game's rules; None for a game without, or where it is not known.
    """

    game: str
    entries: Mapping[str, Entry] = field(repr=False)
    plan: Plan = Plan.FULL
    seat: int | None = None
    is_hidden: bool = False
    tolerance: float = 0.0
    values: tuple[float, ...] = ()
    exploitability: float | None = None
    rules: RulesFingerprint | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def check_game(self, game: Game[Any]) -> None:
        """Refuses another game than its own."""
        if game_identity(game) != self.game:
            raise InvalidSettingError(
                f"the policy is for {self.game}, not for {game_identity(game)}: make one for this game"
            )
        if difference := self.difference(game):
            raise InvalidSettingError(f"the policy was made {difference}: make one for this game")

    def difference(self, game: Game[Any]) -> str:
        """How a game's rules differ from those that the policy is of; empty if they do not, or it is not known."""
        return self.rules.difference(game.rules) if self.rules and isinstance(game, RulesGame) else ""

    def entry(self, game: Any, state: Any) -> Entry | None:
        if not self.is_hidden:
            return self.entries.get(stable_key(game, state))
        seat = game.to_move(state)
        return self.entries.get(information_key(game, seat, game.information_state_key(state, seat)))

    def probabilities(self, game: Any, state: Any) -> Mapping[int, float]:
        """The probability of each legal action of the player to move; uniform at a state that is not listed."""
        entry = self.entry(game, state)
        if entry is None:
            actions = game.legal_actions(state)
            return dict.fromkeys(actions, 1 / len(actions))
        return entry[1]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, in place of one that is there.

        Raises:
            InvalidSettingError: It cannot be written.
        """
        header = _PolicyHeader(
            **{field: getattr(self, field) for field in _PolicyHeader.__struct_fields__ if hasattr(self, field)},
            format="zermelo policy",
            version=3,
            states=len(self),
        )

        def lines() -> Iterator[bytes]:
            for key, (value, actions) in self.entries.items():
                yield (
                    msgspec.json.encode((key, value, {str(action): share for action, share in actions.items()}))
                    + b"\n"
                )

        try:
            write_lines(path, msgspec.json.encode(header), lines)
        except OSError as error:
            raise InvalidSettingError(
                f"the policy cannot be written to {os.fspath(path)!r} ({error.strerror or error}): name a file in "
                "a folder that is there and can be written"
            ) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PolicyTable:
        """Reads a file.

        Raises:
            InvalidSettingError: There is none, or it is no policy file of a version that can be read.
        """
        with open_lines(path, KIND) as (text, lines):
            header: _PolicyHeader = decoded(text, _PolicyHeader)
            decode, entries = msgspec.json.Decoder(_Line).decode, dict[str, Entry]()
            for count, (key, value, actions) in enumerate(map(decode, lines), 1):
                if count > header.states or key in entries:
                    raise ValueError(f"it has more than {header.states:,} states, or one of them twice")
                entries[key] = value, _checked(actions)
            if len(entries) != header.states:
                raise ValueError(f"it has {len(entries):,} states of {header.states:,}")
            names = (field.name for field in dataclasses.fields(cls) if field.name != "entries")
            return cls(**{name: getattr(header, name) for name in names}, entries=entries)


def _checked(actions: Mapping[str, float]) -> dict[int, float]:
    mixed = {int(action): probability for action, probability in actions.items()}
    if min(mixed) < 0 or min(mixed.values()) < 0 or not math.isclose(math.fsum(mixed.values()), 1, abs_tol=1e-6):
        raise ValueError(f"{mixed} are no probabilities of actions")
    return mixed


def game_identity(game: Game[Any]) -> str:
    """Which game it is, the same in every process: rules with all their parameters, else the game's name."""
    return repr(game.rules) if isinstance(game, RulesGame) else game.traits.name


def rules_of(game: Game[Any]) -> RulesFingerprint | None:
    """The fingerprint of a game's rules; None where it has none that could be compared."""
    with contextlib.suppress(InvalidSettingError):
        return fingerprint(game.rules) if isinstance(game, RulesGame) else None
    return None


def stable_key(game: Game[Any], state: Any) -> str:
    """A key of a state, the same in every process."""
    if isinstance(game, RulesGame):
        return ",".join(map(str, flatten_state(state)))
    return hashlib.sha256(_key_text(game, game.key(state)).encode()).hexdigest()[:32]


def information_key(game: Game[Any], seat: int, key: Hashable) -> str:
    """A key of an information state, the same in every process."""
    if isinstance(key, tuple) and all(type(part) is int for part in key):
        key = ",".join(map(str, key))
    return f"{seat} {key if isinstance(key, str) else _key_text(game, key)}"


def _key_text(game: Game[Any], key: Hashable) -> str:
    """A key as text: equal for equal keys, whatever the process."""
    if isinstance(key, enum.Enum):
        return f"{type(key).__qualname__}.{key.name}"
    if key is None or isinstance(key, bool | int | float | str | bytes):
        return f"{type(key).__name__} {key!r}"
    if isinstance(key, tuple):
        return f"({', '.join(_key_text(game, part) for part in key)})"
    if isinstance(key, frozenset):
        return f"{{{', '.join(sorted(_key_text(game, part) for part in key))}}}"
    if isinstance(key, type):
        return f"{key.__module__}.{key.__qualname__}"
    if type(key).__module__ == "numpy" and hasattr(key, "item"):
        return f"{type(key).__name__} {key.item()!r}"
    raise UnsupportedGameError(
        f"no policy can be written for {game.traits.name}: the key of a state holds a {type(key).__qualname__}, "
        "which is not the same in every process"
    )
