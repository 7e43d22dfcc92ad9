"""``zermelo label``: positions of a game with values and policies, to learn from."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.envs import InvalidSettingError
from zermelo.evaluation.cli.arguments import (
    Depth,
    EnvText,
    Nodes,
    Seconds,
    Seed,
    Simulations,
    with_limits,
)

_INTERRUPTED = 130


def label_command(
    env: EnvText,
    agent: Annotated[
        str, typer.Argument(metavar="[AGENT]", help="The search that says what each position is worth.")
    ] = "auto",
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="The file to write, ending in .parquet, .json or .csv."),
    ] = "labels.parquet",
    positions: Annotated[int, typer.Option("--positions", min=1, help="Positions to write.")] = 1_000,
    depth: Depth = None,
    nodes: Nodes = None,
    simulations: Simulations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
) -> None:
    """Write positions of a game with values, policies and proofs, as targets for learning.

    Positions come from random games, none twice. A row has the moves that lead there, the observation of the
    player, the mask of legal actions, and the answer of the agent: the value, whether it is proven, the best
    action, a policy, the value of each action. Parquet files are read by pandas, polars and datasets. Ctrl-C
    keeps the rows so far.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo label classic/tictactoe-v3 "alphabeta(exact=true)" --positions 2000

    [dim]$[/dim] zermelo label zermelo/Othello-v0 mcts --simulations 800 --out othello.parquet
    """
    from zermelo.agents.learning.labels import COLUMNS, label_positions
    from zermelo.envs.files import replaced
    from zermelo.evaluation.errors import StoreError
    from zermelo.evaluation.output import TABLES, ExportFormat
    from zermelo.evaluation.output.table_files import table_writer

    path = Path(out)
    form = path.suffix.removeprefix(".")
    if form not in TABLES:
        raise InvalidSettingError(f"the file must end in .{', .'.join(TABLES)}, not {path.name!r}")
    writer = table_writer(ExportFormat(form))
    [agent] = with_limits([agent], depth=depth, nodes=nodes, simulations=simulations, seconds=seconds)
    labels = label_positions(env, positions=positions, agent=agent, seed=seed)
    count = proven = games = 0
    was_stopped = True
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            replaced(path) as file,
            contextlib.closing(writer(file, COLUMNS)) as rows,
            contextlib.suppress(KeyboardInterrupt),
        ):
            for row in _with_progress(labels, positions):
                rows.add(row)
                count, proven, games = count + 1, proven + row["proven"], max(games, row["game"] + 1)
            was_stopped = False
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error
    typer.echo(f"{count:,} positions ({games:,} random games; {proven:,} proven) in {path}")
    if was_stopped:
        raise SystemExit(_INTERRUPTED)
    if count < positions:
        typer.echo("zermelo: random games found no more than these", err=True)


def _with_progress(labels: Iterator[dict[str, Any]], total: int) -> Iterable[dict[str, Any]]:
    """The rows, with a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(
        labels, "labelling", total=total, console=console, transient=True, disable=not sys.stderr.isatty()
    )
