"""``zermelo solve`` and ``exploitability``: who wins by how much and how soon, and what policies are worth."""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.cli import arguments, completion

if TYPE_CHECKING:
    from zermelo.agents.solutions.policy_table import Plan, PolicyTable
    from zermelo.agents.solutions.solution import Solution, SolvingProgress

_PATIENCE = 10.0  # seconds before the command says how to limit it
_STEPS = 1024  # between two looks at how far value iteration is
_MOST_STATES = 1_000_000
_MOST_VALUES = 3_000_000  # Pig to 100 has two million states


class _SolvedText(NamedTuple):
    """What is printed: as JSON, or as lines of text; and whether no limit came before the proof."""

    data: dict[str, Any]
    lines: list[str]
    complete: bool = True


def solve_command(
    env: arguments.EnvText,
    moves: arguments.MovesText = "",
    outcome_only: Annotated[bool, typer.Option("--outcome-only")] = False,
    nodes: Annotated[int | None, typer.Option(min=1)] = None,
    seconds: Annotated[float | None, typer.Option()] = None,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    memory_mb: Annotated[float, typer.Option()] = 16,
    policy: Annotated[str, typer.Option(metavar="FILE")] = "",
    plan: Annotated[str, typer.Option()] = "seat",
    states: Annotated[int | None, typer.Option(min=1)] = None,
    tolerance: Annotated[float | None, typer.Option()] = None,
    as_json: arguments.Json = False,
    tables: arguments.Tables = None,
    method: Annotated[str, typer.Option()] = "auto",
    seed: arguments.Seed = 0,
) -> None:
    """Solve a position: who wins, the exact value of every action, moves to the end.

    For two players with opposed interests. The value is for the player to move, in the game's own rewards.
    Exit code 1 means that a limit was reached before the proof.

    Where players move at the same time, each state is a matrix game, and the result says how both mix. The options
    --outcome-only, --threads, --memory-mb and --policy do not apply to them.

    Games with known chances, such as Pig, and games for one player are solved by value iteration: the value of
    best play, to within --tolerance. --outcome-only, --nodes, --threads and --memory-mb do not apply to them.

    For small two-player games with hidden cards, such as Kuhn and Leduc poker, the result is a policy near an
    equilibrium: how much a player could gain against it, and bounds on the value of the game. --moves,
    --outcome-only, --nodes, --threads, --memory-mb, --plan and --states do not apply to them.

    [bold]Examples[/bold]
    $ zermelo solve classic/tictactoe-v3 --moves 0
    $ zermelo solve classic/tictactoe-v3 --policy tictactoe.jsonl --plan full
    $ zermelo solve classic/connect_four-v3 --moves 3,3,3,3,3,1 --outcome-only
    $ zermelo solve "zermelo/Pig-v0(target=20)" --policy pig.jsonl --plan full
    $ zermelo solve classic/leduc_holdem-v4 --tolerance 0.01 --policy leduc.jsonl

    Options:
        outcome_only: Only who wins, not the value of every action: quicker.
        nodes: Limit on visited states.
        seconds: Time limit, in seconds.
        threads: Threads that search together.
        memory_mb: Memory for the table, in MiB.
        policy: Also write the optimal actions of every state.
        plan: States in the policy: seat (those that its player can reach by it) or full.
        states: Limit on states; by default 1,000,000 in a policy, 3,000,000 with chance.
        tolerance: With chance, or one player: how far off a value may be, in the game's rewards; by default 1e-9.
            With hidden cards: what a player may gain against the policy, in rewards; by default 0.001.
        method: auto, alpha_beta, or proof_number, which is quick at mates.
    """
    from zermelo.agents.base.settings import check_choice
    from zermelo.agents.solutions.policy_table import Plan
    from zermelo.agents.solving.solve import is_solved_by_policy, is_solved_by_values

    covered = check_choice("plan", plan, Plan)
    game, state = arguments.game_after(env, moves, seed)
    with _watched(env) as live:
        if is_solved_by_policy(game):
            if moves or outcome_only or nodes is not None:
                raise InvalidSettingError(
                    f"{env} has hidden information, so it is solved from its start: leave out --moves, "
                    "--outcome-only and --nodes, or use --tolerance and --seconds"
                )
            solved = _by_policy(game, 1e-3 if tolerance is None else tolerance, seconds, policy, live)
        elif is_solved_by_values(game.traits):
            if outcome_only or nodes is not None:
                raise InvalidSettingError(
                    f"{env} is solved by value iteration, which has neither --outcome-only nor --nodes: leave "
                    "them out, or use --tolerance, --states and --seconds"
                )
            tolerance = 1e-9 if tolerance is None else tolerance
            most = states or _MOST_VALUES
            solved = _by_values(game, state, tolerance, most, seconds, policy, covered, live)
        else:
            settings: dict[str, Any] = {
                "outcome_only": outcome_only, "nodes": nodes, "seconds": seconds, "threads": threads,
                "memory_mb": memory_mb, "tables": tables, "method": method,
            }  # fmt: skip
            solved = _by_search(game, state, settings, states or _MOST_STATES, policy, covered, live)
    if as_json:
        about = {"env": env} if is_solved_by_policy(game) else {"env": env, "moves": moves}
        arguments.print_json(about | solved.data)
    else:
        after = f" after {moves}" if moves else ""
        typer.echo("\n".join([f"{env}{after}, {solved.lines[0]}", *solved.lines[1:]]))
    if not solved.complete:
        raise typer.Exit(1)


