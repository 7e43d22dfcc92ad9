"""The choice of what tables are written as."""

from __future__ import annotations

import enum

__all__ = ["ExportFormat"]


class ExportFormat(enum.StrEnum):
    """The files that can be written."""

    CSV = "csv"
    JSON = "json"
    """An array of objects, one a line."""
    PARQUET = "parquet"
