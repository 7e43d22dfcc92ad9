"""``zermelo warmup``: compiling ahead of the first search."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from zermelo.evaluation.cli.arguments import position_after

_USUAL = ("zermelo/ConnectFour-v0", "zermelo/MNK-v0")
"""Which are the games of classic/connect_four-v3 and classic/tictactoe-v3."""


def warmup(
    envs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ENV]...",
            help="Environments; by default Connect Four and tic-tac-toe (PettingZoo's and ours).",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All games of this package.")] = False,
) -> None:
    """Compile games in advance, so that the first search of each starts at once.

    The machine code is kept on disk; a game that is already compiled takes a moment. Games without compiled
    rules need no warm-up.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo warmup

    [dim]$[/dim] zermelo warmup classic/connect_four-v3 "mygames:MyRules(size=4)"
    """
    from zermelo.agents.warmup import kernels_of, warm_up
    from zermelo.envs import InvalidSettingError, as_game
    from zermelo.envs.registration.registry import OWN_ENVS

    if every and envs:
        raise InvalidSettingError("give environments or --all, not both")
    names = list(OWN_ENVS) if every else envs or list(_USUAL)
    for name in names:
        game = as_game(position_after(name, "", 0).env)
        if not kernels_of(game):
            typer.echo(f"{name}: nothing to compile")
            continue
        typer.echo(f"{name}:", nl=False)
        taken = warm_up(game, on_kernel=_tell)
        typer.echo(f"  (together {sum(taken.values()):.1f} s)")


def _tell(kernel: str, seconds: float) -> None:
    """Adds to the game's line as soon as there is something to add."""
    typer.echo(f"  {kernel} {seconds:.1f} s", nl=False)
    sys.stdout.flush()
