"""``zermelo solve`` for games of chance and for one player: by value iteration."""

from __future__ import annotations

import math
from typing import Any

import typer

from zermelo.evaluation.cli.arguments import print_json


def solve_values(
    env: str,
    moves: str,
    game: Any,
    state: Any,
    *,
    tolerance: float,
    most_states: int,
    policy: str,
    plan: str,
    as_json: bool,
) -> None:
    """Solves a position and prints what was found; writes the policy, if a file is named."""
    from zermelo.agents import value_iteration
    from zermelo.agents.core.gate import require_decision
    from zermelo.agents.solving.solve import policy_of_values

    require_decision(game, state)
    values = value_iteration(game, tolerance, states=[state], most_states=most_states)
    seat = game.to_move(state)
    action_values = values.action_values(state)
    value = max(action_values.values())
    lines = ""
    if policy:
        written = policy_of_values(values, state, plan=plan, most_states=most_states)
        written.save(policy)
        lines = f'policy    {len(written):,} states in {policy}; play it as policytable(path="{policy}")'
    if as_json:
        found = {
            "env": env,
            "moves": moves,
            "to_move": game.traits.seat_names[seat],
            "value": value,
            "tolerance": tolerance,
            "action_values": {str(action): number for action, number in action_values.items()},
            "best_actions": list(values.best_actions(state)),
            "states": len(values),
            "sweeps": values.sweeps,
        }
        print_json(found)
        return
    typer.echo(_as_text(env, moves, game, state, values, action_values))
    if lines:
        typer.echo(lines)


def _as_text(env: str, moves: str, game: Any, state: Any, values: Any, action_values: dict[int, float]) -> str:
    from zermelo.evaluation.output.positions.moves import name_of

    digits = max(0, math.ceil(-math.log10(values.tolerance)))
    traits, seat = game.traits, game.to_move(state)
    player, value = traits.seat_names[seat], max(action_values.values())
    after = f" after {moves}" if moves else ""
    lines = [f"{env}{after}, {player} to move", f"value     {value:.{digits}f} for {player}"]
    if traits.seats == 2 and traits.utility_bounds == (-1.0, 1.0):
        lines.append(f"score     {(value + 1) / 2:.{digits}f}: a win counts 1, a draw 1/2")
    for action, worth in sorted(action_values.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{'action':10}{name_of(game, state, action)}: {worth:.{digits}f}")
    lines.append(
        f"values    to within {values.tolerance:g}, by {values.sweeps:,} sweeps over {len(values):,} states"
    )
    return "\n".join(lines)
