"""``zermelo standings``: the tables of a run that is kept in a folder."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

from zermelo.evaluation.cli.arguments import Folder

if TYPE_CHECKING:
    from zermelo.evaluation.output.standings import Standings


class Form(enum.StrEnum):
    """How to print the standings."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def print_in_form(standings: Standings, form: Form) -> None:
    """Prints the standings on standard output."""
    from zermelo.evaluation.text_table import terminal_width

    if form is Form.CSV:
        typer.echo(standings.to_csv(), nl=False)
    else:
        typer.echo(standings.to_json() if form is Form.JSON else standings.text(terminal_width()))


def standings(
    folder: Folder,
    output: Annotated[Form, typer.Option("--format", "-f", help="How to print the standings.")] = Form.TABLE,
) -> None:
    """Print the tables of a tournament in a folder, also while it is being played.

    Everything is counted anew from the games.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo standings results/first
    """
    from zermelo.evaluation.tournament.run import read_standings

    print_in_form(read_standings(folder), output)
