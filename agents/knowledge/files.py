"""Files of knowledge about one game: arrays, and a header with a fingerprint of the game's rules."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules.fingerprint import RulesFingerprint, code_digest, fingerprint, plain_rules
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.array_files import Arrays, Form, read_arrays, write_arrays
from zermelo.envs.support.data_files import FileKind, ShortText, in_a_sentence
from zermelo.envs.support.files import file_version

_VERSION: Final = 3
_CHUNK: Final = 1 << 20

Shapes = Mapping[str, tuple[int, ...]]


class KnowledgeHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a file: its game, the fingerprint of its rules, and where it comes from."""

    game: ShortText
    rules: RulesFingerprint
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

    def write(
        self,
        path: str | os.PathLike[str],
        rules: Any,
        about: dict[str, Any],
        *,
        is_portable: bool = False,
        **arrays: Any,
    ) -> None:
        """Writes a file as a whole or not at all; ``about`` are the fields that only this kind's header has.

        With ``is_portable`` the sources of the rules count in all versions of Python, not their code in one.
        """
        from importlib.metadata import version

        own = fingerprint(rules)
        if is_portable and not own.sources:
            raise InvalidSettingError(f"{type(rules).__name__} has no sources at hand: write it for this Python")
        header = {
            "game": name_of(rules),
            "rules": RulesFingerprint("", "", own.sources) if is_portable else own,
            "made_by": f"zermelo {version('zermelo')}",
            "made_at": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
            **about,
        }
        write_arrays(path, self.kind, _VERSION, header, arrays)

    def read(self, path: str | os.PathLike[str], game: Any = None) -> Content:
        """The content of a file, read once as long as it is the same; refuses another game than a given one."""
        if game is None:
            key = _RulesKey("", None)
        elif isinstance(game, RulesGame):
            key = _RulesKey(code_digest(game.rules), game.rules)
        else:
            raise InvalidSettingError(
                f"{os.fspath(path)!r} is given as an {self.kind.name}, which is for games of rules, but "
                f"{game.traits.name} has no rules here: leave it out"
            )
        content: Content = _read(self, os.fspath(path), key, *file_version(path))
        return content


@dataclass(frozen=True)
class _RulesKey:
    """Rules, the same where their digests are; as tuples those of two games may be equal."""

    digest: str
    rules: Any = field(compare=False)


@functools.lru_cache(maxsize=16)  # by the kind, name and version of the file, and all that decides the rules
def _read(file: KnowledgeFile[Any, Any], path: str, key: _RulesKey, *_version: int) -> Any:
    rules = key.rules

    def check(about: KnowledgeHeader, shapes: Shapes) -> None:
        if rules is not None:
            _require_rules(path, about, rules, file.kind)
        file.check_shapes(about, shapes, rules)

    about, arrays = read_arrays(path, file.kind, _VERSION, file.header, file.forms, check)
    with in_a_sentence(path, file.kind):
        return file.content(path, about, arrays, rules)


def _require_rules(path: str, about: KnowledgeHeader, rules: Any, kind: FileKind) -> None:
    if about.game != name_of(rules):
        raise InvalidSettingError(
            f"{path!r} is for {about.game}, not for {name_of(rules)}: give a file of this game"
        )
    if difference := about.rules.difference(rules):
        raise InvalidSettingError(f"{path!r} was made {difference}: {kind.remedy}")


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


def name_of(rules: Any) -> str:
    """The game of a file: its name, with the parameters that count."""
    return RulesGame(plain_rules(rules)).traits.name
