"""The database of a run: its tables, how it is opened, and what is asked of it.

    run       one row: the specification as JSON
    finishes  one row for each line-up and way to end that occurred
    games     one short row a game: enough for standings and ratings, and quick to read through
    records   one row a game: the whole record, as its line of JSON

``place`` is the game's number in the schedule. SQLite keeps the version of the tables (``user_version``) and a
mark that says whose file it is (``application_id``).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import operator
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.storage.deals import count_deal
from zermelo.evaluation.storage.run_spec import RunSpec
from zermelo.evaluation.storage.totals import Finish, GameTally, GameTotals, GroupTotal

FILE: Final = "games.sqlite"
MARK: Final = 0x5A524D4C  # "ZRML"
VERSION: Final = 2
"""Raised when the tables change so that an older reader would misread them."""

_NAMES: Final = frozenset({"run", "finishes", "games", "records", "invocations"})
TABLES: Final = """
    CREATE TABLE run (spec TEXT NOT NULL);
    CREATE TABLE finishes (
        finish INTEGER PRIMARY KEY,
        agents TEXT NOT NULL,       -- JSON list, by seat
        places TEXT NOT NULL,       -- JSON list, by seat, and empty if the game counts for nobody
        failure TEXT,
        failed_seat INTEGER
    );
    CREATE TABLE games (
        place INTEGER PRIMARY KEY,
        game_id TEXT NOT NULL,
        turn INTEGER NOT NULL,      -- its number within the rotation of the seats
        finish INTEGER NOT NULL REFERENCES finishes,
        returned REAL,              -- of a single player
        line INTEGER NOT NULL       -- hash of the actions and rewards
        {seat_columns}            -- moves, their microseconds, and rewards in millionths, of each seat
    );
    CREATE TABLE records (place INTEGER PRIMARY KEY, record TEXT NOT NULL);
"""


def open_writer(path: Path) -> sqlite3.Connection:
    """The database, made if need be, for the one process that writes; without tables if it is new.

    Raises:
        StoreError: The file is damaged, somebody else's, or of a newer version.
        sqlite3.Error: It cannot be written.
    """
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10.0)
    try:
        version = _checked_version(db, path)
        if version == 1:
            _add_rewards(db)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        if version and (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise _damaged(path, found)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        db.close()
        raise translated(error, path) from error
    except BaseException:
        db.close()
        raise
    return db


def _add_rewards(db: sqlite3.Connection) -> None:
    """Makes a database of version 1 one of version 2, which has the rewards beside the finishes."""
    seats = sum(name.startswith("moves") for _, name, *_ in db.execute("PRAGMA table_info(games)"))
    db.execute("BEGIN IMMEDIATE")
    for seat in range(seats):
        db.execute(f"ALTER TABLE games ADD COLUMN reward{seat} INTEGER")
    records = db.execute("SELECT place, record FROM records").fetchall()
    rows = ((GameTally.of(GameRecord.from_json(record)).rewards, place) for place, record in records)
    columns = ", ".join(f"reward{seat} = ?" for seat in range(seats))
    db.executemany(
        f"UPDATE games SET {columns} WHERE place = ?", [(*rewards, place) for rewards, place in rows if rewards]
    )
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def translated(error: Exception, path: Path) -> Exception:
    """A ``StoreError`` if the file is damaged, else the error itself."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    is_damage = isinstance(error, UnicodeDecodeError) or code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return _damaged(path, str(error)) if is_damage else error


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path} is damaged ({' '.join(what.split())}); nothing was changed: put back a copy of it, or choose "
        "another folder"
    )


@contextlib.contextmanager
def open_reader(path: Path) -> Iterator[sqlite3.Connection]:
    """The database for reading, also while a run writes it.

    Raises:
        StoreError: It cannot be read.
    """
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
    except sqlite3.OperationalError:
        db.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        # Reading in WAL mode needs to write beside the file; where nobody can, nobody can change it either.
        db = sqlite3.connect(f"{address}&immutable=1", uri=True)
    return db


def _checked_version(db: sqlite3.Connection, path: Path) -> int:
    """The version of the tables, 0 if there are none."""
    db.execute("PRAGMA trusted_schema = OFF")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    mark = int(db.execute("PRAGMA application_id").fetchone()[0])
    things = db.execute("SELECT type, name, rootpage FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    if not (version or mark or things):
        return 0
    if mark != MARK:
        raise StoreError(f"{path} is a database of another program: choose another folder")
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer zermelo (store version {version}, this one knows up to {VERSION}): "
            "update zermelo, or choose another folder"
        )
    for kind, name, page in things:  # a view or trigger could compute anything, and without an end
        if kind != "table" or not page or name not in _NAMES or _is_computed(db, name):
            raise _damaged(path, f"it has a {kind} {name}, which no run has")
    if missing := _NAMES - {"invocations"} - {name for _, name, _ in things}:
        raise _damaged(path, f"it has no {' and no '.join(sorted(missing))}")
    return version


