"""``zermelo exploitability``, and ``zermelo solve`` for small games of hidden information."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.evaluation.cli.arguments import EnvText, Json, LiveLine, print_json

if TYPE_CHECKING:
    from zermelo.agents import SolvingProgress


def exploitability_command(
    env: EnvText,
    agents: Annotated[
        list[str],
        typer.Argument(metavar="AGENT...", help="Agents; `zermelo agents` lists them.", show_default=False),
    ],
    states: Annotated[int, typer.Option(min=1, help="Limit on the states of the game.")] = 2_000_000,
    as_json: Json = False,
) -> None:
    """Compute how much agents can be exploited: what an opponent who knows their policies can gain.

    For small games with hidden information, such as Kuhn and Leduc poker. The gain is the mean over both
    seats, in the game's own rewards; 0 is an equilibrium. Win rates do not show it: an agent that bluffs too
    much may beat many opponents, and lose to one that notices.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo exploitability classic/leduc_holdem-v4 random "ismcts(simulations=100)"
    "cfr(iterations=200)"
    """
    from zermelo.evaluation.analysis.exploitability import agents_exploited

    found = agents_exploited(env, agents, most_states=states)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))


def solve_by_policy(
    env: str, game: Any, *, tolerance: float, seconds: float | None, policy: str, as_json: bool
) -> None:
    """Solves, prints and writes the policy; ``Exit`` with code 1 says that a limit came before the tolerance."""
    from zermelo.agents import StoppedBy, solve_equilibrium

    live = LiveLine()

    def show(now: SolvingProgress) -> None:
        spent = f"{now.iterations:,} iterations, {now.seconds:.1f} s"
        live.show(f"solving ({spent}), exploitability {now.exploitability:.3g}")

    found = solve_equilibrium(game, tolerance=tolerance, seconds=seconds, on_progress=show)
    live.clear()
    if policy:
        found.policy.save(policy)
    lower, upper = found.value_bounds(game.traits.constant)
    if as_json:
        told = {
            "env": env,
            "value_bounds": [lower, upper],
            "values_by_seat": found.values,
            "exploitability": found.exploitability,
            "iterations": found.iterations,
            "states": found.states,
            "information_states": found.information_states,
            "seconds": round(found.seconds, 3),
            "stopped_by": found.stopped_by.value,
        }
        print_json(told)
    else:
        first = game.traits.seat_names[0]
        typer.echo(f"{env}, from its start: {found.information_states:,} information states")
        typer.echo(f"value     {lower:.6g} to {upper:.6g} for {first}")
        typer.echo(f"policy    a player could gain {found.exploitability:.3g} against it, on average")
        typer.echo(
            f"searched  {found.iterations:,} iterations over {found.states:,} states, {found.seconds:.2f} s"
        )
    if policy and not as_json:
        typer.echo(
            f"written   {len(found.policy):,} information states in {policy}; "
            f'play it as policytable(path="{policy}")'
        )
    if found.stopped_by is not StoppedBy.COMPLETED:
        raise typer.Exit(1)
