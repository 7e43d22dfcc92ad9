"""``zermelo standings``: the tables of a run that is kept in a folder."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

from zermelo.evaluation.cli.arguments import Folder

if TYPE_CHECKING:
    from zermelo.evaluation.stats.standings import Standings


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
