"""``zermelo book``: opening books that grow."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.evaluation.cli.arguments import EnvText, Json, MovesText, print_json

if TYPE_CHECKING:
    from zermelo.agents.knowledge.growing import BookProgress

_INTERRUPTED = 130


def book_command(
    env: EnvText,
    agent: Annotated[
        str, typer.Argument(metavar="[AGENT]", help="Says what a position is worth that is not proven.")
    ] = "auto(seconds=1)",
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The book, a new one or one to grow.", show_default=False
        ),
    ] = "",
    hours: Annotated[float | None, typer.Option(help="How long to go on.", show_default=False)] = None,
    seconds: Annotated[float | None, typer.Option(help="The same, in seconds.", show_default=False)] = None,
    positions: Annotated[
        int | None, typer.Option(min=1, help="Positions that the book may have.", show_default=False)
    ] = None,
    plies: Annotated[
        int | None, typer.Option(min=1, help="How many moves lines have at most.", show_default=False)
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="States that a proof of one position may visit.")] = 1_000_000,
    moves: MovesText = "",
    as_json: Json = False,
) -> None:
    """Grow an opening book: positions that good play reaches, proven where that is possible.

    Best first: the next position is the one that the best moves of both players reach soonest. The same command
    goes on with a book that is there; Ctrl-C keeps what was found. Agents play from it, one of the good moves at
    random: "alphabeta(book='connect_four.zbook')"; `zermelo tree ENV --book FILE` shows it.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo book classic/connect_four-v3 --hours 1

    [dim]$[/dim] zermelo book "zermelo/Othello-v0(rows=6, columns=6)" "alphabeta(depth=8)" --positions 500
    """
    from zermelo.agents import make_agent
    from zermelo.agents.knowledge.books import PROVEN, read_book
    from zermelo.agents.knowledge.growing import grow_book
    from zermelo.evaluation.cli.position import position_after
    from zermelo.evaluation.errors import StoreError

    path = Path(out or f"{env.rpartition('/')[2].partition('(')[0]}.zbook")
    if hours is not None:
        seconds = 3600 * hours + (seconds or 0)
    started, was_stopped = time.monotonic(), False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        live = position_after(env, moves, 0).env
        limits: dict[str, Any] = {"seconds": seconds, "positions": positions, "plies": plies}
        book = grow_book(live, path, agent=make_agent(agent), nodes=nodes, on_progress=_show, **limits)
    except KeyboardInterrupt:
        was_stopped = True
        book = read_book(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    proven = int((book.flags & PROVEN).astype(bool).sum())
    about = {"file": str(path), "game": book.about["game"], "positions": len(book), "proven": proven}
    if as_json:
        print_json(about | {"seconds": round(time.monotonic() - started, 2)})
    else:
        typer.echo(f"{len(book):,} positions of {about['game']}, {proven:,} of them proven, in {path}")
    if was_stopped:
        raise SystemExit(_INTERRUPTED)


def _show(progress: BookProgress) -> None:
    """Writes over a line on the terminal, where somebody watches."""
    if sys.stderr.isatty():
        told = f"\r\x1b[K{progress.positions:,} positions, {progress.proven:,} proven, {progress.seconds:.0f} s"
        print(told, end="", file=sys.stderr, flush=True)
