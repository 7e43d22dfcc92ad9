"""``zermelo tune``: an evaluation of any game, fitted to games that it plays against itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from zermelo.evaluation.cli.arguments import EnvText, Seed

if TYPE_CHECKING:
    from zermelo.evaluation.training.tuning import Round

_INTERRUPTED = 130


def tune_command(
    env: EnvText,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The file to write, ending in .json.")
    ] = "evaluation.json",
    features: Annotated[
        str,
        typer.Option(
            help="patterns: small windows of the board; observation: all numbers that players are shown; "
            "module:name: a dictionary of functions of game and state; auto: patterns where there is a board."
        ),
    ] = "auto",
    games: Annotated[int, typer.Option(min=10, help="Games of self-play in each round.")] = 1_000,
    rounds: Annotated[int, typer.Option(min=1, help="How often to play and fit.")] = 4,
    mixed: Annotated[
        float,
        typer.Option("--lambda", min=0.0, max=1.0, help="1: how games end; 0: what the next position is worth."),
    ] = 0.7,
    ridge: Annotated[
        float | None,
        typer.Option(
            help="How strongly weights are held where they begin: as so many positions would. By default what is "
            "best on the games kept apart.",
            show_default=False,
        ),
    ] = None,
    match: Annotated[
        int, typer.Option(min=0, help="Games against the same search without the file; 0 for none.")
    ] = 100,
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="That both search in those games. By default 2, where somebody has written an evaluation.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="That both have for a move, instead. By default 0.5, where nobody has: without one the search "
            "plays games out, and takes far longer for the same depth.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Fit an evaluation to a game by self-play, for search agents to use: alphabeta(evaluator="FILE").

    Nobody need have written anything about the game: features are read off what its players are shown. For games
    of one player, or of two with opposed interests, with nothing hidden. The first round plays with the evaluation
    that has been written, if there is one, else at random; each later one with what was learned. The losses are on
    a tenth of the games that is kept apart.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo tune zermelo/Othello-v0 --games 5000 --out othello.json

    [dim]$[/dim] zermelo tune classic/connect_four-v3 --games 300 --rounds 3

    [dim]$[/dim] zermelo search zermelo/Othello-v0 "alphabeta(depth=3, evaluator='othello.json')"
    """
    from rich.console import Console
    from rich.progress import Progress

    from zermelo.evaluation.training.tuning import tune

    told: list[Round] = []
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        tasks = {}

        def on_game(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], completed=done)

        def on_round(one: Round) -> None:
            if not told:
                typer.echo(f"{'round':>5}{'games':>8}{'positions':>11}{'loss':>9}{'by the average':>16}")
            told.append(one)
            typer.echo(f"{one.number:5}{one.games:8,}{one.positions:11,}{one.loss:9.4f}{one.average:16.4f}")
            sys.stdout.flush()

        try:
            tuned = tune(
                env,
                out=out,
                features=features,
                games=games,
                rounds=rounds,
                mixed=mixed,
                ridge=ridge,
                match=match,
                depth=depth,
                seconds=seconds,
                seed=seed,
                on_game=on_game,
                on_round=on_round,
            )
        except KeyboardInterrupt:
            kept = f"{out} has the weights of round {len(told)}" if told else "nothing was written"
            typer.echo(f"zermelo: stopped; {kept}", err=True)
            raise SystemExit(_INTERRUPTED) from None
    typer.echo(f"{tuned.evaluator.features.size:,} weights of {tuned.evaluator.features.kind} in {out}")
    if tuned.against is not None:
        typer.echo(f"{tuned.against[0]} against {tuned.against[1]}:")
        typer.echo(f"  {tuned.wins} won, {tuned.draws} drawn, {tuned.losses} lost   {tuned.elo}")
