"""``zermelo play``: a person against an agent, in the terminal."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from zermelo.evaluation.cli.arguments import EnvText, Seed

__all__ = ["play"]


def play(
    env: EnvText,
    opponent: Annotated[str, typer.Option("--agent", "-a", help="Who plays the other seats.")] = "random",
    seat: Annotated[int, typer.Option(min=1, help="Your seat; 1 moves first in most games.")] = 1,
    seed: Seed = 0,
) -> None:
    """Play against an agent. Type the number of an action; an empty line or Ctrl-D ends the game.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo play classic/tictactoe-v3 --agent alphabeta --seat 2
    """
    from zermelo.agents import make_agent
    from zermelo.envs import InvalidSettingError
    from zermelo.evaluation.cli.position import position_after
    from zermelo.evaluation.match.play import agent_seeds

    driver = position_after(env, [], seed)
    seats = len(driver.seat_names)
    if seat > seats:
        raise InvalidSettingError(f"{env} has {seats} seats: --seat cannot be {seat}")
    agents: dict[int, Any] = {place: make_agent(opponent) for place in range(seats) if place != seat - 1}
    for place, agent_seed in enumerate(agent_seeds(seed, seats)):
        if place in agents:
            agents[place].reset(agent_seed)
    typer.echo(f"{env}: you are {driver.seat_names[seat - 1]}")
    while (mover := driver.turn()) is not None:
        if mover in agents:
            action = agents[mover].act(driver.env)
            typer.echo(f"{driver.seat_names[mover]} plays {action}")
        else:
            _show(driver.env)
            asked = _ask(driver)
            if asked is None:
                typer.echo("The game is left unfinished.")
                return
            action = asked
        driver.step(action)
    _show(driver.env)
    rewards = ", ".join(
        f"{name} {reward:g}" for name, reward in zip(driver.seat_names, driver.rewards, strict=True)
    )
    typer.echo(f"The game is over: {rewards}")


def _show(env: Any) -> None:
    from zermelo.envs import ZermeloError, as_game
    from zermelo.evaluation.cli.position import drawing

    try:
        board = drawing(as_game(env), env)
    except ZermeloError:
        return  # some games cannot be copied or searched, and can be played all the same
    if board:
        typer.echo(f"\n{board}\n")


def _ask(driver: Any) -> int | None:
    from zermelo.envs.adapters.actions import legal_actions

    legal = ", ".join(str(action) for action in legal_actions(driver.env))
    while True:
        try:
            text = input(f"Your action ({legal}): ").strip()
        except EOFError:
            typer.echo("")
            return None
        if not text:
            return None
        try:
            action = int(text)
        except ValueError:
            typer.echo(f"{text!r} is not a number.")
            continue
        refusal = driver.refusal(action)
        if refusal is None:
            return action
        typer.echo(f"That is {refusal}.")
