"""Arguments that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from zermelo.agents.specs import describe_settings
from zermelo.envs import InvalidSettingError
from zermelo.envs.spec_text import Spec, parse_spec


def folder(text: str | Path) -> Path:
    """A folder by its name; an empty one is no name, though ``pathlib`` takes it for the current folder."""
    if not str(text):
        raise typer.BadParameter("it is empty: name a folder")
    return Path(text)


Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Results folder (the tournament's --out).", show_default=False)
]
EnvText = Annotated[
    str,
    typer.Argument(
        metavar="ENV",
        help="An environment, such as classic/connect_four-v3; `zermelo envs` lists them.",
        show_default=False,
    ),
]
AgentText = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        help='An agent, such as "alphabeta(depth=4)"; `zermelo agents` lists them.',
        show_default=False,
    ),
]
MovesText = Annotated[
    str,
    typer.Option(
        "--moves",
        "-m",
        help="Moves to play first, from the start: 3,3,2 (numbers of actions) or e4,e5,Nf3.",
        show_default=False,
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Import the module that the games' environment names (module:function), and so run its code.",
    ),
]
Depth = Annotated[int | None, typer.Option("--depth", help="Moves to look ahead, for agents that have a depth.")]
Nodes = Annotated[int | None, typer.Option("--nodes", help="States that a search may visit.")]
Simulations = Annotated[int | None, typer.Option("--simulations", help="Simulations of a Monte Carlo search.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Seconds that a search may take for a move.")]
Tables = Annotated[
    str | None,
    typer.Option("--tables", metavar="FILE", help="An endgame table (`zermelo table`).", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Seed = Annotated[int, typer.Option("--seed", "-s", min=0, help="Decides everything random.")]


def print_json(value: object) -> None:
    """Prints plain values and dataclasses as one line of JSON; infinities and nan become null."""
    typer.echo(msgspec.json.encode(value).decode())


def with_limits(
    agents: Sequence[str],
    *,
    depth: int | None = None,
    nodes: int | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
) -> list[str]:
    """The texts of agents, with these limits added to each that has such a setting and does not give it itself.

    Raises:
        InvalidSettingError: No agent takes one of the limits.
    """
    options = {"depth": depth, "nodes": nodes, "simulations": simulations, "seconds": seconds}
    limits = {name: value for name, value in options.items() if value is not None}
    if not limits:
        return list(agents)
    limited: list[str] = []
    used: set[str] = set()
    for text in agents:
        spec = parse_spec(text)
        known = set() if ":" in spec.name else {setting.name for setting in describe_settings(spec.name)}
        added = {name: value for name, value in limits.items() if name in known and name not in spec.arguments}
        used.update(added)
        limited.append(str(Spec(spec.name, {**spec.arguments, **added})) if added else text)
    if unused := [name for name in limits if name not in used]:
        raise InvalidSettingError(
            f"--{unused[0]} limits none of these agents ({', '.join(agents)}): they have no such setting, or give "
            f"their own; `zermelo agents NAME` lists an agent's settings"
        )
    return limited
