"""Games and moves as tables for other programs: CSV, JSON or Parquet, written as they are read."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from zermelo.envs.errors import InvalidSettingError, ZermeloError
from zermelo.envs.support.files import replaced
from zermelo.envs.support.installing import install_command
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.text import json_number
from zermelo.evaluation.output import TABLES, ExportFormat
from zermelo.evaluation.storage.rows import MOVE_COLUMNS, game_columns, game_row, move_rows


def export_games(
    records: Iterable[GameRecord], folder: str | os.PathLike[str], form: ExportFormat | str
) -> tuple[Path, Path]:
    """Writes ``games`` and ``moves`` into a folder and returns both files; records are read once and not kept."""
    if form not in TABLES:
        raise InvalidSettingError(f"games can be exported as {', '.join(TABLES)}, not {form!r}")
    form = ExportFormat(form)
    target = Path(folder)
    iterator = iter(records)
    first = next(iterator, None)
    if first is None:
        raise StoreError("there are no games to export: play some first")
    writer = table_writer(form)
    paths = (target / f"games.{form}", target / f"moves.{form}")
    try:
        target.mkdir(parents=True, exist_ok=True)
        with (
            replaced(paths[0]) as games_file,
            replaced(paths[1]) as moves_file,
            writer(games_file, game_columns(len(first.agents))) as add_game,
            writer(moves_file, MOVE_COLUMNS) as add_move,
        ):
            for record in itertools.chain([first], iterator):
                add_game(game_row(record))
                for row in move_rows(record):
                    add_move(row)
    except OSError as error:
        raise StoreError(
            f"cannot write the tables to {target}: {error.strerror or error}; choose another folder"
        ) from error
    return paths


_BATCH: Final = 20_000  # rows that a Parquet file gets at a time


Add: TypeAlias = Callable[[Mapping[str, Any]], object]  # writes a row


@contextlib.contextmanager
def _csv(path: Path, columns: Mapping[str, Any]) -> Iterator[Add]:
    """RFC 4180 with line feeds; nothing stands for None, ``inf`` and ``-inf`` for infinities, JSON for lists."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n", extrasaction="ignore")
        writer.writeheader()

        def add(row: Mapping[str, Any]) -> None:
            lists = {name: json.dumps(value) for name, value in row.items() if isinstance(value, list)}
            writer.writerow({**row, **lists})

        yield add


@contextlib.contextmanager
def _json(path: Path, columns: Mapping[str, Any]) -> Iterator[Add]:
    """An array of objects; JSON has no infinities and no nan, so they are text."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        separator = "[\n"

        def add(row: Mapping[str, Any]) -> None:
            nonlocal separator
            values = {name: json_number(row.get(name)) for name in columns}
            file.write(separator + json.dumps(values, allow_nan=False))
            separator = ",\n"

        yield add
        file.write("[]\n" if separator == "[\n" else "\n]\n")


@contextlib.contextmanager
def _parquet(path: Path, columns: Mapping[str, Any]) -> Iterator[Add]:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    kinds: dict[Any, Any] = {str: pyarrow.string(), bool: pyarrow.bool_()}
    kinds |= {int: pyarrow.int64(), float: pyarrow.float64()}
    kinds |= {list[kind]: pyarrow.list_(made) for kind, made in kinds.items()}  # type: ignore[valid-type]
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    rows: list[Mapping[str, Any]] = []
    with ParquetWriter(path, schema) as writer:

        def flush() -> None:
            if rows:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows.clear()

        def add(row: Mapping[str, Any]) -> None:
            rows.append(row)
            if len(rows) >= _BATCH:
                flush()

        yield add
        flush()


def table_writer(
    form: ExportFormat,
) -> Callable[[Path, Mapping[str, Any]], contextlib.AbstractContextManager[Add]]:
    """A context manager of a file and its columns, names with types, that gives a function that writes a row."""
    if form is not ExportFormat.PARQUET:
        return _csv if form is ExportFormat.CSV else _json
    try:
        import pyarrow.parquet  # noqa: F401 - only to see whether it is there
    except ImportError as error:
        raise ZermeloError(
            f"Parquet files need pyarrow: {install_command('parquet')}, or choose csv or json"
        ) from error
    return _parquet
