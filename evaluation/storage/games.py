"""The games of a run, read again from where they are kept, one after another as they are used."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol, overload

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.schedule import game_order
from zermelo.evaluation.storage.database import FILE, open_reader

LINES: Final = "games.jsonl"


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

    def lines(self) -> Iterator[str]:
        """Each game as its line of JSON."""
        return self._source.each(0, len(self))

    @overload
    def __getitem__(self, index: int) -> GameRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[GameRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> GameRecord | tuple[GameRecord, ...]:
        count = len(self)
        if isinstance(index, slice):
            wanted = range(count)[index]
            if not wanted:
                return ()
            low, high = min(wanted[0], wanted[-1]), max(wanted[0], wanted[-1])
            return tuple(map(GameRecord.from_json, self._source.each(low, high + 1)))[:: wanted.step]
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


class _ListedGames:
    """Games in memory."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def count(self) -> int:
        return len(self._lines)

    def each(self, start: int, stop: int) -> Iterator[str]:
        return iter(self._lines[start:stop])


class _DatabaseGames:
    """Games of a database, which may be written meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def count(self) -> int:
        with open_reader(self._path) as db:
            return int(db.execute("SELECT COUNT(*) FROM records").fetchone()[0])

    def each(self, start: int, stop: int) -> Iterator[str]:
        with open_reader(self._path) as db:
            query = "SELECT CAST(record AS TEXT) FROM records ORDER BY game_index LIMIT ? OFFSET ?"
            for (text,) in db.execute(query, (stop - start, start)):
                yield text


class _LineGames:
    """Games of a file of JSON lines; only the place of each is kept in memory."""

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


def games_of(lines: list[str]) -> StoredGames:
    """Games in memory, as their lines of JSON, in the order of the schedule."""
    return StoredGames(_ListedGames(lines))


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
