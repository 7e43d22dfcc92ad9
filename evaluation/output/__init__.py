"""What people and programs read: progress, reports, exported tables."""

import enum

__all__ = ["ExportFormat"]


class ExportFormat(enum.StrEnum):
    """The files that can be written."""

    CSV = "csv"
    JSON = "json"
    """An array of objects, one a line."""
    PARQUET = "parquet"
