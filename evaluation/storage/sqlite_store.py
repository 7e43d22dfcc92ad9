"""A run in a folder, kept in SQLite so that neither a crash nor a power cut loses a game that was acknowledged.

Games are written in groups, a group in one transaction with a synchronous write ahead (WAL, ``synchronous=FULL``):
a game waits at most about ``INTERVAL`` for its group, and counts as kept (``kept``) only when the transaction is
done. Writing to the disk then costs the same whether games take a millisecond or a minute.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.storage import database
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.storage.identity import check_same_run, check_versions
from zermelo.evaluation.storage.invocations import InvocationLog, notes_of, read_invocations
from zermelo.evaluation.storage.run_lock import RunLock
from zermelo.evaluation.storage.store import LINES, SPEC, TEXTS, read_games
from zermelo.evaluation.storage.totals import Finish, GameTally, GameTotals

INTERVAL: Final = 0.1
"""Seconds between two groups of games."""


class SqliteStore:
    """A folder with a run: a new one, or one of the same specification, which is gone on with.

    Args:
        folder: It is made if need be.
        spec: What is to be played, as plain values.
        schedule: The games.
        log: What is kept of the command that plays them.

    Raises:
        StoreError: The folder cannot be used; nothing in it was changed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        spec: Mapping[str, Any],
        schedule: Schedule,
        log: InvocationLog | None = None,
    ) -> None:
        self.folder, self._schedule = Path(folder), schedule
        self._log = log or InvocationLog()
        self._mutex = threading.RLock()
        self._waiting: list[tuple[int, GameRecord, str, GameTally]] = []
        self._new: list[GameRecord] = []
        self._present = bytearray(len(schedule))
        self._finishes: dict[Finish, int] = {}
        self._broken: StoreError | None = None
        self._flushed = time.monotonic()
        self._last, self._in_order = -1, True
        self._closing = threading.Event()
        self._closer: threading.Thread | None = None
        with contextlib.ExitStack() as undo:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._require_own_files()
                self._lock = RunLock(self.folder / "lock")
                undo.callback(self._lock.release)
                self._db = database.open_writer(self._path)
                undo.callback(self._db.close)
                self._begin(json.loads(json.dumps(spec)))
                self._lines = (self.folder / LINES).open("a", encoding="utf-8")
            except (OSError, sqlite3.Error) as error:
                raise self._refused(error) from error
            undo.pop_all()

    @property
    def _path(self) -> Path:
        return self.folder / database.FILE

    @property
    def records(self) -> Sequence[GameRecord]:
        """The games that are kept, read from the folder."""
        return read_games(self.folder)

    def _require_own_files(self) -> None:
        """Refuses a folder whose files would be overwritten though no run in it has written them."""
        if self._path.exists() and not self._path.is_file():
            raise StoreError(f"{self._path} is no regular file: choose another folder")
        if _size(self._path):
            return  # the database says whose it is
        how = "beside an empty" if self._path.exists() else "without"
        for name in (LINES, *TEXTS):
            if _size(self.folder / name):
                raise StoreError(
                    f"{self.folder} already holds a tournament ({name} {how} {database.FILE}), which cannot be "
                    "gone on with: choose another folder"
                )

    def _begin(self, spec: Mapping[str, Any]) -> None:
        """Makes the tables, or finds out what is in them."""
        found = database.read_spec(self._db)
        if found is None:
            database.create(self._db, spec, self._schedule.seats)
        else:
            check_same_run(self.folder, found, spec, self._schedule.openings)
            if spec.get("scheduled") != found.get("scheduled"):
                before = {"games": found["games"], "agents": [agent["name"] for agent in found["agents"]]}
                history = [*found.get("history", ()), before]
                found = {**found, **spec, "versions": found.get("versions", {}), "history": history}
                database.extend(self._db, found, self._schedule.place)
            self._finishes = {
                finish: number for number, finish in database.finishes(self._db, self._schedule.seats).items()
            }
            for place in database.places(self._db, len(self._present)):
                self._present[place] = 1
                self._last = place
            if 0 in self._present:
                check_versions(self.folder, found.get("versions", {}), spec.get("versions", {}))
        text = json.dumps(spec if found is None else found, indent=2) + "\n"
        replace_text(self.folder / SPEC, [text])
        self._write_lines()

    def _refused(self, error: Exception) -> StoreError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        text = f"cannot write the games to {self.folder}: {reason or error}"
        count = sum(self._present) - len(self._waiting)
        if count:
            games = "1 game is" if count == 1 else f"{count} games are"
            return StoreError(
                f"{text}; {games} safe in it: mend that, and give the same command again to play the rest"
            )
        return StoreError(f"{text}; choose another folder")

    def _write_lines(self) -> None:
        """Makes the text of the games anew from the database, in the order of the schedule."""
        records = self._db.execute("SELECT record FROM records ORDER BY place")
        replace_text(self.folder / LINES, (f"{text}\n" for (text,) in records))
        self._in_order = True

    def has(self, place: int) -> bool:
        """Whether that game is kept or about to be."""
        return bool(self._present[place])

    def append(self, record: GameRecord) -> None:
        """Takes a game, which is kept within about ``INTERVAL``.

        Raises:
            StoreError: This game or one before could not be written.
        """
        place, text, tally = self._schedule.place(record.game_id), record.to_json(), GameTally.of(record)
        with self._mutex:
            self._check()
            if self._present[place]:
                return
            self._present[place] = 1
            self._waiting.append((place, record, text, tally))
            if time.monotonic() - self._flushed >= INTERVAL:
                self.flush()
            elif self._closer is None:
                self._closer = threading.Thread(target=self._flush_stragglers, daemon=True, name="zermelo store")
                self._closer.start()

    def _check(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _flush_stragglers(self) -> None:
        """Keeps the last games of a burst while nothing else comes."""
        while not self._closing.wait(INTERVAL):
            with self._mutex:
                is_due = time.monotonic() - self._flushed >= INTERVAL
                if self._waiting and is_due and self._broken is None:
                    with contextlib.suppress(StoreError):  # it is kept in _broken, for the next call
                        self.flush()

    def kept(self) -> Sequence[GameRecord]:
        """The games that were committed since this was last asked."""
        with self._mutex:
            new, self._new = self._new, []
            return new

    def flush(self) -> None:
        """Commits the games that wait.

        Raises:
            StoreError: They cannot be written; those committed before are safe.
        """
        with self._mutex:
            self._check()
            if not self._waiting:
                return
            try:
                self._commit()
                self._new += [record for _, record, _, _ in self._waiting]
                lines = "".join(f"{text}\n" for _, _, text, _ in self._waiting)
                for place, _, _, _ in self._waiting:
                    self._in_order &= place > self._last
                    self._last = max(place, self._last)
                self._waiting.clear()
                self._lines.write(lines)
                self._lines.flush()
            except (OSError, sqlite3.Error) as error:
                self._broken = self._refused(database.translated(error, self._path))
                raise self._broken from error
            finally:
                self._flushed = time.monotonic()

    def _commit(self) -> None:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            rows = []
            for place, record, _, tally in self._waiting:
                number = self._finishes.get(tally.finish)
                if number is None:
                    number = len(self._finishes)
                    self._finishes[tally.finish] = number
                    row = database.finish_row(number, tally.finish)
                    db.execute("INSERT INTO finishes VALUES (?, ?, ?, ?, ?)", row)
                rows.append(database.game_row(place, record.game_id, number, tally))
            marks = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO games VALUES ({marks})", rows)
            db.executemany(
                "INSERT INTO records VALUES (?, ?)", [(place, text) for place, _, text, _ in self._waiting]
            )
            self._log.add(db, len(rows))
            db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise

    def notes(self) -> list[str]:
        """The notes of all commands that played games of the run."""
        with self._mutex:
            return notes_of(read_invocations(self._db, self._path))

    def totals(self, before: int | None = None) -> GameTotals:
        """The committed games, counted by the database."""
        with self._mutex:
            try:
                return database.totals(self._db, self._schedule.seats, before)
            except sqlite3.Error as error:
                raise self._refused(database.translated(error, self._path)) from error

    def forget(self, first: int) -> None:
        """Drops games.

        Raises:
            StoreError: The database cannot be written.
        """
        with self._mutex:
            self.flush()
            if 1 not in self._present[first:]:
                return
            try:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.execute("DELETE FROM games WHERE place >= ?", (first,))
                self._db.execute("DELETE FROM records WHERE place >= ?", (first,))
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                self._broken = self._refused(database.translated(error, self._path))
                raise self._broken from error
            self._present[first:] = bytes(len(self._present) - first)
            self._in_order = False

    def finish(self, files: Mapping[str, str]) -> None:
        """Writes texts that sum up all the games.

        Raises:
            StoreError: They cannot be written.
        """
        with self._mutex:
            self.flush()
            try:
                if not self._in_order:
                    self._lines.close()
                    self._write_lines()
                    self._lines = (self.folder / LINES).open("a", encoding="utf-8")
                for name, text in files.items():
                    replace_text(self.folder / name, [text])
            except (OSError, sqlite3.Error) as error:
                raise self._refused(error) from error

    def close(self) -> None:
        """Commits what waits, and lets go of the files and the lock.

        Raises:
            StoreError: The last games cannot be written.
        """
        self._closing.set()
        if self._closer is not None:
            self._closer.join()
        with self._mutex:
            try:
                if self._broken is None:
                    self.flush()
            finally:
                with contextlib.suppress(OSError, sqlite3.Error):  # whatever was committed is on the disk
                    self._lines.close()
                with contextlib.suppress(sqlite3.Error):
                    self._db.close()
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
