"""Files of openings, as people have them: PGN, SGF, positions (FEN, EPD), and lines of moves or actions."""

from __future__ import annotations

import ast
import codecs
import gzip
import io
import itertools
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import IO, Any, Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Chess, Go
from zermelo.envs.support.files import read_file
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.text import plain, printable, shown
from zermelo.evaluation.positions.pgn import pgn_games
from zermelo.evaluation.positions.sgf import sgf_games

LARGEST: Final = 2**26
"""Bytes of a file, and of what a compressed one holds."""

_PGN: Final = re.compile(r"\s*\[\w+\s+\"")
_SGF: Final = re.compile(r"\s*\(\s*;")
_POSITION: Final = re.compile(r"(?:[^\s/]+/){3,}[^\s/]+\s+[a-z]\b")
_FEN: Final = re.compile(r"(\S+\s+\S+(?:\s+\S+\s+\S+(?:\s+\d+\s+\d+)?)?)\s*(.*)")
_OPERATIONS: Final = re.compile(r"(?:\w+(?:\s+(?:\"[^\"]*\"|[^\";]+))*\s*;\s*)*(?:[;#].*)?")
"""What follows a position in EPD: operations such as ``bm e4;``, or a comment."""
_LEFT_OUT: Final = re.compile(r"\{[^}]*\}|\$\d+|(?<!\S)(?:1-0|0-1|1/2-1/2|\*)(?!\S)")
"""Comments, signs and results in a line of moves."""


class WrittenOpening(NamedTuple):
    """An opening before its moves are played.

    Attributes:
        where: For messages, such as ``line 3 of openings.txt``.
        moves: Actions, or moves as people write them.
        fen: The position of chess before them; empty for the start of the environment's game.
        setup: The first so many of the actions set up stones and are no plies.
    """

    where: str
    moves: tuple[Any, ...] | str
    fen: str = ""
    setup: int = 0


def read_openings(
    path: str | os.PathLike[str], rules: Callable[[], Any], plies: int | None = None
) -> Iterator[WrittenOpening]:
    """The openings of a file, in its order.

    The file is in PGN or SGF if its name or its first characters say so. Else it has one opening a line: a
    position in FEN or EPD, or moves, separated by commas or spaces, as people write them or by number; what
    follows # does not count. It may be compressed (.gz, or .zip with one file in it).

    Args:
        path: The file.
        rules: Gives the rules of the environment's game, asked for where the form needs them.
        plies: How many are needed of each opening, where moves after that need not be right.

    Raises:
        InvalidSettingError: It cannot be read, or is for another game.
    """
    name = os.fspath(path)
    text, suffix = opening_text(path)
    content = text.lstrip()
    if suffix == ".pgn" or _PGN.match(content):
        _require(rules(), Chess, f"{name} is in PGN, which is for chess")
        games: Iterator[WrittenOpening] = _from_pgn(text, name, plies)
    elif suffix == ".sgf" or _SGF.match(content):
        go = _require(rules(), Go, f"{name} is in SGF, which is for Go")
        games = _from_sgf(text, name, go.size)
    else:
        games = _from_lines(text, name, rules)
    try:
        yield from games
    except StoreError as error:
        raise InvalidSettingError(f"cannot read the openings in {name}: {error}") from None


def _require(rules: Any, wanted: type, what: str) -> Any:
    if not isinstance(rules, wanted):
        raise InvalidSettingError(f"{what}, and the environment plays another game: give actions, such as 3,2,4")
    return rules


# -- what a file holds


def opening_text(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The text of a file of openings, with plain line feeds, and the suffix of its name.

    Raises:
        InvalidSettingError: It cannot be read.
    """
    try:
        content = read_file(path, LARGEST)
        name = os.fspath(path)
        if content.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                content = _limited(file)
            name = name.removesuffix(".gz")
        elif content.startswith(b"PK\x03\x04"):
            content, name = _zipped(content)
        text = _decoded(content)
    except (
        OSError,
        EOFError,
        zlib.error,
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or printable(str(error))
        raise InvalidSettingError(f"cannot read the openings in {os.fspath(path)}: {reason}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n"), PurePath(name).suffix.lower()


def _limited(file: gzip.GzipFile | IO[bytes]) -> bytes:
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it holds more than {LARGEST:,} bytes; give a part of it")
    return content


def _zipped(content: bytes) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [one.filename for one in archive.infolist() if not one.is_dir() and "__MACOSX" not in one.filename]
        if len(names) != 1:
            raise ValueError(f"it has {len(names)} files in it; give one of them")
        with archive.open(names[0]) as file:
            return _limited(file), names[0]


def _decoded(content: bytes) -> str:
    """UTF-8, UTF-16 with its mark, or Latin-1, which the standard of PGN has."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig", "latin-1"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise ValueError("it is no text")


# -- its openings


def _from_pgn(text: str, name: str, plies: int | None) -> Iterator[WrittenOpening]:
    for game in pgn_games(text, plies):
        where = f"the game at line {game.line} of {name}"
        if not game.moves and game.fen == Chess().fen:
            raise InvalidSettingError(f"{where} has no moves: leave it out")
        yield WrittenOpening(where, " ".join(game.moves), game.fen)


def _from_sgf(text: str, name: str, size: int) -> Iterator[WrittenOpening]:
    for game in sgf_games(text, size):
        where = f"the game at line {game.line} of {name}"
        if not game.setup and not game.moves:
            raise InvalidSettingError(f"{where} has no moves: leave it out")
        yield WrittenOpening(where, game.setup + game.moves, setup=len(game.setup))


def _from_lines(text: str, name: str, rules: Callable[[], Any]) -> Iterator[WrittenOpening]:
    for number, line in zip(itertools.count(1), io.StringIO(text), strict=False):
        where = f"line {number} of {name}"
        if _POSITION.match(line.strip()):
            _require(rules(), Chess, f"{where} is a position of chess")
            yield WrittenOpening(where, (), _position(line.strip(), where))
            continue
        moves = _LEFT_OUT.sub(" ", line.partition("#")[0]).strip().strip(",").strip()
        if moves:
            yield WrittenOpening(where, _actions(moves) or moves)


def _position(text: str, where: str) -> str:
    """The position of a line in FEN or EPD, in FEN."""
    match = _FEN.fullmatch(text)
    assert match is not None, "it has two words"
    fen, rest = match[1], match[2]
    if not _OPERATIONS.fullmatch(rest):
        raise InvalidSettingError(f"{where} has {shown(rest, 40)} after the position: leave it out")
    if len(fen.split()) == 4:
        counts = (re.search(rf"\b{name}\s+(\d+)\s*;", rest) for name in ("hmvc", "fmvn"))
        fen += "".join(f" {count[1] if count else default}" for count, default in zip(counts, "01", strict=True))
    return fen


def _actions(text: str) -> tuple[Any, ...] | None:
    """Actions that are written as Python does; None for moves."""
    try:
        return tuple(plain(action) for action in ast.literal_eval(f"({text},)"))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, InvalidSettingError):  # of ast
        return None
