"""``zermelo standings``: the tables of a run that is kept in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zermelo.evaluation.cli.forms import Form, print_in_form

__all__ = ["standings"]


def standings(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Results folder (the tournament's --out).", show_default=False),
    ],
    output: Annotated[Form, typer.Option("--format", "-f", help="How to print the standings.")] = Form.TABLE,
) -> None:
    """Print the tables of a tournament in a folder, also while it is being played.

    Everything is counted anew from the games.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo standings results/first
    """
    from zermelo.evaluation.tournament.run import read_standings

    print_in_form(read_standings(folder), output)
