"""The command and its subcommands; what they do is imported only when one of them runs."""

from __future__ import annotations

import enum
import errno
import functools
import inspect
import os
import re
import shlex
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from zermelo.envs.errors import InvalidSettingError, UnknownNameError, ZermeloError
from zermelo.envs.live.failures import place_of
from zermelo.envs.support.spec_text import did_you_mean, unknown_choice, unknown_setting
from zermelo.evaluation.cli import arguments
from zermelo.evaluation.cli.arguments import INTERRUPTED
from zermelo.evaluation.match.text import kept

USER_ERROR = 2
USAGE: Final[type[Any]] = typer.BadParameter.__mro__[1]  # the parent of all errors of the parser
_WORDS: Final = {int: "a whole number", float: "a number", Path: "the name of a file or folder"}


class _Command(TyperCommand):
    """A command whose arguments are refused by a sentence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[arguments.TYPED] = typed = list(args)
        try:
            return super().parse_args(ctx, args)
        except USAGE as error:
            if ctx.resilient_parsing:
                raise
            raise _mistake(error, self, ctx, typed) from None


class _Group(TyperGroup):
    """Turns errors into a sentence and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if "--debug" in args[:end]:  # wherever it stands it is this group's
            args = ["--debug", *(one for place, one in enumerate(args) if one != "--debug" or place > end)]
        try:
            return super().parse_args(ctx, list(args))
        except USAGE as error:
            if not args or ctx.resilient_parsing:
                raise  # the help, where nothing was asked for
            raise _refusal(_mistake(error, self, ctx, args)) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not ctx.resilient_parsing and args[0] not in self.commands:
            hint = did_you_mean(args[0], list(self.commands)) or f"there are {', '.join(self.commands)}"
            raise UnknownNameError(f"no command is called {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = functools.partial(_show_warning, set())
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise SystemExit(INTERRUPTED) from error
        except BrokenPipeError:
            _drop_output()  # whoever read it has had enough (`zermelo envs | head`)
            raise SystemExit(0) from None
        except (typer.Exit, typer.Abort, USAGE):
            raise
        except Exception as error:
            if ctx.params["debug"]:
                traceback.print_exception(error)
            raise _refusal(error) from error


def _drop_output() -> None:
    """Leaves nothing to flush when the process ends, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refusal(error: Exception) -> SystemExit:
    """Says what was wrong: an error of this package by its message, any other with the line that it comes from."""
    text = str(error)
    if not isinstance(error, ZermeloError):
        text = f"{type(error).__name__}{f': {text}' if text else ''}{place_of(error)}; --debug shows the traceback"
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            where = repr(error.filename) if error.filename else "what this command writes"
            text = f"there is no space left for {where}: make room, and give the command again"
            if not error.filename:
                _drop_output()
    typer.echo(kept(f"zermelo: {text}"), err=True)
    return SystemExit(USER_ERROR)


_OURS = tuple(str(Path(__file__).parents[2] / folder / "") for folder in ("envs", "agents", "evaluation"))


def _show_warning(
    said: set[str],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: Any = None,
) -> None:
    """Says in a line, once a command, what this package warns of; what others warn of is shown as Python does."""
    if category.__module__.startswith("zermelo.") or filename.startswith(_OURS):
        text = kept(f"zermelo: {message}")
        if text not in said:
            said.add(text)
            typer.echo(text, err=True)
    else:
        typer.echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)


def _mistake(error: Any, command: Any, context: Any, typed: Sequence[str]) -> ZermeloError:
    """What the parser refuses of a command and its arguments as they were typed, as a sentence."""
    name, param = command.name, getattr(error, "param", None)
    usage = " ".join(["zermelo", *[name] * (context.parent is not None), "--help"])
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        options = [option for each in command.get_params(context) for option in each.opts if option[:2] == "--"]
        return unknown_setting(name, error.option_name, options, "has no option", "its options are")
    if hasattr(error, "param_type"):  # it is missing
        return InvalidSettingError(f"{name} needs {_called(param)}: `{usage}` says more")
    if param is not None:
        return _wrong_value(command, context, param, typed)
    message = str(error.message).rstrip(".")
    return InvalidSettingError(f"{name}: {message[:1].lower()}{message[1:]}; `{usage}` says more")


def _wrong_value(command: Any, context: Any, param: Any, typed: Sequence[str]) -> InvalidSettingError:
    values = command.make_parser(context).parse_args(args=list(typed))[0].get(param.name)
    value = values if isinstance(values, str) or not values else values[-1]
    hint = get_type_hints(inspect.unwrap(command.callback), include_extras=True)[param.name]
    kind = next(_plain_types(hint), str)
    if issubclass(kind, enum.Enum):
        return unknown_choice(_called(param), value, [member.value for member in kind])
    wanted = _WORDS.get(kind, "text")
    for about in getattr(hint, "__metadata__", ()):
        lower, upper = getattr(about, "min", None), getattr(about, "max", None)
        if lower is not None and upper is not None:
            wanted += f" from {lower:g} to {upper:g}"
        elif lower is not None or upper is not None:
            wanted += f" of at least {lower:g}" if upper is None else f" of at most {upper:g}"
    return InvalidSettingError(f"{_called(param)} is {wanted}, not {value!r}")


def _called(param: Any) -> str:
    """A parameter as it is typed: ``--games``, ``ENV``."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper()).strip("[].")
    return str(max(param.opts, key=len))


def _plain_types(hint: Any) -> Iterator[type]:
    """The classes of an annotation such as ``Annotated[list[int] | None, ...]``, but for None."""
    if get_origin(hint) in (types.UnionType, Union, list) or hasattr(hint, "__metadata__"):
        for part in get_args(hint)[: 1 if hasattr(hint, "__metadata__") else None]:
            yield from _plain_types(part)
    elif isinstance(hint, type) and hint is not type(None):
        yield hint


app = typer.Typer(
    name="zermelo", cls=_Group, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with:  zermelo tournament classic/tictactoe-v3 random alphabeta",
)  # fmt: skip


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
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error, for every command.")
    ] = False,
) -> None:
    """Game-search agents for PettingZoo and Gymnasium, and tournaments that say who is better."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line, with the process's own arguments where none are given."""
    # What pygame would say on import does not belong in a table; worker processes inherit this.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    given = sys.argv[1:] if arguments is None else list(arguments)
    # Commands that keep a record of what was typed find it in their context.
    app(args=given, prog_name="zermelo", obj=shlex.join(["zermelo", *given]))


def _register() -> None:
    from zermelo.evaluation.cli import (
        attack,
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

    commands: tuple[Callable[..., None], ...] = (
        tournament.tournament, standings.standings, standings.compare, knowledge.ladder_command, report.report,
        report.judge, report.export, search.search, search.tree, solve.solve_command, solve.exploitability_command,
        attack.attack_command, play.play, search.perft_command, learning.tune_command, learning.label_command,
        learning.evaluate_command, learning.rate_command, knowledge.book_command, knowledge.table_command,
        search.warmup, listing.agents, listing.envs,
    )  # fmt: skip
    for command in commands:
        # Paragraphs without line breaks, so that help is wrapped to the terminal; each example is one.
        text = re.sub(r"\n\$ ", "\n\n[dim]$[/dim] ", arguments.explained(command))
        text = re.sub(r"(?<!\n)\n(?!\n)", " ", text)
        app.command(name=command.__name__.removesuffix("_command"), cls=_Command, help=text)(command)


_register()
