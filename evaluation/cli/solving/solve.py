"""``zermelo solve``: who wins a position, by how much and how soon."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.evaluation.cli.arguments import (
    INTERRUPTED,
    EnvText,
    Json,
    LiveLine,
    MovesText,
    Seed,
    Tables,
    position_after,
    print_json,
)

if TYPE_CHECKING:
    from zermelo.agents import Solution, SolvingProgress

_PATIENCE = 10.0
"""Seconds before the command says how to limit it."""
_MOST_STATES = 1_000_000
_MOST_VALUES = 3_000_000
"""Pig to 100 has two million states."""


def solve_command(
    env: EnvText,
    moves: MovesText = "",
    outcome_only: Annotated[
        bool, typer.Option("--outcome-only", help="Only who wins, not the value of every action: quicker.")
    ] = False,
    nodes: Annotated[int | None, typer.Option(min=1, help="Limit on visited states.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Time limit, in seconds.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads that search together.")] = 1,
    memory_mb: Annotated[float, typer.Option(help="Memory for the table, in MiB.")] = 16,
    policy: Annotated[
        str,
        typer.Option(metavar="FILE", help="Also write the optimal actions of every state.", show_default=False),
    ] = "",
    plan: Annotated[
        str, typer.Option(help="States in the policy: seat (those that its player can reach by it) or full.")
    ] = "seat",
    states: Annotated[
        int | None,
        typer.Option(min=1, help="Limit on states; by default 1,000,000 in a policy, 3,000,000 with chance."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="With chance, or one player: how far off a value may be (1e-9). With hidden cards: what a player "
            "may gain against the policy (0.001).",
        ),
    ] = None,
    as_json: Json = False,
    tables: Tables = None,
    method: Annotated[
        str, typer.Option(help="auto, alpha_beta, or proof_number, which is quick at mates.")
    ] = "auto",
    seed: Seed = 0,
) -> None:
    """Solve a position: who wins, the exact value of every action, moves to the end.

    For two players with opposed interests. The value is for the player to move, in the game's own rewards.
    Exit code 1 means that a limit was reached before the proof.

    Games with known chances, such as Pig, and games for one player are solved by value iteration: the value of
    best play, to within --tolerance. --outcome-only, --nodes, --seconds, --threads and --memory-mb do not
    apply to them.

    For small two-player games with hidden cards, such as Kuhn and Leduc poker, the result is a policy near an
    equilibrium: how much a player could gain against it, and bounds on the value of the game. --moves,
    --outcome-only, --nodes, --threads, --memory-mb, --plan and --states do not apply to them.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo solve classic/tictactoe-v3 --moves 0

    [dim]$[/dim] zermelo solve classic/tictactoe-v3 --policy tictactoe.jsonl --plan full

    [dim]$[/dim] zermelo solve classic/connect_four-v3 --moves 3,3,3,3,3,1 --outcome-only

    [dim]$[/dim] zermelo solve "zermelo/Pig-v0(target=20)" --policy pig.jsonl --plan full

    [dim]$[/dim] zermelo solve classic/leduc_holdem-v4 --tolerance 0.01 --policy leduc.jsonl
    """
    from zermelo.agents import Plan, solve, solve_policy
    from zermelo.agents.core.settings import check_choice
    from zermelo.agents.solving.solve import is_solved_by_policy, is_solved_by_values
    from zermelo.envs import InvalidSettingError, as_game
    from zermelo.evaluation.cli.solving.equilibrium import solve_by_policy
    from zermelo.evaluation.cli.solving.solve_values import solve_values

    covered = check_choice("plan", plan, Plan)
    driver = position_after(env, moves, seed)
    game = as_game(driver.env)
    state = game.snapshot(driver.env)
    live, spent, what = LiveLine(), "", "actions"

    def show(progress: SolvingProgress) -> None:
        nonlocal spent
        spent = f" ({progress.nodes:,} nodes, {progress.seconds:.1f} s)"
        live.show(f"solving{spent}, {progress.actions_solved} of {progress.actions} {what}")

    advice = f"zermelo: still solving {env}; --seconds limits that, and Ctrl-C ends it"
    patience = threading.Timer(_PATIENCE, typer.echo, [advice], {"err": True})
    patience.daemon = True
    patience.start()
    try:
        if is_solved_by_policy(game):
            if moves or outcome_only or nodes is not None:
                raise InvalidSettingError(
                    f"{env} has hidden information, so it is solved from its start: leave out --moves, "
                    "--outcome-only and --nodes, or use --tolerance and --seconds"
                )
            gain = 1e-3 if tolerance is None else tolerance
            solve_by_policy(env, game, tolerance=gain, seconds=seconds, policy=policy, as_json=as_json)
            return
        if is_solved_by_values(game.traits):
            if outcome_only or nodes is not None or seconds is not None:
                raise InvalidSettingError(
                    f"{env} is solved by value iteration, which has none of --outcome-only, --nodes and "
                    "--seconds: leave them out, or use --tolerance and --states"
                )
            solve_values(
                env,
                moves,
                game,
                state,
                tolerance=1e-9 if tolerance is None else tolerance,
                most_states=states or _MOST_VALUES,
                policy=policy,
                plan=covered,
                as_json=as_json,
            )
            return
        solution = solve(
            game,
            state,
            outcome_only=outcome_only,
            nodes=nodes,
            seconds=seconds,
            threads=threads,
            memory_mb=memory_mb,
            tables=tables,
            method=method,
            on_progress=show,
        )
        if policy and solution.proven:
            what = "states"
            most = states or _MOST_STATES
            table = solve_policy(game, state, plan=covered, most_states=most, on_progress=show)
            table.save(policy)
    except KeyboardInterrupt:
        live.clear()
        typer.echo(f"zermelo: stopped before {env} was solved{spent}", err=True)
        raise SystemExit(INTERRUPTED) from None
    finally:
        patience.cancel()
        live.clear()
    if as_json:
        print_json(_plain(env, moves, game, solution))
    else:
        typer.echo(_as_text(env, moves, game, state, solution))
    if not solution.proven:
        raise typer.Exit(1)
    if policy and not as_json:
        one = f"{game.traits.seat_names[solution.seat]} alone (--plan full: for both)"
        whose = "both players" if covered is Plan.FULL else one
        typer.echo(
            f'policy    {len(table):,} states in {policy}; play it as policytable(path="{policy}") for {whose}'
        )


def _as_text(env: str, moves: str, game: Any, state: Any, solution: Solution) -> str:
    from zermelo.evaluation.output.positions.moves import name_of

    player = game.traits.seat_names[solution.seat]
    after = f" after {moves}" if moves else ""
    verdict = "not settled"
    if solution.outcome is not None:
        winner = {"first wins": 0, "second wins": 1}.get(solution.outcome.value)
        verdict = "neither wins" if winner is None else f"{game.traits.seat_names[winner]} wins"
    ends = f", {solution.plies} moves to the end" if solution.plies is not None else ""
    lines = [f"{env}{after}, {player} to move", f"outcome   {verdict}{ends}"]
    if solution.value is not None:
        lines.append(f"value     {solution.value + 0.0:g} for {player}")
    else:
        least, greatest = solution.value_bounds
        lines.append(f"value     {least:g} to {greatest:g} for {player}")
    for action, value in sorted(solution.action_values.items(), key=lambda item: (-item[1], item[0])):
        plies = solution.action_plies.get(action)
        within = f" in {plies}" if plies is not None else ""
        lines.append(f"{'action':10}{name_of(game, state, action)}: {value:g}{within}")
    if solution.principal_variation:
        line = []
        for action in solution.principal_variation:
            line.append(name_of(game, state, action))
            state = game.result(state, action)
        lines.append(f"line      {' '.join(line)}")
    lines.append(f"searched  {solution.nodes:,} nodes, {solution.seconds:.2f} s")
    if not solution.proven:
        lines.append(f"stopped   at the limit on {solution.stopped_by.value}")
    return "\n".join(lines)


def _plain(env: str, moves: str, game: Any, solution: Solution) -> dict[str, Any]:
    """The solution as JSON has it; actions are text there, as names in JSON are."""
    return {
        "env": env,
        "moves": moves,
        "to_move": game.traits.seat_names[solution.seat],
        "outcome": None if solution.outcome is None else solution.outcome.value,
        "value": solution.value,
        "value_bounds": solution.value_bounds,
        "values_by_seat": list(solution.values_by_seat),
        "plies": solution.plies,
        "action_values": {str(action): value for action, value in solution.action_values.items()},
        "action_plies": {str(action): plies for action, plies in solution.action_plies.items()},
        "principal_variation": list(solution.principal_variation),
        "nodes": solution.nodes,
        "seconds": round(solution.seconds, 3),
        "stopped_by": solution.stopped_by.value,
        "proven": solution.proven,
    }