@contextlib.contextmanager
def _watched(env: str) -> Iterator[_Live]:
    """Says after a while how to limit a proof that takes long, and how far it was when it is stopped."""
    live = _Live()

    def advise() -> None:
        advice = f"zermelo: still solving {env}{live.spent}; --seconds limits that, and Ctrl-C ends it"
        typer.echo(advice, err=True)

    patience = threading.Timer(_PATIENCE, advise)
    patience.daemon = True
    patience.start()
    try:
        yield live
    except KeyboardInterrupt:
        live.clear()
        typer.echo(f"zermelo: stopped before {env} was solved{live.spent}", err=True)
        raise SystemExit(arguments.INTERRUPTED) from None
    finally:
        patience.cancel()
        live.clear()


class _Live(arguments.LiveLine):
    """The line on the terminal, and how far solving had come when it was written last."""

    spent = ""

    def tell(self, progress: SolvingProgress, of: str) -> None:
        self.spent = f" ({progress.nodes:,} nodes, {progress.seconds:.1f} s)"
        self.show(f"solving{self.spent}, {progress.actions_solved} of {progress.actions} {of}")


def _played(table: PolicyTable, path: str, states: str = "states") -> str:
    return f'{len(table):,} {states} in {path}; play it as policytable(path="{path}")'


def _by_policy(
    game: Any, tolerance: float, seconds: float | None, policy: str, live: arguments.LiveLine
) -> _SolvedText:
    from zermelo.agents.base.limits import StoppedBy
    from zermelo.agents.equilibrium.equilibrium import solve_equilibrium

    def show(now: SolvingProgress) -> None:
        spent = f"{now.iterations:,} iterations, {now.seconds:.1f} s"
        live.show(f"solving ({spent}), exploitability {now.exploitability:.3g}")

    solved = solve_equilibrium(game, tolerance=tolerance, seconds=seconds, on_progress=show)
    lower, upper = solved.value_bounds(game.traits.constant)
    lines = [
        f"from its start: {solved.information_states:,} information states",
        f"value     {lower:.6g} to {upper:.6g} for {game.traits.seat_names[0]}",
        f"policy    a player could gain {solved.exploitability:.3g} against it, on average",
        f"searched  {solved.iterations:,} iterations over {solved.states:,} states, {solved.seconds:.2f} s",
    ]
    if policy:
        solved.policy.save(policy)
        lines.append(f"written   {_played(solved.policy, policy, 'information states')}")
    data = {
        "value_bounds": [lower, upper], "values_by_seat": solved.values, "exploitability": solved.exploitability,
        "iterations": solved.iterations, "states": solved.states, "information_states": solved.information_states,
        "seconds": round(solved.seconds, 3), "stopped_by": solved.stopped_by,
    }  # fmt: skip
    return _SolvedText(data, lines, solved.stopped_by is StoppedBy.COMPLETED)


