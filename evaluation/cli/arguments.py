"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["AgentText", "EnvText", "MovesText", "Seed"]

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
        "--moves", "-m", help="Actions to play first, from the start, such as 3,3,2.", show_default=False
    ),
]
Seed = Annotated[int, typer.Option("--seed", "-s", min=0, help="Decides everything random.")]
