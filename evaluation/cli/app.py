"""The command and its subcommands; what they do is imported only when one of them runs."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from zermelo.envs import ZermeloError
from zermelo.evaluation.cli.arguments import INTERRUPTED
from zermelo.evaluation.match.text import kept

USER_ERROR = 2


class _Group(TyperGroup):
    """Turns this package's errors into a sentence and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ZermeloError as error:
            typer.echo(kept(f"zermelo: {error}"), err=True)
            raise SystemExit(USER_ERROR) from error
        except KeyboardInterrupt as error:
            raise SystemExit(INTERRUPTED) from error
        except BrokenPipeError:
            # Whoever read the output has had enough (`zermelo envs | head`): nothing more to say, nor to flush.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(0) from None


app = typer.Typer(
    name="zermelo",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with:  zermelo tournament classic/tictactoe-v3 random alphabeta",
)


def _version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        typer.echo(f"zermelo {importlib.metadata.version('zermelo')}")
        raise typer.Exit


@app.callback()
def _zermelo(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Game-search agents for PettingZoo and Gymnasium, and tournaments that say who is better."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line.

    Args:
        arguments: Instead of the process's own.
    """
    # What pygame would say on import does not belong in a table; worker processes inherit this.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    given = sys.argv[1:] if arguments is None else list(arguments)
    # Commands that keep a record of what was typed find it in their context.
    app(args=given, prog_name="zermelo", obj=shlex.join(["zermelo", *given]))


def _register() -> None:
    from zermelo.evaluation.cli import (
        knowledge,
        learning,
        listing,
        play,
        report,
        search,
        solve,
        standings,
        tournament,
    )

    commands: dict[str, Callable[..., None]] = {
        "tournament": tournament.tournament,
        "standings": standings.standings,
        "compare": standings.compare,
        "ladder": knowledge.ladder_command,
        "report": report.report,
        "judge": report.judge,
        "export": report.export,
        "search": search.search,
        "tree": search.tree,
        "solve": solve.solve_command,
        "exploitability": solve.exploitability_command,
        "play": play.play,
        "perft": search.perft_command,
        "tune": learning.tune_command,
        "label": learning.label_command,
        "book": knowledge.book_command,
        "table": knowledge.table_command,
        "warmup": search.warmup,
        "agents": listing.agents,
        "envs": listing.envs,
    }
    for name, command in commands.items():
        # Paragraphs without line breaks, so that help is wrapped to the terminal.
        text = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(command) or "")
        app.command(name=name, help=text)(command)


_register()
