"""Openings as people give them: files (PGN, SGF, FEN, EPD, lines of moves), books, lists, or a number of plies."""

from __future__ import annotations

import ast
import codecs
import contextlib
import functools
import gzip
import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import IO, Any, Final, NamedTuple

from zermelo.agents.base.settings import check_whole
from zermelo.agents.knowledge.books import book_lines
from zermelo.envs import games
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import IllegalActionError, InvalidSettingError
from zermelo.envs.live.wrappers import innermost
from zermelo.envs.registration.make import make
from zermelo.envs.rules.env import RulesEnv
from zermelo.envs.support.files import read_file
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.match.sources import EnvSource, env_name
from zermelo.evaluation.match.text import plain, printable, shown
from zermelo.evaluation.positions.lines import LineReader
from zermelo.evaluation.positions.moves import game_or_none, play_moves
from zermelo.evaluation.positions.pgn import pgn_games
from zermelo.evaluation.positions.sgf import sgf_games
from zermelo.evaluation.schedule import derived_seed
from zermelo.evaluation.tournament.openings import (
    Opening,
    Openings,
    RunOpenings,
    random_openings,
    refusal_of,
    spec_at,
    text_of,
)

CHECKED: Final = 200
"""So many openings of a file are played through before the first game, however few games there are."""
LARGEST: Final = 2**26
"""Bytes of a file, and of what a compressed one holds."""
LONGEST_LINE: Final = 2**13
"""Characters of a line that is an opening."""

_BOOK: Final = "book:"
_BOOK_PLIES: Final = 8
_PGN: Final = re.compile(r"^\s*+\[\w+\s+\"", re.MULTILINE)
_SGF: Final = re.compile(r"^\s*+\(\s*;", re.MULTILINE)
_BEGINNING: Final = 2**12  # characters in which a tag or a tree says what kind of file it is
_POSITION: Final = re.compile(r"(?:[^\s/]+/){3,}[^\s/]+\s+[a-z]\b")
_FEN: Final = re.compile(r"([^\s;]+\s+[^\s;]+(?:\s+[^\s;]+\s+[^\s;]+(?:\s+\d+\s+\d+(?![^\s;]))?)?)\s*(.*)")
_OPERATION: Final = re.compile(r"(\w++)((?:\s(?:[^\";]|\"[^\"]*\")*+)?);\s*+")
"""What follows a position in EPD, such as ``bm e4;``."""
_LEFT_OUT: Final = re.compile(r"\{[^}]*\}|\$\d+|(?<!\S)(?:1-0|0-1|1/2-1/2|\*)(?!\S)")
"""Comments, signs and results in a line of moves."""


class WrittenOpening(NamedTuple):
    """An opening before its moves are played."""

    where: str  # for messages, such as ``line 3 of openings.txt``
    moves: tuple[Any, ...] | str  # actions, or moves as people write them
    fen: str = ""  # of chess, before the moves; empty for the start of the environment's game
    setup: int = 0  # the first so many of the actions set up stones and are no plies


_NONE: Final = RunOpenings()


def require_openings(wanted: Openings | None, stored: RunOpenings = _NONE) -> None:
    """Refuses a file of openings that cannot be read, unless the run that goes on has them."""
    if not isinstance(wanted, str | os.PathLike) or os.fspath(wanted).startswith(_BOOK):
        return
    if not stored.openings or Path(wanted).exists():
        opening_text(wanted)


def openings_for(
    wanted: Openings | None,
    source: EnvSource,
    env: Any,
    *,
    count: int,
    seed: int,
    plies: int | None = None,
    stored: RunOpenings = _NONE,
) -> RunOpenings:
    """The openings of a tournament, each different and seen to be legal; none for None or 0.

    Args:
        wanted: What was asked for.
        source: What makes the environment.
        env: One that it has made; it is reset.
        count: How many are needed, at most.
        seed: Of the tournament.
        plies: The first so many plies of each opening of a file, a book or a list.
        stored: Those of the run that goes on, which stand in for a file that is gone.
    """
    if plies is not None:
        check_whole("opening plies", plies, lower=1)
    if wanted is None:
        return _NONE
    if not isinstance(wanted, int):
        return _written_openings(wanted, source, env, count=count, seed=seed, plies=plies, stored=stored)
    check_whole("opening plies", wanted)
    if plies is not None:
        raise InvalidSettingError(f"give a number of random plies ({wanted}) or opening_plies ({plies}), not both")
    lines = random_openings(env, plies=wanted, count=count, seed=seed) if wanted else ()
    return RunOpenings(tuple(map(Opening, lines)))


