"""``zermelo ladder``: opponents of known strength for a game."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.evaluation.cli import arguments
from zermelo.evaluation.workers import RunnerChoice


def ladder_command(
    env: arguments.EnvText,
    out: arguments.OutFile = "",
    gap: Annotated[float, typer.Option(help="Elo between neighbours, at most.")] = 100.0,
    width: Annotated[float, typer.Option(help="Width of the rungs' 95 % intervals, in Elo.")] = 40.0,
    move_seconds: Annotated[float, typer.Option(help="Time that the strongest rung may take for a move.")] = 1.0,
    minutes: Annotated[
        float, typer.Option(help="Processor time for all games; where it does not suffice, intervals are wider.")
    ] = 60.0,
    seed: arguments.Seed = 0,
    workers: arguments.Workers = None,
    runner: arguments.Runner = RunnerChoice.LOCAL,
    ray_address: arguments.RayAddress = None,
) -> None:
    """Build a ladder of opponents of known strength for a game: agents with ratings, random with 0.

    Searches of growing limits, and with a share of random moves between them, play each other until neighbours are
    near and ratings are sure. Limits are depths and simulations, so that a level is the same on every machine.
    Where the game is solved in the time of a move, perfect play is rated too. The games are kept in a journal
    beside the file: after Ctrl-C, or with more --minutes, the same command goes on. Play against the ladder as
    level(800), or level(elo=800, file='FILE') where this package has none for the game.

    Where games pay amounts or hide cards, or a team plays, ratings are mean rewards of a game with a fixed agent
    in the other seats: level(reward=0.5). There --minutes and --move-seconds count alone, and no journal is kept.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo ladder classic/tictactoe-v3 --minutes 2

    [dim]$[/dim] zermelo ladder mygame:MyEnv --out mygame.json --workers 2

    [dim]$[/dim] zermelo ladder classic/leduc_holdem-v4 --minutes 2
    """
    from zermelo.agents.level import Levels, Unit
    from zermelo.evaluation.ladders.builder import LadderBuilder, write_ladder
    from zermelo.evaluation.ladders.reward_builder import CANDIDATES, RewardLadderBuilder, search_of
    from zermelo.evaluation.text_table import TextTable
    from zermelo.evaluation.tournament.run import make_runner
    from zermelo.evaluation.training.evaluate import perfect_play

    path = arguments.file_for(out, env, ".ladder.json")
    line = arguments.LiveLine()
    with arguments.writing(path):
        method = search_of(env)
        common: dict[str, Any] = {"move_seconds": move_seconds, "seconds": 60 * minutes, "seed": seed}
        builder: LadderBuilder | RewardLadderBuilder
        if method in CANDIDATES:
            builder = RewardLadderBuilder(env, method, on_block=line.show, **common)
        else:
            players = make_runner(workers, runner, ray_address)
            builder = LadderBuilder(
                env, Path(f"{path}.games"), players, gap=gap, width=width, on_block=line.show, **common
            )
        ladder = builder.build()
        write_ladder(ladder, path)
        if perfect := perfect_play(env, path, move_seconds):
            write_ladder({"perfect": perfect, **ladder}, path)
    line.clear()
    found = Levels.read(path)
    rows = [
        [rung.agent, *map(found.shown, (rung.rating, rung.lower, rung.upper)), f"{rung.ms:.3g}"]
        for rung in reversed(found.rungs)
    ]
    name = "Elo" if found.unit is Unit.ELO else f"reward with {found.baseline}"
    typer.echo(TextTable(["agent", name, "from", "to", "ms a move"], rows).text())
    typer.echo(f"\n{found.about['games']:,} games in {found.about['minutes']} minutes; written to {path}")
