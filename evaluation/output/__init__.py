"""Tables, progress and exported files."""

import enum

__all__ = ["TABLES", "ExportFormat"]


class ExportFormat(enum.StrEnum):
    """The files that can be written."""

    CSV = "csv"
    JSON = "json"
    """An array of objects, one a line."""
    PARQUET = "parquet"
    PGN = "pgn"
    """Games of chess, in one file."""
    SGF = "sgf"
    """Games of Go, in one file."""


TABLES = (ExportFormat.CSV, ExportFormat.JSON, ExportFormat.PARQUET)
"""The formats with a row for each game of any kind."""
