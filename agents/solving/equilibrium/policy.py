"""Policies that mix: for each information state how likely each action is, kept in a file and read back.

A policy file is text, one JSON value a line, and compressed by gzip if its name ends in ``.gz``. The first line is
an object: ``format`` is ``"zermelo tabular policy"``, ``version`` is 1, ``game`` says which game it is, ``values``
what each player gets when all play by it, ``exploitability`` what a player could gain on average, or null where
that is not known, ``states`` the number of lines that follow. Each of those is ``[seat, key, {action:
probability}]``; the key is the information state as text.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

from zermelo.agents.solving.equilibrium.sequence_form import Floats, SequenceForm
from zermelo.agents.solving.policy_file import read_policy, write_policy
from zermelo.agents.solving.policy_table import game_identity, key_text
from zermelo.envs import Game, InvalidSettingError

_FORMAT: Final = "zermelo tabular policy"
_VERSION: Final = 1


class _Header(msgspec.Struct):
    game: str
    values: tuple[float, ...]
    exploitability: float | None


_Entry: TypeAlias = tuple[int, str, dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class TabularPolicy:
    """How likely each action is at each information state; uniform at those that are not listed.

    Attributes:
        game: Which game it is, as ``policy_table.game_identity`` says.
        entries: By seat and information state (as text), the probability of each action.
        values: What each player gets when all play by it; empty where that is not known.
        exploitability: What a player could gain if it knew the others' policies, on average; None if not known.
    """

    game: str
    entries: Mapping[tuple[int, str], Mapping[int, float]] = field(repr=False)
    values: tuple[float, ...] = ()
    exploitability: float | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry: object) -> bool:
        return entry in self.entries

    def check_game(self, game: Game[Any]) -> None:
        """Refuses another game than its own.

        Raises:
            InvalidSettingError: It is another one.
        """
        if game_identity(game) != self.game:
            raise InvalidSettingError(
                f"the policy is for {self.game}, not for {game_identity(game)}: learn one for this game"
            )

    def probabilities(self, game: Any, state: Any) -> Mapping[int, float]:
        """How likely each legal action of the player to move is."""
        seat = game.to_move(state)
        found = self.entries.get((seat, information_text(game, game.information_state_key(state, seat))))
        if found is None:
            actions = game.legal_actions(state)
            return dict.fromkeys(actions, 1 / len(actions))
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, in place of one that is there.

        Raises:
            InvalidSettingError: It cannot be written.
        """
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "game": self.game,
            "values": list(self.values),
            "exploitability": self.exploitability,
            "states": len(self),
        }
        entries = (
            [seat, key, {str(action): share for action, share in actions.items()}]
            for (seat, key), actions in self.entries.items()
        )
        write_policy(path, header, entries)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TabularPolicy:
        """Reads a file.

        Raises:
            InvalidSettingError: There is none, or it is no policy file of a version that can be read.
        """

        def read(header: _Header, entries: Iterable[_Entry]) -> TabularPolicy:
            mixed = {(seat, key): _mixed(actions) for seat, key, actions in entries}
            return cls(game=header.game, entries=mixed, values=header.values, exploitability=header.exploitability)

        return read_policy(
            path,
            (_FORMAT, _VERSION),
            _Header,
            _Entry,
            read,
            "TabularPolicy.save, or `zermelo solve ENV --policy FILE` of a game of hidden information,",
        )


def _mixed(actions: Mapping[str, float]) -> dict[int, float]:
    mixed = {int(action): probability for action, probability in actions.items()}
    if not mixed or min(mixed.values()) < 0 or not math.isclose(math.fsum(mixed.values()), 1, abs_tol=1e-6):
        raise ValueError(f"{mixed} are no probabilities")
    return mixed


def information_text(game: Game[Any], key: Hashable) -> str:
    """An information state's key as text, the same in every process."""
    if isinstance(key, str):
        return key
    if isinstance(key, tuple) and all(type(part) is int for part in key):
        return ",".join(map(str, key))
    return key_text(game, key)


def policy_of(form: SequenceForm, behaviours: Sequence[Floats], **known: Any) -> TabularPolicy:
    """The policy of behaviours, for each player the probability of each sequence's action. S - 1 each.

    Args:
        form: The game.
        behaviours: The probabilities.
        known: What is known of it: ``values`` and ``exploitability``.
    """
    entries: dict[tuple[int, str], dict[int, float]] = {}
    for number, (seat, behaviour) in enumerate(zip(form.seats, behaviours, strict=True)):
        shares, actions = behaviour.tolist(), seat.actions.tolist()
        ends = [*seat.starts[1:].tolist(), len(shares)]
        for key, start, end in zip(seat.keys, seat.starts.tolist(), ends, strict=True):
            mixed = dict(zip(actions[start:end], shares[start:end], strict=True))
            entries[number, information_text(form.game, key)] = mixed
    return TabularPolicy(game=game_identity(form.game), entries=entries, **known)
