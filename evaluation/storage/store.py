"""Where game records go as they are played, and how they are read again.

``Store`` is the interface. ``MemoryStore`` keeps a run that was given no folder, ``SqliteStore`` (in its own
module) one that was. A folder holds

    games.sqlite     the run: every game, and what was to be played
    games.jsonl      the games as text, one a line, as they are committed; made again from the database on resuming
    spec.json        what was to be played, as text
    standings.json   the table, when the run has ended or was stopped
    standings.csv
    lock             held by the process that writes
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol, overload

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.schedule import Schedule, game_order
from zermelo.evaluation.storage.database import FILE, open_reader
from zermelo.evaluation.storage.game_summary import GameSummary
from zermelo.evaluation.storage.totals import GameTotals

LINES: Final = "games.jsonl"
SPEC: Final = "spec.json"
TEXTS: Final = (SPEC, "standings.json", "standings.csv")
"""What is overwritten whenever a run is begun, continued or ended."""


class Store(Protocol):
    """Takes records in any order, one at a time, from one process."""

    @property
    def records(self) -> Sequence[GameRecord]:
        """The games that are kept, in the order of the schedule."""
        ...

    def has(self, place: int) -> bool:
        """Whether the game of that number in the schedule is kept or about to be."""
        ...

    def append(self, record: GameRecord) -> None:
        """Takes a game; one that is here already is left as it was."""
        ...

    def kept(self) -> Sequence[GameRecord]:
        """The games kept for good since this was last asked: the end of the process does not lose them."""
        ...

    def flush(self) -> None:
        """Keeps everything that was taken."""
        ...

    def totals(self, before: int | None = None) -> GameTotals:
        """All games counted, or those whose number in the schedule is lower."""
        ...

    def forget(self, first: int) -> None:
        """Drops the games from that number on: they were played, but turned out not to be wanted."""
        ...

    def close(self) -> None:
        """Lets go of the files."""
        ...


class MemoryStore:
    """Keeps the games of a run in memory.

    Args:
        schedule: What is to be played.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._games: dict[int, GameRecord] = {}
        self._new: list[GameRecord] = []

    @property
    def records(self) -> Sequence[GameRecord]:
        """The games, in the order of the schedule."""
        return tuple(self._games[place] for place in sorted(self._games))

    def has(self, place: int) -> bool:
        """Whether that game is here."""
        return place in self._games

    def append(self, record: GameRecord) -> None:
        """Takes a game."""
        if self._games.setdefault(self._schedule.place(record.game_id), record) is record:
            self._new.append(record)

    def kept(self) -> Sequence[GameRecord]:
        """The games since this was last asked."""
        new, self._new = self._new, []
        return new

    def flush(self) -> None:
        """There is nothing to do."""

    def totals(self, before: int | None = None) -> GameTotals:
        """The games counted."""
        return GameTotals.of(
            record for place, record in sorted(self._games.items()) if before is None or place < before
        )

    def forget(self, first: int) -> None:
        """Drops games."""
        self._games = {place: record for place, record in self._games.items() if place < first}

    def close(self) -> None:
        """There is nothing to do."""


class _Source(Protocol):
    """Games in a file, each as its line of JSON, in the order of the schedule."""

    def count(self) -> int: ...

    def each(self, start: int, stop: int) -> Iterator[str]: ...


class StoredGames(Sequence[GameRecord]):
    """The games of a folder, read from there whenever they are asked for: there may be any number of them."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    def __len__(self) -> int:
        return self._source.count()

    def __iter__(self) -> Iterator[GameRecord]:
        return map(GameRecord.from_json, self._source.each(0, len(self)))

    def summaries(self) -> Iterator[GameSummary]:
        """What can be counted of each game, several times as fast as the games themselves."""
        return map(GameSummary.from_json, self._source.each(0, len(self)))

    @overload
    def __getitem__(self, index: int) -> GameRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[GameRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> GameRecord | tuple[GameRecord, ...]:
        count = len(self)
        if isinstance(index, slice):
            places = range(count)[index]
            if not places:
                return ()
            low, high = min(places[0], places[-1]), max(places[0], places[-1])
            return tuple(map(GameRecord.from_json, self._source.each(low, high + 1)))[:: places.step]
        if not -count <= index < count:
            raise IndexError(f"there are {count} games, so no game {index}")
        return GameRecord.from_json(next(self._source.each(index % count, index % count + 1)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # a file may change, so there is no hash; typeshed wants a method

    def __repr__(self) -> str:
        return f"<StoredGames: {len(self)} games>"


class _DatabaseGames:
    """Those of a database; it may be written meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def count(self) -> int:
        with open_reader(self._path) as db:
            return int(db.execute("SELECT COUNT(*) FROM records").fetchone()[0])

    def each(self, start: int, stop: int) -> Iterator[str]:
        with open_reader(self._path) as db:
            query = "SELECT CAST(record AS TEXT) FROM records ORDER BY place LIMIT ? OFFSET ?"
            for (text,) in db.execute(query, (stop - start, start)):
                yield text


class _LineGames:
    """Those of a file of JSON lines; all that is kept of them is where each one is."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = []
        if path.exists() and not path.is_file():
            raise StoreError(f"{path} is no regular file: choose another folder")
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(file, start=1):
                # A last line without an end is a game that was being written when the process was killed.
                if line.endswith(b"\n"):
                    try:
                        game_id = GameRecord.from_json(line.decode("utf-8", "replace")).game_id
                    except StoreError as error:
                        raise StoreError(f"{path}, line {number}: {error}") from error
                    found.append((game_order(game_id), offset))
                offset += len(line)
        self._offsets = array("q", (offset for _, offset in sorted(found)))

    def count(self) -> int:
        return len(self._offsets)

    def each(self, start: int, stop: int) -> Iterator[str]:
        with self._path.open("rb") as file:
            for offset in self._offsets[start:stop]:
                file.seek(offset)
                yield file.readline().decode("utf-8", "replace")


def read_games(folder: str | os.PathLike[str]) -> StoredGames:
    """The games of a run, in the order of its schedule, read from the folder one after another as they are used.

    Raises:
        StoreError: There is no run there, or it is damaged; the message says where.
    """
    database, lines = Path(folder) / FILE, Path(folder) / LINES
    try:
        # An empty database beside games as text is what is left of one: the text is read.
        if database.exists() and (database.stat().st_size or not lines.exists()):
            with open_reader(database):
                return StoredGames(_DatabaseGames(database))
        return StoredGames(_LineGames(lines))
    except FileNotFoundError:
        raise StoreError(f"{folder} holds no tournament: there is no {FILE} in it, nor {LINES}") from None
    except OSError as error:
        raise StoreError(f"cannot read the games in {folder}: {error.strerror or error}") from error
