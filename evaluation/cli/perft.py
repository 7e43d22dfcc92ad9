"""``zermelo perft``: leaves of the game tree, the usual check of a game's rules."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from zermelo.evaluation.cli.arguments import EnvText, Json, MovesText, Seed, position_after, print_json


def perft_command(
    env: EnvText,
    depth: Annotated[int, typer.Argument(min=0, metavar="DEPTH", help="Moves to look ahead.", show_default=False)],
    moves: MovesText = "",
    split: Annotated[bool, typer.Option("--split", help="Also the count below each move.")] = False,
    as_json: Json = False,
    seed: Seed = 0,
) -> None:
    """Count the leaves of the game tree at a depth.

    Games that end earlier are not counted, so that the numbers can be compared with published tables.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo perft classic/connect_four-v3 4 --split
    """
    from zermelo.envs import as_game, perft
    from zermelo.evaluation.output.positions.moves import name_of

    driver = position_after(env, moves, seed)
    game = as_game(driver.env)
    state = game.snapshot(driver.env)
    started = time.perf_counter()
    if split and depth > 0:
        counts = perft(game, depth, state=state, split=True)
        names = {name_of(game, state, action): below for action, below in counts.items()}
        count = sum(counts.values())
    else:
        names = {}
        count = perft(game, depth, state=state)
    seconds = time.perf_counter() - started
    if as_json:
        print_json(
            {"env": env, "moves": moves, "depth": depth, "leaves": count, "split": names, "seconds": seconds}
        )
        return
    for name, below in names.items():
        typer.echo(f"{name}: {below:,}")
    speed = f", {count / seconds:,.0f} leaves a second" if seconds > 0 else ""
    typer.echo(f"{count:,} leaves at depth {depth} ({seconds:.2f} s{speed})")
