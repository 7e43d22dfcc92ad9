"""The store of game records: a folder with a database, or a database in memory.

A folder holds

    games.sqlite     the run: every game, and what was to be played
    games.jsonl      the games as text, one a line, when the run has ended or was stopped
    spec.json        what was to be played, as text
    standings.json   the table, when the run has ended or was stopped
    standings.csv
    lock             held by the process that writes

Neither a crash nor a power cut loses a game that was acknowledged. Games are written in groups, a group in one
transaction with a synchronous write ahead (WAL, ``synchronous=FULL``): a game waits at most about ``INTERVAL`` for
its group, and counts as kept (``kept``) only when the transaction is done.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.errors import DamagedError, StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.text import kept_all
from zermelo.evaluation.results import Result, Results, RoundResults
from zermelo.evaluation.schedule import GameIndex
from zermelo.evaluation.storage import counting, database
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.storage.games import LINES, StoredGames, games_of, read_games
from zermelo.evaluation.storage.invocations import InvocationLog, notes_of, read_invocations
from zermelo.evaluation.storage.rebuilding import SPEC, read_spec_text, rebuild
from zermelo.evaluation.storage.run_spec import check_same_run, check_versions

INTERVAL: Final = 0.25
"""Seconds between two groups of games."""
_BATCH: Final = 500
"""Games of a run in memory that are written together."""
_MAY_NOT: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
TEXTS: Final = (SPEC, "standings.json", "standings.csv")
"""Files that are overwritten whenever a run is begun, continued or ended."""


def require_writable(folder: Path) -> None:
    """Raises ``StoreError`` for a folder that cannot be made, or written to; nothing is left in it."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    try:
        with tempfile.TemporaryDirectory(dir=there):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _MAY_NOT:
            raise database.read_only(folder, reason) from error
        raise StoreError(f"cannot write the games to {folder}: {reason}; choose another folder") from error


