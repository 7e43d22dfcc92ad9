"""``zermelo table``: perfect play from every position of an ending."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.evaluation.cli.arguments import EnvText, Json, MovesText, print_json

if TYPE_CHECKING:
    from zermelo.agents.knowledge.making import TableProgress

_INTERRUPTED = 130


def table_command(
    env: EnvText,
    pieces: Annotated[
        str | None,
        typer.Option(help="Chess: so many pieces at most, or an ending such as KBNK.", show_default=False),
    ] = None,
    stones: Annotated[
        int | None, typer.Option(min=1, help="Kalah: so many seeds in houses at most.", show_default=False)
    ] = None,
    empty: Annotated[
        int | None, typer.Option(min=0, help="So many empty squares, or lines, at most.", show_default=False)
    ] = None,
    states: Annotated[
        int | None, typer.Option(min=1, help="All that is reached: at most so many.", show_default=False)
    ] = None,
    moves: MovesText = "",
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The file to write.", show_default=False)
    ] = "",
    memory_mb: Annotated[
        float | None, typer.Option(help="Memory to use, in MiB; half of what is free.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Make an endgame table: the outcome of every position of an ending, and how soon it comes.

    Moves are taken back from all ends of the game (retrograde analysis), and every entry is then checked against
    those that its moves lead to. Killed, the same command goes on after the last part that was finished. Agents
    take what a table knows for proven: "alphabeta(tables='kqk.ztable')".

    Tables count repeated positions as a draw where the game does, and know nothing of the fifty-move rule:
    searches use a win only where it comes in time.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo table classic/chess-v6 --pieces KQK --out kqk.ztable

    [dim]$[/dim] zermelo table zermelo/Kalah-v0 --stones 8

    [dim]$[/dim] zermelo table classic/tictactoe-v3 --states 10000
    """
    from zermelo.agents.knowledge.making import make_table
    from zermelo.evaluation.cli.position import position_after
    from zermelo.evaluation.errors import StoreError

    path = Path(out or f"{env.rpartition('/')[2].partition('(')[0]}.ztable")
    asked: dict[str, Any] = {"pieces": pieces, "stones": stones, "empty": empty, "states": states}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        game = position_after(env, moves, 0).env
        made = make_table(game, path, **asked, memory_mb=memory_mb, on_progress=_show)
    except KeyboardInterrupt:
        typer.echo("zermelo: stopped; the same command goes on from the parts that are finished", err=True)
        raise SystemExit(_INTERRUPTED) from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    about: dict[str, Any] = {
        "file": str(path),
        "game": made.table.about["game"],
        "positions": len(made.table),
        "undecided": made.undecided,
        "bytes": made.size,
        "seconds": round(made.seconds, 2),
    }
    if as_json:
        print_json(about | {"parts": [dataclasses.asdict(part) for part in made.figures]})
        return
    for part in made.figures:
        longest = f", wins in {part.longest} moves at most" if part.longest else ""
        typer.echo(f"{part.part:12} {part.won:>11,} won {part.drawn:>11,} drawn {part.lost:>11,} lost{longest}")
    typer.echo(
        f"{len(made.table):,} positions of {about['game']}, each checked, in {path} ({made.size / 1e6:.2f} MB, "
        f"{made.seconds:.1f} s)"
    )
    if made.undecided:
        typer.echo(f"{made.undecided:,} more are left out: play from them may go round for ever")


def _show(progress: TableProgress) -> None:
    """Writes over a line on the terminal, where somebody watches."""
    if sys.stderr.isatty():
        of = f" of {progress.positions:,}" if progress.positions else ""
        told = f"\r\x1b[K{progress.part}: {progress.done:,}{of} positions, {progress.seconds:.0f} s"
        print(told, end="", file=sys.stderr, flush=True)
