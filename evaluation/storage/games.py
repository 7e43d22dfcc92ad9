"""The games of a run, read again from where they are kept, one after another as they are used."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, overload

from zermelo.agents.specs import MODEL_FILES
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.installing import optional_import
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.schedule import game_order
from zermelo.evaluation.storage.database import FILE, open_reader, record_lines, suspect_lines
from zermelo.evaluation.storage.rows import game_columns, game_row

LINES: Final = "games.jsonl"
FEW: Final = 5
"""Games that a sentence names."""
CHECKED: Final = 100_000
"""Records of a run that are glanced at only to name those that cannot be read."""


@checked_call
class StoredGames(Sequence[GameRecord]):
    """The games of a folder, read from there whenever they are asked for: there may be any number of them.

    A game whose record cannot be read is left out of those that are gone through, and named on standard error.
    Asked for by its index, it raises a ``StoreError``, as all do where none can be read.

    Args:
        count: Returns how many there are now.
        read: Yields what each game is called in a sentence and its line of JSON, from one index to before another.
        suspects: Yields those that are no records at a glance.
    """

    def __init__(
        self,
        count: Callable[[], int],
        read: Callable[[int, int], Iterator[tuple[str, str]]],
        suspects: Callable[[], Iterable[tuple[str, str]]] = list,
    ) -> None:
        self._count, self._read, self._suspects = count, read, suspects

    def __len__(self) -> int:
        return self._count()

    def __iter__(self) -> Iterator[GameRecord]:
        return (record for record, _ in self.with_lines())

    def with_lines(self) -> Iterator[tuple[GameRecord, str]]:
        """Yields each game and its line of JSON."""
        return self._between(0, len(self))

    def _between(self, start: int, stop: int) -> Iterator[tuple[GameRecord, str]]:
        is_any, failed = False, list[str]()
        error: StoreError | None = None
        for called, line in self._read(start, stop):
            try:
                record = _record(called, line)
            except StoreError as reason:
                failed, error = [*failed, called], error or reason
                continue
            is_any = True
            yield record, line
        if error is not None and not is_any:
            raise error
        if error is not None:
            with contextlib.suppress(OSError, ValueError):  # nobody reads it
                print(f"zermelo: {_left_out(failed, error)}", file=sys.stderr)

    def unreadable(self) -> list[str]:
        """A sentence on the games whose records cannot be read, as far as a glance shows, if there are any.

        Their results stand, since they are kept apart.
        """
        failed, error = list[str](), None
        for called, line in self._suspects():
            try:
                _record(called, line)
            except StoreError as reason:
                failed, error = [*failed, called], error or reason
        return [] if error is None else [_left_out(failed, error)]

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
            return tuple(record for record, _ in self._between(low, high + 1))[:: wanted.step]
        if not -count <= index < count:
            raise IndexError(f"there are {count} games, so no game {index}")
        return _record(*next(self._read(index % count, index % count + 1)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in itertools.zip_longest(self, other))

    __hash__ = None  # type: ignore[assignment]  # a file may change, so there is no hash; typeshed wants a method

    def __repr__(self) -> str:
        return f"<StoredGames: {len(self)} games>"

    def to_pandas(self) -> Any:
        """The games as a pandas ``DataFrame``, by ``game_id``: a row for each, as ``zermelo export`` writes it.

        Raises:
            MissingDependencyError: pandas is not installed; the message has the command that installs it.
        """
        pandas = optional_import("pandas", "pandas", "notebook")
        rows, seats = list[dict[str, Any]](), 0
        for record in self:
            rows.append(game_row(record))
            seats = max(seats, len(record.agents))
        columns = {}
        for name, kind in game_columns(seats).items():
            values = [row.get(name) for row in rows]
            whole = "Int64" if None in values else None  # NumPy's integers have no missing value
            columns[name] = pandas.Series(values, dtype={int: whole, float: "float64", str: "object"}[kind])
        return pandas.DataFrame(columns).set_index("game_id")


def _record(called: str, line: str) -> GameRecord:
    try:
        return GameRecord.from_json(line)
    except StoreError as error:
        raise StoreError(f"the record of {called} cannot be read: {error}") from error


def _left_out(failed: Sequence[str], error: StoreError) -> str:
    left_out = "its moves are left out, and its result is counted"
    if len(failed) > 1:
        names = ", ".join(failed[1:FEW]) + (f" and {len(failed) - FEW} more" if len(failed) > FEW else "")
        left_out = f"nor can those of {names}: their moves are left out, and their results are counted"
    return f"{error}; {left_out}: put back a copy to have them"


def games_of(lines: list[str]) -> StoredGames:
    """Games in memory, as their lines of JSON, in the order of the schedule."""

    def read(start: int, stop: int) -> Iterator[tuple[str, str]]:
        return ((f"game {number}", lines[number - 1]) for number in range(start + 1, min(stop, len(lines)) + 1))

    return StoredGames(lambda: len(lines), read)


def _of_database(path: Path) -> StoredGames:
    def count() -> int:
        with open_reader(path) as db:
            return int(db.execute("SELECT COUNT(*) FROM records").fetchone()[0])

    def called(lines: Callable[..., Iterable[tuple[int, str]]], *given: int) -> Iterator[tuple[str, str]]:
        with open_reader(path) as db:
            yield from ((f"game {index + 1}", line) for index, line in lines(db, *given))

    return StoredGames(
        count, functools.partial(called, record_lines), functools.partial(called, suspect_lines, CHECKED)
    )


def _of_text(path: Path) -> StoredGames:
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no regular file: choose another folder")
    games = []
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            try:
                games.append((game_order(GameRecord.from_json(line).game_id), line))
            except StoreError as error:
                if line.endswith("\n"):  # else it was being written when the process was killed
                    raise StoreError(f"{path}, line {number}: {error}") from error
    return games_of([line for _, line in sorted(games)])


def _advice(folder: Path) -> str:
    """What to do about a folder without games, by what else is in it."""
    inside, runs = list[Path](), list[str]()
    with contextlib.suppress(OSError):
        inside = sorted(folder.iterdir())
        runs = [str(one) for one in inside if any((one / name).exists() for name in (FILE, LINES))]
    if runs:
        return f"; name one that has: {', '.join(runs[:FEW])}{' and others' * (len(runs) > FEW)}"
    if any(one.suffix.lower() in MODEL_FILES for one in inside):
        return "; the models in it are rated by `zermelo rate`"
    return ""


@checked_call
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
        if lines.exists() and lines.is_file() and not lines.stat().st_size:
            raise StoreError(f"{folder} holds no tournament: {LINES} is empty")
        return _of_text(lines)
    except FileNotFoundError:
        there = f"{folder} holds no tournament: there is no {FILE} in it, nor {LINES}"
        raise StoreError(there + _advice(Path(folder))) from None
    except OSError as error:
        raise StoreError(f"cannot read the games in {folder}: {error.strerror or error}") from error
