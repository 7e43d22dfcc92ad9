"""``zermelo tournament``: every agent plays every other, and a table says who is better."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from zermelo.agents.base.limits import Limits
from zermelo.evaluation.cli import arguments, completion
from zermelo.evaluation.cli.arguments import settings_from, takes_settings
from zermelo.evaluation.cli.standings import parse_sprt, print_standings
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.tournament.settings import RunSettings, TournamentSettings
from zermelo.evaluation.workers.settings import AgentLimits

if TYPE_CHECKING:
    from zermelo.evaluation.output.standings import Standings
    from zermelo.evaluation.tournament.plan import Tournament


PAIRINGS: Final = "|".join(Pairings).replace("swiss", "swiss[:ROUNDS]")


@takes_settings(
    TournamentSettings,
    RunSettings,
    AgentLimits,
    Limits,
    left_out={"isolation", "progress", "on_game", "output_kb"},
    games=typer.Option("--games", "-n", min=1),
    seed=arguments.Seed,
    pairings=typer.Option(metavar=PAIRINGS),
    openings=Annotated[str | None, typer.Option()],
    opening_plies=typer.Option(min=0),
    sprt=Annotated[str | None, typer.Option(metavar="elo0=0,elo1=10")],
    max_moves=typer.Option(min=1),
    adjudicate=typer.Option(metavar="draw=8,win=4"),
    workers=arguments.Workers,
    out=Annotated[Path | None, typer.Option("--out", "-o", parser=arguments.folder, metavar="DIR")],
    clock=typer.Option(metavar="60+0.6"),
    memory_mb=typer.Option("--agent-memory-mb"),
)
def tournament(
    context: typer.Context,
    env: arguments.EnvText,
    agents: Annotated[list[str], typer.Argument(metavar="AGENT AGENT...", autocompletion=completion.agents)],
    *,
    judged: Annotated[bool, typer.Option("--judge")] = False,
    as_json: arguments.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
    **options: Any,
) -> None:
    """Play every agent against every other, and print who is better and how sure that is.

    --depth, --nodes, --simulations and --seconds apply to each agent that has such a limit and sets none
    itself.

    An agent that crashes or plays an illegal action loses that game, and the tournament goes on. Exit status 3
    means that an agent failed in every game, which then has no rating; 1, that a game does not count because the
    environment failed; 2, that nothing was played, as a setting is wrong or an agent cannot play this game.

    Ctrl-C prints the table so far. With --out every finished game is stored, and the same command continues.

    [bold]Examples[/bold]
    $ zermelo tournament classic/tictactoe-v3 random greedy alphabeta
    $ zermelo tournament classic/connect_four-v3 random mcts alphabeta --seconds 0.1 --workers 2
    $ zermelo tournament classic/connect_four-v3 random mypackage.mymodule:MyAgent --out results/first

    Options:
        agents: Agents, such as random or "alphabeta(depth=4)"; `zermelo agents` lists them.
        judged: Also compare every move with perfect play, where it can be proven.
        quiet: Do not show progress.
    """
    from zermelo.evaluation.errors import TournamentInterrupted
    from zermelo.evaluation.tournament.plan import Tournament
    from zermelo.evaluation.tournament.run import run

    agents = arguments.limited(agents, settings_from(Limits, options))
    settings = _settings(options)
    # Programs that read JSON may also read what is said meanwhile: nothing is, but in a terminal.
    progress = False if quiet else None if as_json else True
    how, out = settings_from(RunSettings, options, progress=progress), options["out"]
    try:
        plan = Tournament.prepare(env, agents, settings, out=out)
        standings = run(plan, how, command=str(context.obj or ""))
    except TournamentInterrupted as interrupt:
        print_standings(interrupt.standings, as_json=as_json)
        _print_folder(out, to_error=as_json)
        if out is not None and not interrupt.standings.complete:
            typer.echo("The same command again plays the rest.", err=as_json)
        raise typer.Exit(128 + interrupt.number) from interrupt
    print_standings(standings, as_json=as_json)
    _print_folder(out, to_error=as_json)
    if judged:
        _print_judged(plan, standings, out, to_error=as_json)
    if standings.unrated:
        raise typer.Exit(3)
    if standings.results.void:
        raise typer.Exit(1)


def _settings(options: Mapping[str, Any]) -> TournamentSettings:
    openings, plies = options["openings"], options["opening_plies"] or None
    if openings is None:
        openings, plies = plies, None
    return settings_from(
        TournamentSettings, options, openings=openings, opening_plies=plies,
        sprt=None if options["sprt"] is None else parse_sprt(options["sprt"]),
        isolation=settings_from(AgentLimits, options, hang_seconds=options["hang_seconds"] or None),
    )  # fmt: skip


def _print_folder(out: Path | None, *, to_error: bool) -> None:
    if out is not None:
        typer.echo(f"Games and standings are in {out}", err=to_error)


def _print_judged(plan: Tournament, standings: Standings, out: Path | None, *, to_error: bool) -> None:
    from zermelo.evaluation.analysis.judge import judge
    from zermelo.evaluation.cli.report import exploited, judge_folder

    env = str(plan.env)
    if out is not None:
        judgement: Any = judge_folder(out, env=env, trust=True)  # whoever gave the agents has them run
    else:
        agents = {participant.name: str(participant.source) for participant in plan.participants}
        judgement = exploited(env, agents, trust=True) or judge(standings.records, env)
    typer.echo(f"\n{judgement}", err=to_error)