def _is_computed(db: sqlite3.Connection, table: str) -> bool:
    """Whether a table has columns that are computed when they are read."""
    return any(hidden for *_, hidden in db.execute("SELECT * FROM pragma_table_xinfo(?)", (table,)))


def create(db: sqlite3.Connection, spec: Mapping[str, Any], seats: int) -> None:
    """Makes the tables and keeps the specification, all or nothing."""
    columns = "".join(f", moves{seat} INTEGER NOT NULL, micros{seat} INTEGER NOT NULL" for seat in range(seats))
    columns += "".join(f", reward{seat} INTEGER" for seat in range(seats))
    db.execute("BEGIN IMMEDIATE")
    for statement in TABLES.format(seat_columns=columns).split(";"):
        db.execute(statement)
    db.execute("INSERT INTO run VALUES (?)", (json.dumps(spec),))
    db.execute(f"PRAGMA application_id = {MARK}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def extend(db: sqlite3.Connection, spec: Mapping[str, Any], place: Callable[[str], int]) -> None:
    """Makes the run that of a longer specification: its games get the places that they have in that schedule."""
    moved = [
        (-1 - place(game_id), old)
        for old, game_id in _rows(db.execute("SELECT place, game_id FROM games"), tuple[int, str])
        if place(game_id) != old
    ]
    db.execute("BEGIN IMMEDIATE")
    for table in ("games", "records"):
        db.executemany(f"UPDATE {table} SET place = ? WHERE place = ?", moved)
        db.execute(f"UPDATE {table} SET place = -1 - place WHERE place < 0")
    db.execute("UPDATE run SET spec = ?", (json.dumps(spec),))
    db.execute("COMMIT")


def read_spec(db: sqlite3.Connection) -> dict[str, Any] | None:
    """The specification, or None if there are no tables yet.

    Raises:
        StoreError: It is none.
    """
    if not db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
        return None
    row = db.execute("SELECT spec FROM run").fetchone()
    try:
        spec: dict[str, Any] = msgspec.json.decode(_text(row), type=dict[str, Any])
        msgspec.convert(spec, RunSpec)
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"what the database says was to be played is no specification of a run ({error}): put back a copy"
        ) from error
    return spec


def _text(row: Sequence[Any] | None) -> str:
    """The only column of a row.

    Raises:
        ValueError: There is no row, or it is no text.
    """
    if row is None or not isinstance(row[0], str):
        raise ValueError("a text is missing")
    return row[0]


def finish_row(number: int, finish: Finish) -> tuple[Any, ...]:
    """A row of ``finishes``."""
    failure = None if finish.failure is None else str(finish.failure)
    return number, json.dumps(finish.agents), json.dumps(finish.places), failure, finish.failed_seat


def game_row(place: int, game_id: str, finish: int, tally: GameTally) -> tuple[Any, ...]:
    """A row of ``games``."""
    turn = int(game_id.rpartition(".")[2] or 0)
    by_seat = (n for both in zip(tally.moves, tally.microseconds, strict=True) for n in both)
    rewards = tally.rewards or (None,) * len(tally.moves)
    return place, game_id, turn, finish, tally.returned, tally.line, *by_seat, *rewards


def finishes(db: sqlite3.Connection, seats: int) -> dict[int, Finish]:
    """All rows of ``finishes`` by number.

    Raises:
        StoreError: One is none.
    """
    found = {}
    for number, agents, places, failure, seat in db.execute(
        "SELECT finish, agents, places, failure, failed_seat FROM finishes"
    ):
        try:
            by_seat = [msgspec.json.decode(_text([column])) for column in (agents, places)]
            finish = msgspec.convert((*by_seat, failure, seat), Finish)
        except (ValueError, RecursionError) as error:
            raise _odd(error) from error
        count = len(finish.agents)
        has_seat = finish.failed_seat is None or 0 <= finish.failed_seat < count
        if count != seats or len(finish.places) != (0 if finish.void else count) or not has_seat:
            raise _odd(f"a game ended in {len(finish.places)} places for {count} agents")
        found[number] = finish
    return found


def places(db: sqlite3.Connection, end: int) -> list[int]:
    """The numbers of the games in the schedule, which are below ``end``.

    Raises:
        StoreError: One is not.
    """
    found = [place for (place,) in _rows(db.execute("SELECT place FROM games"), tuple[int])]
    if any(not 0 <= place < end for place in found):
        raise _odd(f"a game has a place outside of a schedule of {end} games")
    return found


