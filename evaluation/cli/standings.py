"""``zermelo standings``: the tables of a run that is kept in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from zermelo.envs import InvalidSettingError
from zermelo.evaluation.cli.arguments import Folder, Json

if TYPE_CHECKING:
    from zermelo.evaluation.output.standings import Standings


Csv = Annotated[bool, typer.Option("--csv", help="Print CSV, a line for each agent.")]


def check_format(as_json: bool, as_csv: bool) -> None:
    """Raises ``InvalidSettingError`` if both are asked for."""
    if as_json and as_csv:
        raise InvalidSettingError("give either --json or --csv, not both")


def print_standings(standings: Standings, *, as_json: bool, as_csv: bool) -> None:
    """Prints the standings on standard output, as tables unless asked otherwise."""
    from zermelo.evaluation.text_table import terminal_width

    if as_csv:
        typer.echo(standings.to_csv(), nl=False)
    else:
        typer.echo(standings.to_json() if as_json else standings.text(terminal_width()))


def standings(folder: Folder, as_json: Json = False, as_csv: Csv = False) -> None:
    """Print the tables of a tournament in a folder, also while it is being played.

    Everything is counted anew from the games.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo standings results/first
    """
    from zermelo.evaluation.tournament.run import read_standings

    check_format(as_json, as_csv)
    print_standings(read_standings(folder), as_json=as_json, as_csv=as_csv)
