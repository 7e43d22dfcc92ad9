"""Files of knowledge about one game, such as endgame tables and opening books: data, never code.

A file has arrays (``zermelo.envs.support.array_files``) and a header that says which game they are of, what its
rules did in some games (their fingerprint), and where the file comes from.
"""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from zermelo.envs import InvalidSettingError
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat
from zermelo.envs.support.array_files import Arrays, Form, read_arrays, write_arrays
from zermelo.envs.support.data_files import FileKind, ShortText

_VERSION: Final = 2
_GAMES, _PLIES, _NUMBERS = 12, 80, 16
_CHUNK: Final = 1 << 20

Shapes = Mapping[str, tuple[int, ...]]


class KnowledgeHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a file: its game, a hash of what the rules do, and where it comes from."""

    game: ShortText
    fingerprint: ShortText
    made_by: ShortText = ""
    made_at: ShortText = ""


Header = TypeVar("Header", bound=KnowledgeHeader)


def write_knowledge(
    path: str | os.PathLike[str], kind: FileKind, rules: Any, about: dict[str, Any], **arrays: Any
) -> None:
    """Writes a file of a kind as a whole or not at all."""
    from importlib.metadata import version

    header = {
        "game": name_of(rules),
        "fingerprint": fingerprint(rules),
        "made_by": f"zermelo {version('zermelo')}",
        "made_at": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        **about,
    }
    write_arrays(path, kind, _VERSION, header, arrays)


def read_knowledge(
    path: str | os.PathLike[str],
    kind: FileKind,
    header: type[Header],
    forms: Mapping[str, Form],
    rules: Any,
    check: Callable[[Header, Shapes], None],
) -> tuple[Header, Arrays]:
    """The header and the arrays of a file, which is refused if it was made for other rules than ``rules``, if any.

    Raises:
        InvalidSettingError: There is no such file, it is none of this kind, damaged, or of another game.
    """

    def check_all(about: Header, shapes: Shapes) -> None:
        if rules is not None:
            _require_rules(path, about, rules)
        check(about, shapes)

    return read_arrays(path, kind, _VERSION, header, forms, check_all)


def rules_for(path: str | os.PathLike[str], kind: FileKind, game: Any) -> Any:
    """The rules of a game that a file is asked for.

    Raises:
        InvalidSettingError: It has none.
    """
    if not isinstance(game, RulesGame):
        raise InvalidSettingError(
            f"{os.fspath(path)!r} is given as an {kind.name}, which is for games of rules, but "
            f"{game.traits.name} has no rules here: leave it out"
        )
    return game.rules


def _require_rules(path: str | os.PathLike[str], about: KnowledgeHeader, rules: Any) -> None:
    if about.game != name_of(rules):
        raise InvalidSettingError(
            f"{os.fspath(path)!r} is for {about.game}, not for {name_of(rules)}: give a file of this game"
        )
    if about.fingerprint != fingerprint(rules):
        raise InvalidSettingError(
            f"{os.fspath(path)!r} was made when the rules of {about.game} were others: make it again"
        )


def check_ascending(keys: NDArray[np.int64]) -> None:
    """Refuses keys of which one is not greater than the one before."""
    for start in range(0, len(keys), _CHUNK):
        part = keys[start : start + _CHUNK + 1]
        if not (part[1:] > part[:-1]).all():
            raise ValueError("its keys are not ascending")


def chunks(*arrays: NDArray[Any]) -> Any:
    """Arrays of one length, part after part, so that what is computed of them takes little memory."""
    for start in range(0, len(arrays[0]), _CHUNK):
        yield tuple(array[start : start + _CHUNK] for array in arrays)


def plain_rules(rules: Any) -> Any:
    """The rules with what no knowledge depends on, such as the position that a game starts from, as by default."""
    return rules.table_rules() if hasattr(rules, "table_rules") else rules


def name_of(rules: Any) -> str:
    """The game of a file: its name, with the parameters that count."""
    return RulesGame(plain_rules(rules)).traits.name


def fingerprint(rules: Any) -> str:
    """A hash of what rules do in a few games, and of how their tables are numbered."""
    return _fingerprint(plain_rules(rules))


@functools.lru_cache(maxsize=64)
def _fingerprint(rules: Any) -> str:
    game = RulesGame(rules).for_search
    digest = hashlib.sha256()
    random = np.random.default_rng(0)
    for _ in range(_GAMES):
        state = game.initial_state()
        for _ in range(_PLIES):
            if game.is_terminal(state):
                digest.update(repr(game.utility(state)).encode())
                break
            legal = list(game.legal_actions(state))
            digest.update(repr((game.to_move(state), legal)).encode())
            state = game.result(state, legal[int(random.integers(len(legal)))])
    if hasattr(rules, "table_index"):
        for part in (each for group in rules.table_parts("3") for each in group):
            for index in range(0, rules.table_size(part), rules.table_size(part) // _NUMBERS + 1):
                digest.update(repr(flat(rules.table_state(part, index))).encode())
    return digest.hexdigest()[:16]
