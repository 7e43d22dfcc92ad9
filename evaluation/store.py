"""Where game records go as they are played.

``Store`` is the interface; ``JsonLinesStore`` keeps a run as a folder of text files:

    spec.json        what was to be played: environment, agents, games, seed, versions
    games.jsonl      one game a line, written and flushed as each game ends
    standings.json   the table, when the run has ended or was stopped
    standings.csv
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.record import GameRecord
from zermelo.evaluation.schedule import game_order
from zermelo.evaluation.standings import Standings
from zermelo.evaluation.tables import as_csv, as_json

__all__ = ["JsonLinesStore", "Store", "read_games"]


class Store(Protocol):
    """Takes records in any order, one at a time, from one process."""

    def append(self, record: GameRecord) -> None:
        """Keeps a game; when this returns, the end of the process does not lose it."""
        ...

    def finish(self, standings: Standings) -> None:
        """Keeps the table of all the games."""
        ...

    def close(self) -> None:
        """Lets go of the files."""
        ...


class JsonLinesStore:
    """A new run in a folder of text files.

    Args:
        folder: It is made if need be, and must not hold a run already.
        spec: What is to be played, as plain values.

    Raises:
        StoreError: The folder holds a run, or cannot be written.
    """

    GAMES: Final = "games.jsonl"
    FILES: Final = ("spec.json", GAMES, "standings.json", "standings.csv")

    def __init__(self, folder: str | os.PathLike[str], spec: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            found = [name for name in self.FILES if (self.folder / name).exists()]
            if found:
                raise StoreError(
                    f"{self.folder} already holds a tournament ({', '.join(found)}): choose another folder, or "
                    "delete it first"
                )
            self._games = (self.folder / self.GAMES).open("x", encoding="utf-8")
            self._write("spec.json", json.dumps(spec, indent=2) + "\n")
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write the games to {self.folder}: {error.strerror or error}; choose another folder"
        )

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def append(self, record: GameRecord) -> None:
        """Writes a line and hands it to the operating system.

        Raises:
            StoreError: The disk is full, say.
        """
        try:
            self._games.write(record.to_json() + "\n")
            self._games.flush()
        except OSError as error:
            raise self._refused(error) from error

    def finish(self, standings: Standings) -> None:
        """Writes the standings as JSON and CSV.

        Raises:
            StoreError: They cannot be written.
        """
        try:
            self._write("standings.json", as_json(standings) + "\n")
            self._write("standings.csv", as_csv(standings))
        except OSError as error:
            raise self._refused(error) from error

    def close(self) -> None:
        """Closes the file of games."""
        try:
            self._games.close()
        except OSError as error:
            raise self._refused(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def read_games(folder: str | os.PathLike[str]) -> tuple[GameRecord, ...]:
    """The games of a run, in the order of its schedule.

    A last line without an end is a game that was being written when the process was killed; it is left out.

    Raises:
        StoreError: There is no run there, or a line of it is damaged; the message names the line.
    """
    path = Path(folder) / JsonLinesStore.GAMES
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            records = list(_records(file, path))
    except FileNotFoundError:
        raise StoreError(f"{folder} holds no tournament: there is no {JsonLinesStore.GAMES} in it") from None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    return tuple(sorted(records, key=lambda record: game_order(record.game_id)))


def _records(lines: Iterator[str], path: Path) -> Iterator[GameRecord]:
    for number, line in enumerate(lines, start=1):
        if not line.endswith("\n"):
            return
        try:
            yield GameRecord.from_json(line)
        except StoreError as error:
            raise StoreError(f"{path}, line {number}: {error}") from error
