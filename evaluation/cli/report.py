"""``zermelo report``, ``export`` and ``judge``: what was played, to look at and to compute with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zermelo.evaluation.cli.arguments import Seed

__all__ = ["report"]

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="The folder of a tournament (its --out).", show_default=False),
]


def report(
    folder: Folder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; by default report.html in DIR.", show_default=False),
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=0, help="Games to show in full, at most.")] = 100,
    seed: Seed = 0,
) -> None:
    """Write a report: one HTML file that works offline, with tables, plots and games to step through.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo report results/first
    """
    from zermelo.evaluation.report import report_page, write_text
    from zermelo.evaluation.store import read_games

    page = report_page(read_games(folder), games=games, seed=seed)
    target = out or folder / "report.html"
    write_text(target, page)
    typer.echo(f"The report is in {target} ({len(page.encode()) / 1e6:.2g} MB)")
