"""The forms that standings are printed in."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from zermelo.evaluation.stats.standings import Standings

__all__ = ["Form", "print_in_form"]


class Form(enum.StrEnum):
    """How to print the standings."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def print_in_form(standings: Standings, form: Form) -> None:
    """Prints the standings on standard output."""
    from rich.console import Console

    from zermelo.evaluation.stats.tables import as_csv, as_json, as_text, print_standings

    if form is Form.JSON:
        typer.echo(as_json(standings))
    elif form is Form.CSV:
        typer.echo(as_csv(standings), nl=False)
    elif (console := Console()).is_terminal:
        print_standings(standings, console)
    else:
        typer.echo(as_text(standings))