def _odd(what: object) -> StoreError:
    return StoreError(f"the database of the games is damaged ({what}): put back a copy of it")


def _record_of(db: sqlite3.Connection, place: int) -> str:
    """The record of a game, as its line of JSON.

    Raises:
        StoreError: It is missing.
    """
    try:
        return _text(db.execute("SELECT record FROM records WHERE place = ?", (place,)).fetchone())
    except ValueError as error:
        raise _odd(error) from error


def _rows(rows: Iterable[Sequence[Any]], kind: Any) -> list[Any]:
    """Rows whose columns are of the types of a tuple.

    Raises:
        StoreError: One is not.
    """
    try:
        return [msgspec.convert(row, kind) for row in rows]
    except msgspec.ValidationError as error:
        raise _odd(error) from error


def totals(db: sqlite3.Connection, seats: int, before: int | None = None) -> GameTotals:
    """The games counted, or those of a place before one, in memory that does not grow with their number."""
    end = -1 if before is None else before
    limit = "" if before is None else "WHERE place < :end"
    sums = "".join(f", SUM(moves{seat}), SUM(micros{seat})" for seat in range(seats))
    has_rewards = int(db.execute("PRAGMA user_version").fetchone()[0]) > 1
    if has_rewards:
        sums += "".join(
            f", SUM(reward{seat}), COUNT(reward{seat}), MIN(reward{seat}), MAX(reward{seat})"
            for seat in range(seats)
        )
    openings = (read_spec(db) or {}).get("openings") or {"count": 1}
    known, found = finishes(db, seats), GameTotals(openings=openings["count"])
    query = f"SELECT finish, COUNT(*), MIN(place), COUNT(DISTINCT line){sums} FROM games {limit} GROUP BY finish"
    groups = _rows(db.execute(query, {"end": end}), list[int | None])
    if not {number for number, *_ in groups} <= known.keys() or any(
        None in row[: 4 + 2 * seats] for row in groups
    ):
        raise _odd("games whose end is missing")
    for number, games, first, distinct, *by_seat in groups:
        first_id = str(db.execute("SELECT game_id FROM games WHERE place = ?", (first,)).fetchone()[0])
        message = ""
        if known[number].failure is not None:
            failure = GameRecord.from_json(_record_of(db, first)).failure
            message = "" if failure is None else failure.message
        earned, counted, lowest, highest = (by_seat[2 * seats + part :: 4] for part in range(4))
        paid = (earned, lowest, highest) if counted and set(counted) == {games} else (None, None, None)
        moves, micros = by_seat[: 2 * seats : 2], by_seat[1 : 2 * seats : 2]
        found.groups[known[number]] = GroupTotal(
            games, moves, micros, distinct, (first,), first_id, message, *paid
        )
    if seats == 1:
        query = f"SELECT finish, returned, COUNT(*) FROM games {limit} GROUP BY finish, returned"
        for number, returned, games in _rows(db.execute(query, {"end": end}), tuple[int, float | None, int]):
            if returned is not None:
                counts = found.returns.setdefault(known[number].agents[0], Counter())
                counts[returned] += games
    if seats == 2:
        # A rotation's two games are neighbours in the schedule.
        query = """
            SELECT first.finish, second.finish, COUNT(*)
            FROM games AS first JOIN games AS second ON second.place = first.place + 1
            WHERE first.turn = 0 AND second.turn = 1 AND (:end < 0 OR second.place < :end)
            GROUP BY first.finish, second.finish
        """
        for one, two, games in db.execute(query, {"end": end}):
            if not (known[one].void or known[two].void):
                found.pairs[known[one], known[two]] += games
    if seats > 1 and has_rewards:
        _count_deals(db, found, known, seats, limit, end)
    return found


def _count_deals(
    db: sqlite3.Connection, found: GameTotals, known: Mapping[int, Finish], seats: int, limit: str, end: int
) -> None:
    """Counts what the games of each rotation paid; they are neighbours in the schedule."""
    rewards = ", ".join(f"reward{seat}" for seat in range(seats))
    rows = db.execute(f"SELECT place - turn, finish, {rewards} FROM games {limit} ORDER BY place", {"end": end})
    checked = (row for batch in iter(lambda: rows.fetchmany(1_000), []) for row in _rows(batch, list[int | None]))
    for _, deal in itertools.groupby(checked, key=operator.itemgetter(0)):
        games = [row for row in deal if not known[row[1]].void]
        if games:
            paid = [() if None in row[2:] else row[2:] for row in games]
            count_deal(found.deals, [known[row[1]] for row in games], paid)
