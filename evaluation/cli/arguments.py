"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
Seed = Annotated[int, typer.Option("--seed", "-s", min=0, help="Decides everything random.")]
