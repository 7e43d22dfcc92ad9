"""The command ``zermelo ladder``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zermelo.evaluation.cli import arguments
from zermelo.evaluation.runners import RunnerChoice


def ladder(
    env: arguments.EnvText,
    out: arguments.OutFile = "",
    gap: Annotated[float, typer.Option(help="Elo between neighbours, at most.")] = 100.0,
    width: Annotated[float, typer.Option(help="Width of the rungs' 95 % intervals, in Elo.")] = 40.0,
    move_seconds: Annotated[float, typer.Option(help="Time that the strongest rung may take for a move.")] = 1.0,
    minutes: Annotated[
        float, typer.Option(help="Processor time for all games; where it does not suffice, intervals are wider.")
    ] = 60.0,
    seed: arguments.Seed = 0,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", help="Processes that play, or Ray's tasks at a time.")
    ] = None,
    runner: arguments.Runner = RunnerChoice.LOCAL,
    ray_address: arguments.RayAddress = None,
) -> None:
    """Build a ladder of opponents of known strength for a game of two players: agents with ratings, random with 0.

    Searches of growing limits, and with a share of random moves between them, play each other until neighbours are
    near and ratings are sure. Limits are depths and simulations, so that a level is the same on every machine.
    The games are kept in a journal beside the file: after Ctrl-C the same command goes on. Play against the ladder
    as level(800), or level(elo=800, file='FILE') where this package has none for the game.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo ladder classic/tictactoe-v3 --minutes 2

    [dim]$[/dim] zermelo ladder mygame:MyEnv --out mygame.json --workers 2
    """
    from zermelo.evaluation.text_table import TextTable
    from zermelo.evaluation.tournament.run import make_runner
    from zermelo.evaluation.training.ladders import LadderBuilder, write_ladder

    path = arguments.file_for(out, env, ".ladder.json")
    line = arguments.LiveLine()
    with arguments.writing(path):
        builder = LadderBuilder(
            env, Path(f"{path}.games"), make_runner(workers, runner, ray_address), gap=gap, width=width,
            move_seconds=move_seconds, seconds=60 * minutes, seed=seed, on_block=line.show,
        )  # fmt: skip
        found = builder.build()
        write_ladder(found, path)
    line.clear()
    rows = [
        [row["agent"], f"{row['elo']:.0f}", f"{row['lower']:.0f} to {row['upper']:.0f}", f"{row['ms']:.2g}"]
        for row in reversed(found["rungs"])
    ]
    typer.echo(TextTable(["agent", "Elo", "95 % interval", "ms a move"], rows).text())
    typer.echo(f"\n{found['games']:,} games; written to {path}")
