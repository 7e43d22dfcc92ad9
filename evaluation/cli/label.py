"""``zermelo label``: positions of a game with values and policies, to learn from."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from zermelo.evaluation.cli.arguments import EnvText, Seed

_INTERRUPTED = 130


def label_command(
    env: EnvText,
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="The file to write, ending in .parquet, .json or .csv."),
    ] = "labels.parquet",
    positions: Annotated[int, typer.Option("--positions", "-n", min=1, help="How many.")] = 1_000,
    agent: Annotated[
        str,
        typer.Option("--agent", "-a", metavar="AGENT", help="The search that says what each position is worth."),
    ] = "auto",
    seed: Seed = 0,
) -> None:
    """Write positions of a game with values, policies and proofs, as targets for learning.

    Positions come from random games, none twice. A row has the moves that lead there, what the player sees, the
    mask of legal actions, and what the agent says: the value, whether it is proven, the best action, a policy, the
    value of each action. Parquet files are read by pandas, polars and datasets as they are. Ctrl-C keeps what is
    labelled so far.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo label classic/tictactoe-v3 --positions 2000 --agent "alphabeta(exact=true)"

    [dim]$[/dim] zermelo label zermelo/Othello-v0 --agent "mcts(simulations=800)" --out othello.parquet
    """
    from rich.console import Console
    from rich.progress import Progress

    from zermelo.evaluation.output.labels import label_positions

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("labelling", total=positions)
        labels = label_positions(
            env,
            out,
            positions=positions,
            agent=agent,
            seed=seed,
            on_position=lambda done: bar.update(task, completed=done),
        )
    typer.echo(
        f"{labels.positions:,} positions of {labels.games:,} games, {labels.proven:,} of them proven, "
        f"in {labels.path}"
    )
    if labels.was_stopped:
        raise SystemExit(_INTERRUPTED)
    if labels.positions < positions:
        typer.echo("zermelo: random games found no more than these", err=True)