def _written_openings(
    wanted: str | os.PathLike[str] | Sequence[Sequence[Any] | str],
    source: EnvSource,
    env: Any,
    *,
    count: int,
    seed: int,
    plies: int | None,
    stored: RunOpenings,
) -> RunOpenings:
    where = "in openings"
    if isinstance(wanted, str | os.PathLike):
        name = os.fspath(wanted)
        where = f"in {name}"
        if name.startswith(_BOOK):
            path = name.removeprefix(_BOOK)
            written = _listed(_from_book(path, env, count=count, seed=seed, plies=plies or _BOOK_PLIES), where)
        elif stored.openings and not Path(name).exists():
            if count > len(stored.openings) and not stored.are_all:
                raise InvalidSettingError(
                    f"{name} is gone, and the run has {len(stored.openings)} of its openings, where {count} may "
                    "be needed: put it back, or ask for no more games"
                )
            lines = enumerate(stored.openings, start=1)
            written = (WrittenOpening(f"opening {number} of the run", *opening) for number, opening in lines)
            plies = None
        else:
            drive_env(env, seed).turn()  # its game can be asked for from now on
            written = read_openings(name, functools.partial(_rules_of, env), plies)
    elif isinstance(wanted, Iterable):
        written = _listed(wanted, where)
    else:
        raise InvalidSettingError(f"openings are a number of plies, a file or a list, not {shown(wanted, 40)}")
    openings = dict[Opening, None]()
    for number, one in enumerate(written, start=1):
        openings[_checked(one, source, env, derived_seed(seed, "opening", number), plies)] = None
        if number >= CHECKED and len(openings) >= count:
            return RunOpenings(tuple(openings)[:count], are_all=False)
    if not openings:
        raise InvalidSettingError(f"there is no opening {where}: give at least one, such as 3,2")
    return RunOpenings(tuple(openings)[:count], len(openings) <= count)


def _listed(openings: Iterable[Any], where: str) -> Iterator[WrittenOpening]:
    for number, opening in enumerate(openings, start=1):
        if not isinstance(opening, Iterable):
            raise InvalidSettingError(
                f"opening {number} {where} is a list of actions or a line of moves, not {shown(opening, 40)}"
            )
        moves = opening if isinstance(opening, str) else tuple(map(plain, opening))
        yield WrittenOpening(f"opening {number} {where}", moves)


def _from_book(path: str, env: Any, *, count: int, seed: int, plies: int) -> Iterator[tuple[Any, ...]]:
    drive_env(env, seed).turn()
    game = as_game(env)
    start = game.snapshot(env)
    for line in book_lines(path, game, start, count=count, plies=plies, seed=seed):
        state, actions = start, []
        for action in line:
            actions.append(game.to_env_action(state, action))
            state = game.result(state, action)
        yield tuple(actions)


def _rules_of(env: Any) -> Any:
    return getattr(game_or_none(env), "rules", None)


def _checked(written: WrittenOpening, source: EnvSource, env: Any, seed: int, plies: int | None) -> Opening:
    """The opening, played to see that it is legal and leaves something to play."""
    fen = _start(written, source, env)
    driver = drive_env(make(spec_at(source, fen)) if fen else env, seed)
    if isinstance(written.moves, str):
        try:
            actions = tuple(map(plain, play_moves(driver, written.moves, written.where, plies)))
        except IllegalActionError as error:
            raise InvalidSettingError(str(error)) from None
    else:
        actions = written.moves[: None if plies is None else plies + written.setup]
        if (refusal := refusal_of(driver, actions)) is not None:
            raise InvalidSettingError(f"{written.where}, {text_of(actions)}, {refusal}")
    if driver.turn() is None and not actions:
        raise InvalidSettingError(
            f"{written.where} leaves nothing to play, as the game is over in this position: leave it out"
        )
    if driver.turn() is None:
        raise InvalidSettingError(
            f"{written.where} leaves nothing to play, as the game is over after {len(actions)} plies: take "
            "fewer with --opening-plies (opening_plies=)"
        )
    return Opening(actions, fen)


def _start(written: WrittenOpening, source: EnvSource, env: Any) -> str:
    """The position that an opening begins at, in FEN; nothing where the environment's game begins there."""
    if not written.fen:
        return ""
    try:
        fen = games.Chess(written.fen).fen
    except InvalidSettingError as error:
        raise InvalidSettingError(f"{written.where} has no position that can be played: {error}") from None
    if fen.split()[:4] == _rules_of(env).fen.split()[:4]:
        return ""
    if not isinstance(source, str) or not isinstance(innermost(env), RulesEnv):
        raise InvalidSettingError(
            f"{written.where} begins at {fen}, and {env_name(source)} cannot be set to a position: play in "
            "zermelo/Chess-v0, which can"
        )
    return fen


