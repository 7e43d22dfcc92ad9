"""Tables as files for other programs, written row by row: CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from zermelo.envs import ZermeloError
from zermelo.envs.installing import install_command
from zermelo.evaluation.match.writing import json_number
from zermelo.evaluation.output import ExportFormat

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