def _by_values(
    game: Any,
    state: Any,
    tolerance: float,
    most_states: int,
    seconds: float | None,
    policy: str,
    plan: Plan,
    live: _Live,
) -> _SolvedText:
    from zermelo.agents.base.budget import Budget, SearchStopped
    from zermelo.agents.base.limits import Limits
    from zermelo.agents.base.requirements import require_decision
    from zermelo.agents.solving.solve_policy import policy_of_values
    from zermelo.agents.solving.value_iteration import value_iteration
    from zermelo.evaluation.positions.moves import name_of

    require_decision(game, state)
    budget, steps, traits = Budget(Limits(seconds=seconds)), itertools.count(1), game.traits
    player = traits.seat_names[game.to_move(state)]

    def check() -> None:
        if (step := next(steps)) % _STEPS == 0:
            live.spent = f" ({step:,} states and sweeps so far)"
            live.show(f"solving{live.spent}")
        budget.check_clock()

    try:
        values = value_iteration(game, tolerance, states=[state], most_states=most_states, check=check)
    except SearchStopped as stopped:
        stop = f"stopped   at the limit on {stopped.reason}{live.spent}: nothing is known before the end"
        unknown = {"to_move": player, "value": None, "tolerance": tolerance, "stopped_by": stopped.reason}
        return _SolvedText(unknown, [f"{player} to move", stop], complete=False)
    digits, action_values = max(0, math.ceil(-math.log10(values.tolerance))), values.action_values(state)
    value = max(action_values.values())
    lines = [f"{player} to move", f"value     {value:.{digits}f} for {player}"]
    if traits.seats == 2 and traits.utility_bounds == (-1.0, 1.0):
        lines.append(f"score     {(value + 1) / 2:.{digits}f}: a win counts 1, a draw 1/2")
    for action, worth in sorted(action_values.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{'action':10}{name_of(game, state, action)}: {worth:.{digits}f}")
    made = f"by {values.sweeps:,} sweeps over {len(values):,} states"
    lines.append(f"values    to within {values.tolerance:g}, {made}")
    if policy:
        written = policy_of_values(values, state, plan=plan, most_states=most_states)
        written.save(policy)
        lines.append(f"policy    {_played(written, policy)}")
    data = {
        "to_move": player, "value": value, "tolerance": tolerance, "action_values": action_values,
        "best_actions": values.best_actions(state), "states": len(values), "sweeps": values.sweeps,
    }  # fmt: skip
    return _SolvedText(data, lines)


def _by_search(
    game: Any, state: Any, settings: dict[str, Any], most_states: int, policy: str, plan: Plan, live: _Live
) -> _SolvedText:
    from zermelo.agents.solutions.policy_table import Plan
    from zermelo.agents.solving.solve import solve
    from zermelo.agents.solving.solve_policy import solve_policy

    of = "states" if game.traits.simultaneous else "actions"
    solution = solve(game, state, **settings, on_progress=lambda now: live.tell(now, of))
    player, lines = game.traits.seat_names[solution.seat], _lines(game, state, solution)
    if policy and solution.proven:
        table = solve_policy(
            game, state, plan=plan, most_states=most_states, on_progress=lambda now: live.tell(now, "states")
        )
        table.save(policy)
        whose = "both players" if plan is Plan.FULL else f"{player} alone (--plan full: for both)"
        lines.append(f"policy    {_played(table, policy)} for {whose}")
    policies = {game.traits.seat_names[seat]: mixed for seat, mixed in solution.policies.items()}
    data = {
        "to_move": player, "outcome": solution.outcome, "value": solution.value,
        "value_bounds": solution.value_bounds, "values_by_seat": solution.values_by_seat, "plies": solution.plies,
        "action_values": solution.action_values, "action_plies": solution.action_plies, "policies": policies,
        "principal_variation": solution.principal_variation, "nodes": solution.nodes,
        "seconds": round(solution.seconds, 3), "stopped_by": solution.stopped_by, "proven": solution.proven,
    }  # fmt: skip
    return _SolvedText(data, lines, solution.proven)


def _lines(game: Any, state: Any, solution: Solution) -> list[str]:
    from zermelo.agents.base.result import one_line
    from zermelo.evaluation.positions.moves import name_of, states_of

    player = game.traits.seat_names[solution.seat]
    verdict = "not settled"
    if solution.outcome is not None:
        winner = {"first wins": 0, "second wins": 1}.get(solution.outcome.value)
        verdict = "neither wins" if winner is None else f"{game.traits.seat_names[winner]} wins"
    ends = f", {solution.plies} moves to the end" if solution.plies is not None else ""
    together = game.traits.simultaneous
    lines = ["moves at the same time" if together else f"{player} to move", f"outcome   {verdict}{ends}"]
    if solution.value is not None:
        lines.append(f"value     {solution.value + 0.0:g} for {player}")
    else:
        lower, upper = solution.value_bounds
        lines.append(f"value     {lower:g} to {upper:g} for {player}")
    for action, value in sorted(solution.action_values.items(), key=lambda item: (-item[1], item[0])):
        plies = solution.action_plies.get(action)
        within = f" in {plies}" if plies is not None else ""
        lines.append(f"{'action':10}{name_of(game, state, action)}: {value:g}{within}")
    for seat, mixed in solution.policies.items():
        shares = [f"{name_of(game, state, action)} ({share:.3g})" for action, share in mixed.items() if share > 0]
        lines.append(f"{'mixes':10}{game.traits.seat_names[seat]}: {one_line(shares, len(shares), width=90)}")
    if solution.principal_variation:
        actions = solution.principal_variation
        names = (name_of(game, *step) for step in zip(states_of(game, state, actions), actions, strict=True))
        lines.append(f"{'line':10}{one_line(names, len(actions), width=90)}")
    lines.append(f"searched  {solution.nodes:,} nodes, {solution.seconds:.2f} s")
    if not solution.proven:
        advice = ": raise it, or play by simultaneous_mcts" if together else ""
        lines.append(f"stopped   at the limit on {solution.stopped_by.value}{advice}")
    return lines


def exploitability_command(
    env: arguments.EnvText,
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", autocompletion=completion.agents)],
    states: Annotated[int, typer.Option(min=1)] = 2_000_000,
    as_json: arguments.Json = False,
) -> None:
    """Compute how much agents can be exploited: what an opponent who knows their policies can gain.

    For small games with hidden information, such as Kuhn and Leduc poker. The gain is the mean over both
    seats, in the game's own rewards; 0 is an equilibrium. Win rates do not show it: an agent that bluffs too
    much may beat many opponents, and lose to one that notices.

    [bold]Example[/bold]
    $ zermelo exploitability classic/leduc_holdem-v4 random "ismcts(simulations=100)"
    "cfr(iterations=200)"

    Options:
        agents: Agents; `zermelo agents` lists them.
        states: Limit on the states of the game.
    """
    from zermelo.evaluation.analysis.exploitability import agents_exploited

    arguments.print_table(agents_exploited(env, agents, most_states=states), as_json=as_json)
