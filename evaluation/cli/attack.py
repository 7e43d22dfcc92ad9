"""``zermelo attack``: how a policy is beaten by who asks it what it will play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.evaluation.cli import arguments, completion
from zermelo.evaluation.cli.arguments import settings_from, takes_settings
from zermelo.evaluation.tournament.settings import AttackSettings, RunSettings


@takes_settings(
    AttackSettings,
    RunSettings,
    left_out={
        "pairings", "adjudicate", "openings", "until_sure", "sprt", "isolation", "anchor", "score", "skip_unfit",
        "progress", "on_game",
    },
    games=typer.Option("--games", "-n", min=1),
    seed=arguments.Seed,
    opening_plies=Annotated[int, typer.Option(min=0, help="Random moves at the start of each game.")],
    max_moves=typer.Option(min=1),
    asks=typer.Option(min=1),
    states=typer.Option(min=0),
    workers=arguments.Workers,
    out=Annotated[Path | None, typer.Option("--out", "-o", parser=arguments.folder, metavar="DIR")],
)  # fmt: skip
def attack_command(
    context: typer.Context,
    env: arguments.EnvText,
    policy: Annotated[str, typer.Argument(metavar="POLICY", autocompletion=completion.agents)],
    agent: Annotated[str, typer.Argument(metavar="AGENT", autocompletion=completion.agents)] = "auto",
    *,
    as_json: arguments.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
    **options: Any,
) -> None:
    """Show how a policy is beaten: by a search that asks it what it will play, a best response.

    AGENT searches a game in which POLICY's moves are chance, with the probabilities that POLICY gives when it is
    asked in each position of the search. The table has the points that this wins from POLICY, and those that AGENT
    wins without asking, from the same seats and with the same seeds; the difference, with its interval; the value
    of the game for good players, where it is known; and, in games with few states, what the exact best response
    wins. POLICY has all seats but one.

    The probabilities of a policy that gives them, or always plays the same, are exact. A policy that draws its
    moves is asked several times (--asks), which estimates them. It is asked without memory of the game. Where
    cards are hidden, AGENT sees no more than a player does, and judges POLICY's cards by its moves so far.

    Asking takes time: give AGENT simulations, nodes or a depth, and not seconds, to compare the two searches at
    equal work.

    Ctrl-C prints the table so far. With --out every finished game is stored, the same command continues, and
    `zermelo report DIR` shows the table and the games.

    [bold]Examples[/bold]
    $ zermelo attack classic/connect_four-v3 greedy "mcts(simulations=500)" --games 40
    $ zermelo attack classic/leduc_holdem-v4 ppo.zip "ismcts(simulations=500)" --out results/attack
    $ zermelo attack classic/tictactoe-v3 "policy(policy='mymodule:play')" value_iteration

    Options:
        policy: The agent to beat, such as ppo.zip or "alphabeta(depth=2)"; `zermelo agents` lists them.
        agent: The agent that searches, by default auto with a second a move.
        quiet: Do not show progress.
    """
    from zermelo.evaluation.training.attacking import AttackInterrupted, run_attack

    settings = settings_from(
        AttackSettings, options, openings=options["opening_plies"] or None, opening_plies=None
    )
    how = settings_from(RunSettings, options, progress=False if quiet else None if as_json else True)
    try:
        found = run_attack(env, policy, agent, settings, how, command=str(context.obj or ""))
    except AttackInterrupted as interrupt:
        arguments.print_table(interrupt.attack, as_json=as_json)
        if how.out is not None:
            typer.echo("The same command again plays the rest.", err=True)
        raise typer.Exit(128 + interrupt.number) from interrupt
    arguments.print_table(found, as_json=as_json)
    if how.out is not None:
        typer.echo(f"Games and tables are in {how.out}: `zermelo report {how.out}` shows them", err=as_json)
