"""``zermelo tournament``: every agent plays every other, and a table says who is better."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zermelo.evaluation.cli.arguments import EnvText, Seed
from zermelo.evaluation.isolation.choice import Isolate

if TYPE_CHECKING:
    from zermelo.evaluation.standings import Standings

__all__ = ["tournament"]


class Form(enum.StrEnum):
    """How to print the standings."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def tournament(
    env: EnvText,
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT AGENT...",
            help='Agents, such as random or "alphabeta(depth=4)"; `zermelo agents` lists them.',
            show_default=False,
        ),
    ],
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="Games for each pairing; seats rotate.")] = 10,
    seed: Seed = 0,
    workers: Annotated[
        int, typer.Option("--workers", "-w", min=1, help="Processes; the games are the same for any number.")
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="A new folder for every game's moves and the standings.", show_default=False
        ),
    ] = None,
    max_moves: Annotated[
        int, typer.Option(min=1, help="A longer game ends there, as its rewards stand.")
    ] = 100_000,
    isolate: Annotated[
        Isolate,
        typer.Option(
            help="Who gets a process of its own: all; own: agents named module:factory and learned ones, and with "
            "a limit on time or memory all but random; none."
        ),
    ] = Isolate.OWN,
    move_seconds: Annotated[
        float | None, typer.Option(help="Time for one move; who takes longer loses.", show_default=False)
    ] = None,
    start_seconds: Annotated[
        float, typer.Option(help="Time to be made and to get ready, for an agent in a process of its own.")
    ] = 60.0,
    agent_memory_mb: Annotated[
        int | None,
        typer.Option(help="Memory that an agent's process may have; who takes more loses.", show_default=False),
    ] = None,
    output: Annotated[Form, typer.Option("--format", "-f", help="How to print the standings.")] = Form.TABLE,
) -> None:
    """Let every agent play every other, and say who is better.

    An agent that crashes or plays an illegal action loses that game, and the tournament goes on.
    Ctrl-C prints the table so far.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo tournament classic/tictactoe-v3 random greedy alphabeta

    [dim]$[/dim] zermelo tournament classic/connect_four-v3 random "alphabeta(depth=2)" --games 100 --workers 4

    [dim]$[/dim] zermelo tournament classic/connect_four-v3 random mypackage.mymodule:MyAgent --out results/first
    """
    from zermelo.evaluation.errors import TournamentInterrupted
    from zermelo.evaluation.isolation import Isolation
    from zermelo.evaluation.tournament import round_robin

    isolation = Isolation(
        isolate=isolate, move_seconds=move_seconds, start_seconds=start_seconds, memory_mb=agent_memory_mb
    )
    try:
        standings = round_robin(
            env, agents, games=games, seed=seed, workers=workers, out=out, isolation=isolation, max_moves=max_moves
        )
    except TournamentInterrupted as interrupt:
        _print(interrupt.standings, output, out)
        raise typer.Exit(130) from interrupt
    _print(standings, output, out)
    if any(record.void for record in standings.records):
        raise typer.Exit(1)


def _print(standings: Standings, form: Form, out: Path | None) -> None:
    from rich.console import Console

    from zermelo.evaluation.tables import as_csv, as_json, as_text, print_standings

    if form is Form.JSON:
        typer.echo(as_json(standings))
    elif form is Form.CSV:
        typer.echo(as_csv(standings), nl=False)
    elif (console := Console()).is_terminal:
        print_standings(standings, console)
    else:
        typer.echo(as_text(standings))
    if out is not None:
        typer.echo(f"Games and standings are in {out}", err=form is not Form.TABLE)
