"""Games and moves as tables for other programs: CSV, JSON or Parquet, written as they are read.

``games`` has one row a game, with a column for each seat's agent, reward, score and outcome (``agent_0``, ...).
``moves`` has one row a move: ``ply`` counts from 0 at the start of the game, its opening included, and moves of
the opening have no agent. An action that is not an integer is written as JSON.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from zermelo.envs import InvalidSettingError, ZermeloError
from zermelo.envs.files import replaced
from zermelo.envs.installing import install_command
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.writing import json_number
from zermelo.evaluation.output import TABLES, ExportFormat

_GAMES: Final[Mapping[str, tuple[type, Callable[[GameRecord], Any]]]] = {
    "game_id": (str, lambda game: game.game_id),
    "env": (str, lambda game: game.env),
    "seed": (int, lambda game: game.seed),
    "end": (str, lambda game: str(game.end)),
    "plies": (int, lambda game: len(game.opening) + len(game.moves)),
    "opening": (str, lambda game: json.dumps(game.opening) if game.opening else ""),
    "seconds": (float, lambda game: game.seconds),
    "failure": (str, lambda game: str(game.failure.kind) if game.failure else ""),
    "failure_seat": (int, lambda game: game.failure.seat if game.failure else None),
    "failure_message": (str, lambda game: game.failure.message if game.failure else ""),
}
_SEAT_COLUMNS: Final[Mapping[str, type]] = {"agent": str, "reward": float, "score": float, "outcome": str}
_MOVE_COLUMNS: Final[Mapping[str, type]] = {
    "game_id": str,
    "ply": int,
    "seat": int,
    "agent": str,
    "action": str,
    "seconds": float,
    "nodes": int,
    "depth": int,
    "value": float,
}


def game_row(record: GameRecord) -> dict[str, Any]:
    """The row of a game; None where there is nothing to say."""
    row = {name: value(record) for name, (_, value) in _GAMES.items()}
    scores, outcomes = record.scores, record.outcomes
    for seat, agent in enumerate(record.agents):
        row[f"agent_{seat}"] = agent
        row[f"reward_{seat}"] = record.rewards[seat]
        row[f"score_{seat}"] = scores[seat] if scores else None
        row[f"outcome_{seat}"] = str(outcomes[seat]) if outcomes else None
    return row


def move_rows(record: GameRecord) -> Iterator[dict[str, Any]]:
    """The rows of a game's moves, its opening first."""
    for ply, action in enumerate(record.opening):
        yield dict.fromkeys(_MOVE_COLUMNS) | {"game_id": record.game_id, "ply": ply, "action": _text(action)}
    for ply, move in enumerate(record.moves, start=len(record.opening)):
        who = {"game_id": record.game_id, "ply": ply, "agent": record.agents[move.seat]}
        yield {**who, **move._asdict(), "action": _text(move.action)}


def _text(action: Any) -> str:
    return str(action) if isinstance(action, int) else json.dumps(action)


def export_games(
    records: Iterable[GameRecord], folder: str | os.PathLike[str], form: ExportFormat | str
) -> tuple[Path, Path]:
    """Writes ``games`` and ``moves`` into a folder; the records are read once and not kept.

    Args:
        records: The games.
        folder: It is made if need be. Files of the same names are replaced once the new ones are complete.
        form: ``"csv"``, ``"json"`` or ``"parquet"``, which needs pyarrow.

    Returns:
        The two files.

    Raises:
        InvalidSettingError: There is no such format.
        ZermeloError: pyarrow is not installed.
        StoreError: There are no games, or the files cannot be written.
    """
    if form not in TABLES:
        raise InvalidSettingError(f"games can be exported as {', '.join(TABLES)}, not {form!r}")
    form = ExportFormat(form)
    target = Path(folder)
    iterator = iter(records)
    first = next(iterator, None)
    if first is None:
        raise StoreError("there are no games to export: play some first")
    game_columns = {name: kind for name, (kind, _) in _GAMES.items()}
    for seat in range(len(first.agents)):
        game_columns |= {f"{name}_{seat}": kind for name, kind in _SEAT_COLUMNS.items()}
    writer = table_writer(form)
    paths = (target / f"games.{form}", target / f"moves.{form}")
    try:
        target.mkdir(parents=True, exist_ok=True)
        with (
            replaced(paths[0]) as games_file,
            replaced(paths[1]) as moves_file,
            contextlib.closing(writer(games_file, game_columns)) as games,
            contextlib.closing(writer(moves_file, _MOVE_COLUMNS)) as moves,
        ):
            for record in itertools.chain([first], iterator):
                games.add(game_row(record))
                for row in move_rows(record):
                    moves.add(row)
    except OSError as error:
        raise StoreError(
            f"cannot write the tables to {target}: {error.strerror or error}; choose another folder"
        ) from error
    return paths


_BATCH: Final = 20_000
"""Rows that a Parquet file gets at a time."""


class _Csv:
    """RFC 4180 with line feeds; nothing stands for None, ``inf`` and ``-inf`` for infinities, JSON for lists."""

    def __init__(self, path: Path, columns: Mapping[str, Any]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.DictWriter(self._file, list(columns), lineterminator="\n", extrasaction="ignore")
        self._writer.writeheader()

    def add(self, row: Mapping[str, Any]) -> None:
        lists = {name: json.dumps(value) for name, value in row.items() if isinstance(value, list)}
        self._writer.writerow({**row, **lists})

    def close(self) -> None:
        self._file.close()


class _Json:
    """An array of objects; JSON has no infinities and no nan, so they are text."""

    def __init__(self, path: Path, columns: Mapping[str, Any]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="\n")
        self._columns = list(columns)
        self._separator = "[\n"

    def add(self, row: Mapping[str, Any]) -> None:
        values = {name: json_number(row.get(name)) for name in self._columns}
        self._file.write(self._separator + json.dumps(values, allow_nan=False))
        self._separator = ",\n"

    def close(self) -> None:
        self._file.write("[]\n" if self._separator == "[\n" else "\n]\n")
        self._file.close()


class _Parquet:
    """Typed columns, in groups of rows."""

    def __init__(self, path: Path, columns: Mapping[str, Any]) -> None:
        import pyarrow
        import pyarrow.parquet

        kinds: dict[Any, Any] = {
            str: pyarrow.string(),
            bool: pyarrow.bool_(),
            int: pyarrow.int64(),
            float: pyarrow.float64(),
        }
        kinds |= {list[kind]: pyarrow.list_(made) for kind, made in kinds.items()}  # type: ignore[valid-type]
        self._pyarrow = pyarrow
        self._schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
        self._writer = pyarrow.parquet.ParquetWriter(path, self._schema)
        self._rows: list[Mapping[str, Any]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(self._pyarrow.Table.from_pylist(self._rows, self._schema))
        self._rows = []

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


TableWriter: TypeAlias = _Csv | _Json | _Parquet


def table_writer(form: ExportFormat) -> Callable[[Path, Mapping[str, Any]], TableWriter]:
    """A function that makes a writer of a file and its columns: their names and types, ``list[int]`` among them.

    A writer takes rows by ``add``, one at a time, and writes what is left when it is closed.
    """
    if form is not ExportFormat.PARQUET:
        return _Csv if form is ExportFormat.CSV else _Json
    try:
        import pyarrow.parquet  # noqa: F401 - only to see whether it is there
    except ImportError as error:
        raise ZermeloError(
            f"Parquet files need pyarrow: {install_command('parquet')}, or choose csv or json"
        ) from error
    return _Parquet
