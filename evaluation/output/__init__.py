"""Tables, progress and exported files."""

import enum

__all__ = ["TABLES", "ExportFormat"]


class ExportFormat(enum.StrEnum):
    """The files that can be written."""

    CSV = "csv"
    JSON = "json"  # an array of objects, one a line
    PARQUET = "parquet"
    PGN = "pgn"  # games of chess, in one file
    SGF = "sgf"  # games of Go, in one file


TABLES = (ExportFormat.CSV, ExportFormat.JSON, ExportFormat.PARQUET)  # with a row for each game
