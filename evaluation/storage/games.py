"""The games of a run, read again from where they are kept, one after another as they are used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, overload

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.schedule import game_order
from zermelo.evaluation.storage.database import FILE, open_reader

LINES: Final = "games.jsonl"


class StoredGames(Sequence[GameRecord]):
    """The games of a folder, read from there whenever they are asked for: there may be any number of them.

    Args:
        count: Returns how many there are now.
        read: Yields those from one index to before another, as lines of JSON, in the order of the schedule.
    """

    def __init__(self, count: Callable[[], int], read: Callable[[int, int], Iterator[str]]) -> None:
        self._count, self._read = count, read

    def __len__(self) -> int:
        return self._count()

    def __iter__(self) -> Iterator[GameRecord]:
        return map(GameRecord.from_json, self.lines())

    def lines(self) -> Iterator[str]:
        """Yields each game as its line of JSON."""
        return self._read(0, len(self))

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
            return tuple(map(GameRecord.from_json, self._read(low, high + 1)))[:: wanted.step]
        if not -count <= index < count:
            raise IndexError(f"there are {count} games, so no game {index}")
        return GameRecord.from_json(next(self._read(index % count, index % count + 1)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # a file may change, so there is no hash; typeshed wants a method

    def __repr__(self) -> str:
        return f"<StoredGames: {len(self)} games>"


def games_of(lines: list[str]) -> StoredGames:
    """Games in memory, as their lines of JSON, in the order of the schedule."""
    return StoredGames(lambda: len(lines), lambda start, stop: iter(lines[start:stop]))


def _of_database(path: Path) -> StoredGames:
    def count() -> int:
        with open_reader(path) as db:
            return int(db.execute("SELECT COUNT(*) FROM records").fetchone()[0])

    def read(start: int, stop: int) -> Iterator[str]:
        with open_reader(path) as db:
            query = "SELECT CAST(record AS TEXT) FROM records ORDER BY game_index LIMIT ? OFFSET ?"
            for (text,) in db.execute(query, (stop - start, start)):
                yield text

    return StoredGames(count, read)


def _of_text(path: Path) -> StoredGames:
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no regular file: choose another folder")
    found = []
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            try:
                found.append((game_order(GameRecord.from_json(line).game_id), line))
            except StoreError as error:
                if line.endswith("\n"):  # else it was being written when the process was killed
                    raise StoreError(f"{path}, line {number}: {error}") from error
    return games_of([line for _, line in sorted(found)])


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
                return _of_database(database)
        return _of_text(lines)
    except FileNotFoundError:
        raise StoreError(f"{folder} holds no tournament: there is no {FILE} in it, nor {LINES}") from None
    except OSError as error:
        raise StoreError(f"cannot read the games in {folder}: {error.strerror or error}") from error
