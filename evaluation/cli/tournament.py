"""``zermelo tournament``: every agent plays every other, and a table says who is better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.evaluation.cli import arguments, completion
from zermelo.evaluation.cli.standings import print_standings
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.workers import Isolate, RunnerChoice

if TYPE_CHECKING:
    from zermelo.evaluation.output.standings import Standings
    from zermelo.evaluation.tournament.plan import Tournament


def tournament(
    context: typer.Context,
    env: arguments.EnvText,
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT AGENT...",
            help='Agents, such as random or "alphabeta(depth=4)"; `zermelo agents` lists them.',
            autocompletion=completion.agents,
        ),
    ],
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="Games for each pairing; seats rotate.")] = 10,
    depth: arguments.Depth = None,
    nodes: arguments.Nodes = None,
    simulations: arguments.Simulations = None,
    seconds: arguments.Seconds = None,
    seed: arguments.Seed = 0,
    workers: arguments.Workers = None,
    runner: arguments.Runner = RunnerChoice.LOCAL,
    ray_address: arguments.RayAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=arguments.folder,
            metavar="DIR",
            help="A folder for the games and standings; the same command again plays the missing games.",
        ),
    ] = None,
    schedule: Annotated[
        Pairings, typer.Option(help="Every agent plays every other, or the first agent all others (gauntlet).")
    ] = Pairings.ROUND_ROBIN,
    opening_plies: Annotated[
        int,
        typer.Option(
            min=0,
            help="Random moves at the start of each game; each opening is played from every seat. With "
            "--openings, the first so many moves of each.",
        ),
    ] = 0,
    openings: Annotated[
        str | None,
        typer.Option(
            help="A file of openings: PGN, SGF, or one a line as a position (FEN, EPD) or as moves, by name or by "
            "number (e4 e5 Nf3, e2e4,e7e5, 3,2,4); book:FILE takes them from an opening book.",
        ),
    ] = None,
    until_sure: Annotated[
        bool, typer.Option("--until-sure", help="Stop before --games when the leader is known.")
    ] = False,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="elo0=0,elo1=10",
            help="For two agents: stop when a sequential test has decided; takes alpha= and beta= too.",
        ),
    ] = None,
    anchor: Annotated[
        str | None,
        typer.Option(
            help="The agent with rating 0; by default random if it plays, else the average is 0.",
        ),
    ] = None,
    score: Annotated[
        Scoring,
        typer.Option(
            help="Rank by wins, by rewards such as chips, or by the team's score in cooperative games; auto takes "
            "rewards if games pay amounts, else wins."
        ),
    ] = Scoring.AUTO,
    skip_unfit: Annotated[
        bool, typer.Option("--skip-unfit", help="Leave out agents that cannot play this game, and say so.")
    ] = False,
    max_moves: Annotated[
        int, typer.Option(min=1, help="Longer games end there, with the rewards so far.")
    ] = 100_000,
    isolate: Annotated[
        Isolate,
        typer.Option(
            help="Agents that get a process of their own: all; own (those named module:factory, learned ones, and "
            "with a limit on time or memory all but random); none."
        ),
    ] = Isolate.OWN,
    move_seconds: Annotated[
        float | None, typer.Option(help="Time limit for a move; an agent that takes longer loses.")
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(
            metavar="60+0.6",
            help="Time for a whole game and increment per move, in seconds. Agents that manage their time "
            "are told; one that runs out loses.",
        ),
    ] = None,
    ponder: Annotated[
        bool,
        typer.Option("--ponder", help="Agents think on the opponent's time too, each in a process of its own."),
    ] = False,
    start_seconds: Annotated[
        float, typer.Option(help="Time limit for starting an agent or engine, and for getting ready for a game.")
    ] = 60.0,
    agent_memory_mb: Annotated[
        int | None,
        typer.Option(help="Memory limit of an agent's process; an agent that takes more loses."),
    ] = None,
    hang_seconds: Annotated[
        float,
        typer.Option(help="A move that takes longer counts as a hang and loses; 0 waits for ever."),
    ] = 600.0,
    judged: Annotated[
        bool, typer.Option("--judge", help="Also compare every move with perfect play, where it can be proven.")
    ] = False,
    as_json: arguments.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
) -> None:
    """Play every agent against every other, and print who is better and how sure that is.

    --depth, --nodes, --simulations and --seconds apply to each agent that has such a limit and sets none
    itself.

    An agent that crashes or plays an illegal action loses that game, and the tournament goes on. Exit status 3
    means that an agent failed in every game, which then has no rating; 1, that a game does not count because the
    environment failed; 2, that nothing was played, as a setting is wrong or an agent cannot play this game.

    Ctrl-C prints the table so far. With --out every finished game is stored, and the same command continues.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo tournament classic/tictactoe-v3 random greedy alphabeta

    [dim]$[/dim] zermelo tournament classic/connect_four-v3 random mcts alphabeta --seconds 0.1 --workers 2

    [dim]$[/dim] zermelo tournament classic/connect_four-v3 random mypackage.mymodule:MyAgent --out results/first
    """
    from zermelo.evaluation.cli.standings import parse_sprt
    from zermelo.evaluation.errors import TournamentInterrupted
    from zermelo.evaluation.tournament.plan import Tournament
    from zermelo.evaluation.tournament.run import run
    from zermelo.evaluation.workers import Isolation

    agents = arguments.with_limits(agents, depth=depth, nodes=nodes, simulations=simulations, seconds=seconds)
    isolation = Isolation(
        isolate=isolate,
        move_seconds=move_seconds,
        clock=clock,
        start_seconds=start_seconds,
        memory_mb=agent_memory_mb,
        hang_seconds=hang_seconds or None,
        ponder=ponder,
    )
    try:
        plan = Tournament.prepare(
            env,
            agents,
            games=games,
            seed=seed,
            pairings=schedule,
            openings=opening_plies if openings is None else openings,
            opening_plies=None if openings is None else opening_plies or None,
            out=out,
            until_sure=until_sure,
            sprt=None if sprt is None else parse_sprt(sprt),
            max_moves=max_moves,
            isolation=isolation,
            anchor=anchor,
            score=score,
            skip_unfit=skip_unfit,
        )
        # Programs that read JSON may also read what is said meanwhile: nothing is, but in a terminal.
        progress = False if quiet else None if as_json else True
        standings = run(
            plan,
            workers=workers,
            runner=runner,
            ray_address=ray_address,
            out=out,
            progress=progress,
            command=str(context.obj or ""),
        )
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


def _print_folder(out: Path | None, *, to_error: bool) -> None:
    if out is not None:
        typer.echo(f"Games and standings are in {out}", err=to_error)


def _print_judged(plan: Tournament, standings: Standings, out: Path | None, *, to_error: bool) -> None:
    from zermelo.evaluation.analysis.judge import judge
    from zermelo.evaluation.cli.report import exploited, judge_folder

    env = str(plan.env)
    if out is not None:
        found: Any = judge_folder(out, env=env, trust=True)  # whoever gave the agents has them run
    else:
        agents = {participant.name: str(participant.source) for participant in plan.participants}
        found = exploited(env, agents, trust=True) or judge(standings.records, env)
    typer.echo(f"\n{found}", err=to_error)