def read_openings(
    path: str | os.PathLike[str], rules: Callable[[], Any], plies: int | None = None
) -> Iterator[WrittenOpening]:
    """The openings of a file, in its order.

    The file is in PGN or SGF if its name or its beginning says so. Else it has one opening a line: a
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
    if not text:
        raise InvalidSettingError(f"the file {name!r} is empty: give at least one opening")
    if suffix == ".pgn" or (suffix != ".sgf" and _PGN.search(text, 0, _BEGINNING)):
        _require(rules(), games.Chess, f"{name} is in PGN, which is for chess")
        openings: Iterator[WrittenOpening] = _from_pgn(text, name, plies)
    elif suffix == ".sgf" or _SGF.search(text, 0, _BEGINNING):
        go = _require(rules(), games.Go, f"{name} is in SGF, which is for Go")
        openings = _from_sgf(text, name, go.size)
    else:
        openings = _from_lines(text, name, rules)
    try:
        yield from openings
    except StoreError as error:
        raise InvalidSettingError(f"cannot read the openings in {name}: {error}") from None


def _require(rules: Any, wanted: type, what: str) -> Any:
    if not isinstance(rules, wanted):
        examples: dict[type, str] = {
            games.Chess: "a PGN, or moves, such as e4 e5",
            games.Go: "an SGF, or moves, such as C3 D4",
        }
        instead = examples.get(type(rules), "actions, such as 3,2,4")
        raise InvalidSettingError(f"{what}, and the environment plays another game: give {instead}")
    return rules


# -- what a file holds


def opening_text(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The text of a file of openings, with plain line feeds, and the suffix of its name.

    Raises:
        InvalidSettingError: It cannot be read.
    """
    try:
        content, name = _unpacked(path)
        text = _decoded(content)
        del content  # the file may be large, and copies of the text follow
    except FileNotFoundError:
        raise InvalidSettingError(f"cannot read the openings: there is no file {os.fspath(path)!r}") from None
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or printable(str(error))
        raise InvalidSettingError(f"cannot read the openings in {os.fspath(path)}: {reason}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n"), PurePath(name).suffix.lower()


def _unpacked(path: str | os.PathLike[str]) -> tuple[bytes, str]:
    """The bytes of a file, and its name without the suffix of a compressed one."""
    content, name = read_file(path, LARGEST), os.fspath(path)
    if content.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return _limited(file), name.removesuffix(".gz")
    return _zipped(content) if content.startswith(b"PK\x03\x04") else (content, name)


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
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_utf16 else ("utf-8-sig", "latin-1"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise ValueError("it is no text")


# -- the openings of each form


def _from_pgn(text: str, name: str, plies: int | None) -> Iterator[WrittenOpening]:
    for game in pgn_games(text, plies):
        where = f"the game at line {game.line} of {name}"
        if not game.moves and game.fen == games.Chess().fen:
            raise InvalidSettingError(f"{where} has no moves: leave it out")
        yield WrittenOpening(where, " ".join(game.moves), game.fen)


def _from_sgf(text: str, name: str, size: int) -> Iterator[WrittenOpening]:
    for game in sgf_games(text, size):
        where = f"the game at line {game.line} of {name}"
        if not game.setup and not game.moves:
            raise InvalidSettingError(f"{where} has no moves: leave it out")
        yield WrittenOpening(where, game.setup + game.moves, setup=len(game.setup))


def _from_lines(text: str, name: str, rules: Callable[[], Any]) -> Iterator[WrittenOpening]:
    lines = LineReader(text, LONGEST_LINE)
    for line in lines:
        if not (line := line.strip()) or line.startswith("#"):
            continue
        where = f"line {lines.number} of {name}"
        if _POSITION.match(line):
            _require(rules(), games.Chess, f"{where} is a position of chess")
            yield WrittenOpening(where, (), _position(line, where))
            continue
        moves = _LEFT_OUT.sub(" ", line.partition("#")[0]).strip().strip(",").strip()
        if moves:
            yield WrittenOpening(where, _actions(moves) or moves)


def _position(text: str, where: str) -> str:
    """The position of a line in FEN or EPD, in FEN."""
    match = _FEN.fullmatch(text)
    if match is None:
        raise InvalidSettingError(f"{where} has no position that can be played: a semicolon stands in it")
    fen, rest = match[1], match[2].removeprefix(";")
    counts, place = {"hmvc": "0", "fmvn": "1"}, len(rest) - len(rest.lstrip())
    while (operation := _OPERATION.match(rest, place)) is not None:
        name, value, place = operation[1], operation[2].strip(), operation.end()
        if name in counts:
            if not re.fullmatch(r"\d{1,9}", value):
                raise InvalidSettingError(f"{where} has {name} {shown(value, 40)}, which must be a whole number")
            counts[name] = value
    if place < len(rest) and rest[place] not in ";#" and rest == match[2]:
        raise InvalidSettingError(
            f"{where} has {shown(rest[place:], 40)} after the position: leave it out, or end operations by ;"
        )
    return f"{fen} {counts['hmvc']} {counts['fmvn']}" if len(fen.split()) == 4 else fen


def _actions(text: str) -> tuple[Any, ...] | None:
    """Actions that are written as Python does; None for moves."""
    with contextlib.suppress(ValueError):
        return tuple(map(int, text.split(",")))
    try:
        return tuple(plain(action) for action in ast.literal_eval(f"({text},)"))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, InvalidSettingError):  # of ast
        return None
