"""Files of knowledge about one game: arrays, and a header with a fingerprint of what the game's rules do."""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat
from zermelo.envs.support.array_files import Arrays, Form, read_arrays, write_arrays
from zermelo.envs.support.data_files import FileKind, ShortText, in_a_sentence
from zermelo.envs.support.files import file_version

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
Content = TypeVar("Content")


@dataclass(frozen=True, eq=False)
class KnowledgeFile(Generic[Header, Content]):
    """How files of a kind are written, read and checked.

    ``check_shapes`` is given header, shapes and the rules, if any, before the arrays are read; ``content`` makes
    the content of path, header, arrays and rules. Both raise ``ValueError`` of what no such file has.
    """

    kind: FileKind
    header: type[Header]
    forms: Mapping[str, Form]
    check_shapes: Callable[[Header, Shapes, Any], None]
    content: Callable[[str, Header, Arrays, Any], Content]

    def write(self, path: str | os.PathLike[str], rules: Any, about: dict[str, Any], **arrays: Any) -> None:
        """Writes a file as a whole or not at all; ``about`` are the fields that only this kind's header has."""
        from importlib.metadata import version

        header = {
            "game": name_of(rules),
            "fingerprint": fingerprint(rules),
            "made_by": f"zermelo {version('zermelo')}",
            "made_at": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
            **about,
        }
        write_arrays(path, self.kind, _VERSION, header, arrays)

    def read(self, path: str | os.PathLike[str], game: Any = None) -> Content:
        """The content of a file, read once as long as it is the same; refuses another game than a given one."""
        rules = None
        if game is not None:
            if not isinstance(game, RulesGame):
                raise InvalidSettingError(
                    f"{os.fspath(path)!r} is given as an {self.kind.name}, which is for games of rules, but "
                    f"{game.traits.name} has no rules here: leave it out"
                )
            rules = game.rules
        content: Content = _read(self, os.fspath(path), rules, *file_version(path))
        return content


@functools.lru_cache(maxsize=16)
def _read(file: KnowledgeFile[Any, Any], path: str, rules: Any, changed: int, size: int) -> Any:
    def check(about: KnowledgeHeader, shapes: Shapes) -> None:
        if rules is not None:
            _require_rules(path, about, rules)
        file.check_shapes(about, shapes, rules)

    about, arrays = read_arrays(path, file.kind, _VERSION, file.header, file.forms, check)
    with in_a_sentence(path, file.kind):
        return file.content(path, about, arrays, rules)


def _require_rules(path: str, about: KnowledgeHeader, rules: Any) -> None:
    if about.game != name_of(rules):
        raise InvalidSettingError(
            f"{path!r} is for {about.game}, not for {name_of(rules)}: give a file of this game"
        )
    if about.fingerprint != fingerprint(rules):
        raise InvalidSettingError(f"{path!r} was made when the rules of {about.game} were others: make it again")


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
