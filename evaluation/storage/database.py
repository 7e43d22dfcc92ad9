"""The database of a run: its tables, how it is opened and checked, and its rows.

    run       one row: the specification as JSON
    finishes  one row for each line-up and way to end that occurred
    games     one short row a game: all that results are counted from (``zermelo.evaluation.storage.counting``)
    records   one row a game: the whole record, as its line of JSON
    invocations  one row for each command that played games

``game_index`` is the game's index in the schedule. A run without a folder has the same tables in memory. SQLite
keeps the version of the tables (``user_version``) and a mark that says whose file it is (``application_id``).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.evaluation.errors import DamagedError, StoreError
from zermelo.evaluation.match.record import SCHEMA, GameRecord
from zermelo.evaluation.results import Result
from zermelo.evaluation.storage.run_spec import RunSpec

FILE: Final = "games.sqlite"
MARK: Final = 0x5A524D4C  # "ZRML"
VERSION: Final = 4
"""Raised when the tables or the records change."""
_LONGEST: Final = 1e9
"""Seconds that a move counts for at most."""

_OBJECTS: Final = msgspec.json.Decoder(dict[str, Any])
_LISTS: Final = msgspec.json.Decoder(list[Any])
_NAMES: Final = frozenset({"run", "finishes", "games", "records", "invocations"})
TABLES: Final = """
    CREATE TABLE run (spec TEXT NOT NULL);
    CREATE TABLE finishes (
        finish INTEGER PRIMARY KEY,
        agents TEXT NOT NULL,       -- JSON list, by seat
        ranks TEXT NOT NULL,        -- JSON list, by seat, and empty if the game is void
        failure TEXT,
        failed_seat INTEGER
    );
    CREATE TABLE games (
        game_index INTEGER PRIMARY KEY,
        game_id TEXT NOT NULL,
        turn INTEGER NOT NULL,      -- its index within the rotation of the seats
        finish INTEGER NOT NULL REFERENCES finishes,
        returned REAL,              -- of a single player that did not fail
        game_hash INTEGER NOT NULL  -- of the actions and rewards
        {seat_columns}            -- moves, their microseconds, and rewards in millionths, of each seat
    );
    CREATE TABLE records (game_index INTEGER PRIMARY KEY, record TEXT NOT NULL);
    CREATE TABLE invocations (
        number INTEGER PRIMARY KEY,
        started TEXT NOT NULL,      -- ISO 8601, UTC
        seconds REAL NOT NULL,      -- until its last game was kept
        games INTEGER NOT NULL,
        about TEXT NOT NULL         -- JSON: command, machine, versions, notes
    );
