"""``zermelo agents`` and ``zermelo envs``: what there is to name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from zermelo.agents.specs import Setting, describe_agent, describe_settings, list_agents
from zermelo.envs.registration.registry import list_envs
from zermelo.envs.support.spec_text import Spec
from zermelo.evaluation.cli import completion
from zermelo.evaluation.cli.arguments import Json, print_json


def agents(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", autocompletion=completion.agents)] = None,
    as_json: Json = False,
) -> None:
    """List the agents, or explain the settings of one.

    Settings go in brackets, as in [bold]"alphabeta(depth=4, ties='first')"[/bold]. An agent of your own is
    [bold]module:name(...)[/bold], a class or a function that makes one.

    [bold]Example[/bold]
    $ zermelo agents alphabeta

    Options:
        name: An agent, to explain its settings.
    """
    entries = list_agents(learned=True)
    if name is not None:
        described = describe_settings(name)
        if as_json:
            values = [str(one.default) if isinstance(one.default, Spec) else one.default for one in described]
            print_json([one._asdict() | {"default": value} for one, value in zip(described, values, strict=True)])
            return
        [limit, *_] = [setting.name for setting in described if setting.name in completion.EXAMPLES] or [""]
        example = f"{name}({limit}={completion.EXAMPLES[limit]})" if limit else name
        summary = describe_agent(name).replace("``", "")
        typer.echo(summary if f"{name}(" in summary else f"{summary}\n\nFor example: {example}")
        typer.echo()
        _print([_explained(setting) for setting in described])
        return
    if as_json:
        print_json([{"name": one.name, "summary": one.summary, "settings": list(one.settings)} for one in entries])
        return
    _print([(entry.name, entry.summary.replace("``", "")) for entry in entries])


def _explained(setting: Setting) -> tuple[str, str]:
    """A setting with its default, and a sentence on it, with its allowed values if that does not name them."""
    text, default = setting.text.replace("``", "").removesuffix("."), setting.default
    is_named = all(value in text for value in setting.allowed.split(" or "))
    shown = Spec(default.name) if isinstance(default, Spec) else default
    return f"{setting.name}={shown}", f"{text}." if is_named else f"{text} ({setting.allowed})."


def envs(as_json: Json = False) -> None:
    """List the environments, and which of them are installed.

    Besides these: any id in Gymnasium's registry, any OpenSpiel game as [bold]openspiel/NAME[/bold], and your own
    as [bold]module:function[/bold].

    [bold]Example[/bold]
    $ zermelo envs | grep classic
    """
    if as_json:
        print_json([{"name": entry.name, "summary": entry.summary} for entry in list_envs()])
        return
    _print([(entry.name, entry.summary) for entry in list_envs()])


def _print(lines: Iterable[tuple[str, str]]) -> None:
    """Two columns; the second is folded to the terminal's width, and not at all in a pipe."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        for name, text in lines:
            typer.echo(f"{name}\t{text}")
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, text in lines:
        table.add_row(name, text)
    console.print(table, highlight=False, markup=False)