@checked_call
class Store:
    """The games of a run: a new one, or one of the same specification in a folder, which is continued.

    Records come in any order, one at a time, from one process.

    Args:
        schedule: The games.
        spec: What is to be played, as plain values.
        folder: It is made if need be; None keeps the run in memory.
        log: What is kept of the command that plays them.

    Raises:
        StoreError: Of every method: the folder cannot be used. Games that were kept before are safe.
    """

    def __init__(
        self,
        schedule: GameIndex,
        spec: Mapping[str, Any],
        folder: str | os.PathLike[str] | None = None,
        log: InvocationLog | None = None,
    ) -> None:
        self.folder, self._schedule = None if folder is None else Path(folder), schedule
        self._path = Path(folder or "") / database.FILE
        self._log = log or InvocationLog()
        self._mutex = threading.RLock()
        self._waiting: list[tuple[int, int, GameRecord, str]] = []
        self._new: list[GameRecord] = []
        self._present = bytearray(len(schedule))
        self._numbers: dict[Result, int] = {}
        self._broken: StoreError | None = None
        self._flushed = time.monotonic()
        self._closing = threading.Event()
        self._closer: threading.Thread | None = None
        self._held = contextlib.ExitStack()
        spec = kept_all(json.loads(json.dumps(spec)))
        if self.folder is None:
            self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._held.callback(self._db.close)
            database.create(self._db, spec, schedule.seats)
            return
        with contextlib.ExitStack() as held, self._writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._require_own_files(self.folder)
            lock = RunLock(self.folder / "lock")
            held.callback(lock.release)
            try:
                if not _size(self._path) and _size(self.folder / LINES):
                    self._rebuild(self.folder, spec)
                self._open(self.folder, spec)
            except DamagedError as error:
                self._rebuild(self.folder, spec, error)
                self._open(self.folder, spec)
            held.callback(self._db.close)
            self._held = held.pop_all()

    @property
    def records(self) -> StoredGames:
        """The games that are kept, in the order of the schedule; those of a folder are read from there."""
        if self.folder is not None:
            return read_games(self.folder)
        with self._mutex:
            self.flush()
            return games_of([text for _, text in database.record_lines(self._db)])

    def _require_own_files(self, folder: Path) -> None:
        """Refuses a folder whose files would be overwritten though no run in it has written them."""
        if self._path.exists() and not self._path.is_file():
            raise StoreError(f"{self._path} is no regular file: choose another folder")
        if _size(self._path):
            return  # the database says whose it is
        if _size(folder / LINES) and read_spec_text(folder) is not None:
            return  # it is built again
        how = "beside an empty" if self._path.exists() else "without"
        there = [name for name in (LINES, *TEXTS) if _size(folder / name)]
        if there == [SPEC] and read_spec_text(folder) is not None:
            raise StoreError(
                f"{folder} holds a tournament {how} {database.FILE} and {LINES}, so its games are lost: remove "
                f"{folder / SPEC} to begin again, or choose another folder"
            )
        if there:
            raise StoreError(
                f"{folder} already holds a tournament ({there[0]} {how} {database.FILE}), which cannot be "
                "continued: choose another folder"
            )

    def _rebuild(self, folder: Path, spec: Mapping[str, Any], damage: DamagedError | None = None) -> None:
        said = rebuild(folder, self._schedule, spec, damage)
        self._log.add_note(said)
        with contextlib.suppress(OSError, ValueError):  # nobody reads it
            print(f"zermelo: {said}", file=sys.stderr)

    def _open(self, folder: Path, spec: Mapping[str, Any]) -> None:
        self._db = database.open_writer(self._path)
        try:
            self._begin(folder, spec)
        except BaseException as error:
            self._db.close()
            if isinstance(error, sqlite3.DatabaseError | UnicodeDecodeError):
                raise database.translated(error, self._path) from error
            raise

    def _begin(self, folder: Path, spec: Mapping[str, Any]) -> None:
        stored = database.read_spec(self._db)
        if stored is None:
            database.create(self._db, spec, self._schedule.seats)
        else:
            check_same_run(folder, stored, spec, self._schedule.beginnings)
            if spec.get("scheduled") != stored.get("scheduled"):
                stored = {**stored, **spec, "versions": stored.get("versions", {})}
                database.extend(self._db, stored, self._schedule.place)
            finishes = database.finishes(self._db, self._schedule.seats)
            self._numbers = {finish: number for number, finish in finishes.items()}
            for index in database.game_indices(self._db, len(self._present)):
                self._present[index] = 1
            if 0 in self._present:
                check_versions(folder, stored.get("versions", {}), spec.get("versions", {}))
        replace_text(folder / SPEC, [json.dumps(spec if stored is None else stored, indent=2) + "\n"])

    def extend(self, schedule: GameIndex, spec: Mapping[str, Any]) -> None:
        """Goes on with a longer schedule, which begins with the games so far."""
        with self._mutex:
            self.flush()
            stored = database.read_spec(self._db) or {}
            if self.folder is not None:
                check_versions(self.folder, stored.get("versions", {}), spec.get("versions", {}))
            spec = kept_all(json.loads(json.dumps({**stored, **spec, "versions": stored.get("versions", {})})))
            with self._writing():
                database.extend(self._db, spec, schedule.place)
                if self.folder is not None:
                    replace_text(self.folder / SPEC, [json.dumps(spec, indent=2) + "\n"])
            self._schedule = schedule
            self._present += bytes(len(schedule) - len(self._present))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Says in one sentence that the system cannot write; after that nothing more is written."""
        if self._broken is not None:
            raise self._broken
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            self._broken = self._refused(database.translated(error, self._path))
            raise self._broken from error

    def _refused(self, error: Exception) -> StoreError:
        if isinstance(error, StoreError):
            return error
        if isinstance(error, OSError) and error.errno in _MAY_NOT:
            return database.read_only(Path(error.filename or self._path), error.strerror or str(error))
        reason = error.strerror if isinstance(error, OSError) else str(error)
        text = f"cannot write the games to {self.folder}: {reason or error}"
        count = sum(self._present) - len(self._waiting)
        games = "1 game is" if count == 1 else f"{count} games are"
        safe = f"{games} safe in it: mend that, and give the same command again to play the rest"
        return StoreError(f"{text}; {safe if count else 'choose another folder'}")

    def has(self, index: int) -> bool:
        """True if the game of that index in the schedule is kept or about to be."""
        return bool(self._present[index])

    def append(self, record: GameRecord) -> int | None:
        """Takes a game, which is kept within about ``INTERVAL``; one that is here already is left as it was.

        Returns:
            Its index in the schedule, or None for one that was here.
        """
        index, text = self._schedule.place(record.game_id), record.to_json()
        turn = int(record.game_id.rpartition(".")[2])
        with self._mutex:
            if self._broken is not None:
                raise self._broken
            if self._present[index]:
                return None
            self._present[index] = 1
            self._waiting.append((index, turn, record, text))
            if self.folder is None:
                self._new.append(record)  # it lasts as long as the process anyway
                if len(self._waiting) >= _BATCH:
                    self.flush()
            elif time.monotonic() - self._flushed >= INTERVAL:
                self.flush()
            elif self._closer is None:
                self._closer = threading.Thread(target=self._flush_stragglers, daemon=True, name="zermelo store")
                self._closer.start()
        return index

    def _flush_stragglers(self) -> None:
        while not self._closing.wait(INTERVAL):
            with self._mutex, contextlib.suppress(StoreError):  # the next call raises it again
                if time.monotonic() - self._flushed >= INTERVAL:
                    self.flush()

    def kept(self) -> Sequence[GameRecord]:
        """The games kept for good since this was last asked: the end of the process does not lose them."""
        with self._mutex:
            new, self._new = self._new, []
            return new

    def flush(self) -> None:
        """Commits the games that wait."""
        with self._mutex, self._writing():
            if not self._waiting:
                return
            try:
                self._commit()
            finally:
                self._flushed = time.monotonic()
            games, self._waiting = self._waiting, []
            if self.folder is not None:
                self._new += (record for _, _, record, _ in games)

    def _commit(self) -> None:
        with database.transaction(self._db):
            self._log.add(self._db, database.add_games(self._db, self._numbers, self._waiting))

    def notes(self) -> list[str]:
        """The notes of all commands that played games of the run."""
        with self._mutex:
            self.flush()
            return notes_of(read_invocations(self._db, self._path))

    def results(self, before: int | None = None) -> Results:
        """The committed games, or those whose index is lower, counted by the database."""
        with self._mutex:
            if self.folder is None:
                self.flush()  # games in memory wait for nothing but to be counted
            with self._writing():
                return counting.results(self._db, self._schedule.seats, before)

    def rounds(self, before: int) -> tuple[RoundResults, ...]:
        """The results of each round, of the games whose index is lower."""
        with self._mutex:
            self.flush()
            with self._writing():
                finishes = database.finishes(self._db, self._schedule.seats)
                return counting.rounds(self._db, finishes, f"WHERE game_index < {before}")

    def forget(self, first: int) -> None:
        """Drops the games from that index on: they were played, but turned out not to be wanted."""
        with self._mutex:
            self.flush()
            if 1 not in self._present[first:]:
                return
            with self._writing(), database.transaction(self._db):
                for table in ("games", "records"):
                    self._db.execute(f"DELETE FROM {table} WHERE game_index >= ?", (first,))
            self._present[first:] = bytes(len(self._present) - first)

    def finish(self, files: Mapping[str, str]) -> None:
        """Writes the games as text and other texts into the folder, if there is one."""
        with self._mutex:
            self.flush()
            if self.folder is None:
                return
            with self._writing():
                replace_text(self.folder / LINES, (f"{text}\n" for _, text in database.record_lines(self._db)))
                for name, text in files.items():
                    replace_text(self.folder / name, [text])

    def close(self) -> None:
        """Commits what waits, and lets go of the files and the lock."""
        self._closing.set()
        if self._closer is not None:
            self._closer.join()
        with self._mutex, self._held:
            if self._broken is None:
                self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


ROOM: Final = 32
"""Bytes for the process's number. On Windows a locked range cannot be read, so the lock is on the byte after."""