"""


def open_writer(path: Path) -> sqlite3.Connection:
    """The database, made if need be, for the one process that writes; without tables if it is new."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10.0)
    try:
        version = _checked_version(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        if version and (problem := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise _damaged(path, problem)
    except BaseException as error:
        db.close()
        if isinstance(error, sqlite3.DatabaseError | UnicodeDecodeError):
            raise translated(error, path) from error
        raise
    return db


def translated(error: Exception, path: Path) -> Exception:
    """A ``StoreError`` if the file is damaged, locked or not to be written, else the error itself."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    kind = code & 0xFF
    if isinstance(error, UnicodeDecodeError) or kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _damaged(path, str(error))
    if code in _LOCKLESS or kind == sqlite3.SQLITE_PROTOCOL:
        return lockless(path, str(error))
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"{path} is locked by another program, such as one that shows databases ({error}): wait until it is "
            "done, or close it, and give the same command again; the games in it are safe"
        )
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return read_only(path, str(error))
    return error


def lockless(path: Path, reason: str) -> StoreError:
    """The error for a file system that cannot lock files."""
    return StoreError(
        f"{path} cannot be locked ({reason}), as on some network folders: work on a local disk, and copy the "
        "folder there or from there"
    )


def read_only(path: Path, reason: str) -> StoreError:
    """The error for a folder or file that this user may not write to."""
    return StoreError(
        f"{path} cannot be opened or written ({reason}): allow yourself to write to {path.parent} and the files "
        "in it, or copy the folder to where you may"
    )


_LOCKLESS: Final = (
    sqlite3.SQLITE_IOERR_LOCK, sqlite3.SQLITE_IOERR_RDLOCK, sqlite3.SQLITE_IOERR_UNLOCK,
    sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK, sqlite3.SQLITE_IOERR_SHMLOCK, sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_SHMOPEN,
)  # fmt: skip
"""Errors of file systems without locks or shared memory."""


def _damaged(path: Path, what: str) -> DamagedError:
    return DamagedError(
        f"{path} is damaged ({' '.join(what.split())}); nothing was changed: put back a copy of it, give the "
        "run's command again, which builds it from games.jsonl where that has all games, or choose another folder"
    )


@contextlib.contextmanager
def open_reader(path: Path) -> Iterator[sqlite3.Connection]:
    """The database for reading, also while a run writes it."""
    try:
        db = _connect_reader(path)
        try:
            if not _checked_version(db, path):
                raise StoreError(f"{path.parent} holds no tournament: {path.name} is empty")
            yield db
        finally:
            db.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        reason = translated(error, path)
        raise reason if isinstance(reason, StoreError) else StoreError(f"cannot read {path}: {error}") from error


def _connect_reader(path: Path) -> sqlite3.Connection:
    if path.exists() and not path.is_file():  # to open a pipe would wait for ever
        raise StoreError(f"{path} is no regular file: choose another folder")
    address = f"{path.absolute().as_uri()}?mode=ro"
    db = sqlite3.connect(address, uri=True, timeout=10.0)
    try:
        db.execute("PRAGMA user_version")
    except BaseException as error:
        db.close()
        code = error.sqlite_errorcode & 0xFF if isinstance(error, sqlite3.OperationalError) else None
        is_unwritable = code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not is_unwritable or path.with_name(path.name + "-wal").exists():
            raise
        # Reading in WAL mode needs to write beside the file; where nobody can, nobody can change it either.
        db = sqlite3.connect(f"{address}&immutable=1", uri=True)
    return db


def _checked_version(db: sqlite3.Connection, path: Path) -> int:
    """The version of the tables, 0 if there are none."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("BEGIN")  # one view of a file that another run may just be creating
    try:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        mark = int(db.execute("PRAGMA application_id").fetchone()[0])
        query = "SELECT type, name, rootpage FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
        things = db.execute(query).fetchall()
    finally:
        db.execute("ROLLBACK")
    if not (version or mark or things):
        return 0
    if mark != MARK:
        raise StoreError(f"{path} is a database of another program: choose another folder")
    if version != VERSION:
        newer, older = ("a newer", "update zermelo"), ("an older", "read it with that one")
        other, remedy = newer if version > VERSION else older
        raise StoreError(
            f"{path} was written by {other} zermelo (store version {version}, this one reads {VERSION}): {remedy} "
            "or choose another folder"
        )
    for kind, name, page in things:  # a view or trigger could compute anything, and without an end
        if kind != "table" or not page or name not in _NAMES or _is_computed(db, name):
            raise _damaged(path, f"it has a {kind} {name}, which no run has")
    if missing := _NAMES - {name for _, name, _ in things}:
        raise _damaged(path, f"it has no {' and no '.join(sorted(missing))}")
    return version


def _is_computed(db: sqlite3.Connection, table: str) -> bool:
    return any(hidden for *_, hidden in db.execute("SELECT * FROM pragma_table_xinfo(?)", (table,)))


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commits what is done inside, all or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def create(db: sqlite3.Connection, spec: Mapping[str, Any], seats: int) -> None:
    """Makes the tables and stores the specification."""
    columns = "".join(f", moves{seat} INTEGER NOT NULL, micros{seat} INTEGER NOT NULL" for seat in range(seats))
    columns += "".join(f", reward{seat} INTEGER" for seat in range(seats))
    with transaction(db):
        for statement in TABLES.format(seat_columns=columns).split(";"):
            db.execute(statement)
        db.execute("INSERT INTO run VALUES (?)", (json.dumps(spec),))
        db.execute(f"PRAGMA application_id = {MARK}")
        db.execute(f"PRAGMA user_version = {VERSION}")


def extend(db: sqlite3.Connection, spec: Mapping[str, Any], index_of: Callable[[str], int]) -> None:
    """Makes the run that of a longer specification: its games get the indices that they have in that schedule."""
    moved = [
        (-1 - index_of(game_id), old)
        for old, game_id in typed(db.execute("SELECT game_index, game_id FROM games"), tuple[int, str])
        if index_of(game_id) != old
    ]
    with transaction(db):
        for table in ("games", "records"):
            db.executemany(f"UPDATE {table} SET game_index = ? WHERE game_index = ?", moved)
            db.execute(f"UPDATE {table} SET game_index = -1 - game_index WHERE game_index < 0")
        db.execute("UPDATE run SET spec = ?", (json.dumps(spec),))


def read_spec(db: sqlite3.Connection) -> dict[str, Any] | None:
    """The specification, or None if there are no tables yet."""
    if not db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
        return None
    row = db.execute("SELECT spec FROM run").fetchone()
    try:
        spec = _OBJECTS.decode(_text(row))
        msgspec.convert(spec, RunSpec)
    except (ValueError, RecursionError) as error:
        raise DamagedError(
            f"what the database says was to be played is no specification of a run ({error}): put back a copy"
        ) from error
    return spec


def _text(row: Sequence[Any] | None) -> str:
    if row is None or not isinstance(row[0], str):
        raise ValueError("a text is missing")
    return row[0]


def add_games(
    db: sqlite3.Connection, numbers: dict[Result, int], games: Iterable[tuple[int, int, GameRecord, str]]
) -> int:
    """Adds games within a transaction that is under way; the number of games.

    Args:
        db: The database.
        numbers: Those of the finishes that are there; new ones are added.
        games: Their indices in the schedule and in the rotation of the seats, the records, and their JSON.
    """
    rows, texts = [], []
    for index, turn, record, text in games:
        finish = Result.of(record)
        number = numbers.get(finish)
        if number is None:
            number = numbers[finish] = len(numbers)
            by_seat = json.dumps(finish.agents), json.dumps(finish.ranks)
            db.execute("INSERT INTO finishes VALUES (?, ?, ?, ?, ?)", (number, *by_seat, *finish[2:]))
        rows.append((index, record.game_id, turn, number, *_counted(record, index)))
        texts.append((index, text))
    if rows:
        db.executemany(f"INSERT INTO games VALUES ({', '.join('?' * len(rows[0]))})", rows)
        db.executemany("INSERT INTO records VALUES (?, ?)", texts)
    return len(rows)


def _counted(record: GameRecord, index: int) -> tuple[Any, ...]:
    seats = range(len(record.agents))
    moves, microseconds = [0 for _ in seats], [0 for _ in seats]
    for move in record.moves:
        moves[move.seat] += 1
        microseconds[move.seat] += round(min(max(move.seconds, 0.0), _LONGEST) * 1_000_000)
    is_told = record.actions or record.failure is not None  # else no move says whether it is another's copy
    text = repr((record.actions, record.rewards, *(() if is_told else (index,)))).encode()
    game_hash = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >> 1
    is_paid = record.failure is None and max(map(abs, record.rewards)) < 1e9
    # Whole numbers, so that sums are the same in any order.
    rewards = [round(reward * 1_000_000) if is_paid else None for reward in record.rewards]
    returned = record.rewards[0] if len(seats) == 1 and record.failure is None else None
    by_seat = (count for both in zip(moves, microseconds, strict=True) for count in both)
    return returned, game_hash, *by_seat, *rewards


def finishes(db: sqlite3.Connection, seats: int) -> dict[int, Result]:
    """All rows of ``finishes`` by number."""
    by_number = {}
    for number, agents, ranks, failure, seat in db.execute(
        "SELECT finish, agents, ranks, failure, failed_seat FROM finishes"
    ):
        try:
            by_seat = [_LISTS.decode(_text([column])) for column in (agents, ranks)]
            result = msgspec.convert((*by_seat, failure, seat), Result)
        except (ValueError, RecursionError) as error:
            raise damaged_rows(error) from error
        count = len(result.agents)
        has_seat = result.failed_seat is None or 0 <= result.failed_seat < count
        if count != seats or len(result.ranks) != (0 if result.void else count) or not has_seat:
            raise damaged_rows(f"a game ended with {len(result.ranks)} ranks for {count} agents")
        by_number[number] = result
    return by_number


def game_indices(db: sqlite3.Connection, end: int) -> list[int]:
    """The indices of the games in the schedule, which are below ``end``."""
    indices = [index for (index,) in typed(db.execute("SELECT game_index FROM games"), tuple[int])]
    if any(not 0 <= index < end for index in indices):
        raise damaged_rows(f"a game has an index outside of a schedule of {end} games")
    return indices


def damaged_rows(what: object) -> DamagedError:
    """The error for rows that nobody here has written."""
    return DamagedError(f"the database of the games is damaged ({what}): put back a copy of it")


def record_of(db: sqlite3.Connection, index: int) -> str:
    """The record of a game, as its line of JSON; empty where there is none."""
    row = db.execute("SELECT CAST(record AS BLOB) FROM records WHERE game_index = ?", (index,)).fetchone()
    return _decoded(row[0] if row else None)


def record_lines(db: sqlite3.Connection, start: int = 0, stop: int = -1) -> Iterator[tuple[int, str]]:
    """The indices of games and their records, each as one line whatever it holds, in the order of the schedule."""
    query = "SELECT game_index, CAST(record AS BLOB) FROM records ORDER BY game_index LIMIT ? OFFSET ?"
    for index, record in db.execute(query, (stop if stop < 0 else stop - start, start)):
        yield index, _decoded(record)


def suspect_lines(db: sqlite3.Connection, most: int) -> Iterator[tuple[int, str]]:
    """The first games' indices and records, ``most`` of them, that are no JSON of the form of a record."""
    is_record = (
        "json_valid(record) AND json_type(record) = 'object' AND json_type(record, '$.agents') = 'array' "
        "AND json_type(record, '$.rewards') = 'array' AND json_extract(record, '$.schema') = ?"
    )
    query = (
        f"SELECT game_index, CAST(record AS BLOB), CASE WHEN {is_record} THEN 1 ELSE 0 END AS is_record "
        "FROM (SELECT * FROM records ORDER BY game_index LIMIT ?) WHERE is_record = 0"
    )
    for index, record, _ in db.execute(query, (SCHEMA, most)):
        yield index, _decoded(record)


def _decoded(record: bytes | None) -> str:
    return " ".join((record or b"").decode("utf-8", "replace").splitlines())


def typed(rows: Iterable[Sequence[Any]], kind: Any) -> list[Any]:
    """Rows whose columns are of the types of a tuple."""
    try:
        converted: list[Any] = msgspec.convert([*rows], list[kind])
        return converted
    except msgspec.ValidationError as error:
        raise damaged_rows(error) from error