class RunLock:
    """One writer at a time: a lock that the operating system lets go of when the process ends, however it does.

    The file stays behind; only the lock counts. It names the process that has it, for whoever is refused. (The
    package ``filelock`` 4.2 was tried: a forked child goes on holding its lock when this process is gone.)
    """

    def __init__(self, path: Path) -> None:
        if path.exists() and not path.is_file():
            raise StoreError(f"{path} is no regular file: choose another folder")
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(self._file)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                self.release()
                raise database.lockless(path, error.strerror or str(error)) from error
            holder = os.read(self._file, ROOM).decode("ascii", "replace").strip()
            self.release()
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise StoreError(
                f"{path.parent} is in use by another run ({who}): wait until it ends, or choose another folder"
            ) from None
        content = os.read(self._file, ROOM + 1)
        if content and not (len(content) == ROOM and content.strip().isdigit()):
            self.release()
            raise StoreError(f"{path} is another program's file: choose another folder")
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, str(os.getpid()).ljust(ROOM).encode())
        if hasattr(os, "register_at_fork"):
            # A forked child has the same lock: it must not keep it when this process is gone.
            os.register_at_fork(after_in_child=self.release)

    def release(self) -> None:
        """Lets go of the lock."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, ROOM, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(file: int) -> None:
        # flock belongs to the open file, not to the process: two runs within one process exclude each other too.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
