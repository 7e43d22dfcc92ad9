"""``zermelo play``: a person against an agent, in the terminal or the browser."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from zermelo.agents.base.limits import Limits
from zermelo.agents.specs import make_agent
from zermelo.envs.errors import IllegalActionError, InvalidSettingError
from zermelo.evaluation.cli import arguments, completion

_ENDS = ("q", "quit", "exit")  # words that end the game, unless they are moves


@arguments.takes_limits
def play(
    env: arguments.EnvText,
    agent: Annotated[str, typer.Argument(metavar="[AGENT]", autocompletion=completion.agents)] = "auto",
    seat: Annotated[int, typer.Option(min=1)] = 1,
    browser: Annotated[bool, typer.Option("--browser", "-b")] = False,
    clock: Annotated[str, typer.Option()] = "",
    ponder: Annotated[bool, typer.Option("--ponder")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0,
    open_page: Annotated[bool, typer.Option("--open/--no-open")] = True,
    seed: arguments.Seed = 0,
    **limits: Any,
) -> None:
    """Play against an agent, in the terminal or in the browser.

    Type a move in the game's notation (e4 or e2e4, D4, 24/18 13/11) or as its number; an empty line, quit
    or Ctrl-D ends the game. With --browser you click or drag the pieces, take moves back, save and load games
    (PGN, SGF, JSON), and see an agent's analysis. The page opens on this machine only, and only with its link;
    Ctrl-C ends it.

    [bold]Examples[/bold]
    $ zermelo play classic/tictactoe-v3 alphabeta --seat 2
    $ zermelo play zermelo/Chess-v0 auto --seconds 0.5 --browser --clock 300+5

    Options:
        agent: The agent on the other seats; `zermelo agents` lists them.
        seat: Your seat; 1 moves first in most games.
        browser: Play on a board in the browser, with analysis beside it.
        clock: In the browser: seconds for the game and for each move, such as 300+5; the agent is told.
        ponder: The agent thinks on your time too, on the move that it expects.
        port: In the browser: where to listen; 0 takes any that is free.
        open_page: In the browser: open the page, or print its link only.
    """
    [opponent] = arguments.limited([agent], Limits(**limits))
    if not browser:
        for option, is_given in (("--clock", clock), ("--port", port), ("--no-open", not open_page)):
            if is_given:
                raise InvalidSettingError(
                    f"{option} is for the board in the browser: add --browser, or leave it out"
                )
        _play_in_terminal(env, opponent, seat, seed, ponder=ponder)
        return
    from zermelo.envs.support.installing import optional_import

    for package in ("starlette", "uvicorn"):
        optional_import(package, f"{package}, which the board in the browser needs,", "board")
    from zermelo.evaluation.board.settings import BoardSettings
    from zermelo.evaluation.board.web.server import serve

    settings = BoardSettings(env=env, opponent=opponent, seat=seat - 1, seed=seed, clock=clock, ponder=ponder)
    serve(settings, port=port, opens=open_page, say=typer.echo)


def _play_in_terminal(env: str, opponent: str, seat: int, seed: int, *, ponder: bool) -> None:
    from zermelo.agents.base.configured_agent import ConfiguredAgent
    from zermelo.evaluation.match.play import agent_seeds

    driver = arguments.position_after(env, "", seed)
    seats = len(driver.seat_names)
    if seat > seats:
        raise InvalidSettingError(f"{env} has {seats} seats: --seat cannot be {seat}")
    agents: dict[int, Any] = {place: make_agent(opponent) for place in range(seats) if place != seat - 1}
    seeds = agent_seeds(seed, seats)
    for place, agent in agents.items():
        agent.reset(seeds[place])
    typer.echo(f"{env}: you are {driver.seat_names[seat - 1]}; an empty line ends the game")
    ponderers = [each for each in agents.values() if ponder and isinstance(each, ConfiguredAgent)]
    try:
        is_over = _played_out(driver, agents, ponderers)
    finally:
        for each in ponderers:
            each.stop_pondering()
    for each in ponderers:
        pondered = each.pondered
        typer.echo(f"{each.name} pondered on {pondered.moves} moves and expected {pondered.hits} of them")
    if not is_over:
        typer.echo("The game is left unfinished.")
        return
    _show(driver.env, None)
    rewards = (f"{name} {reward:g}" for name, reward in zip(driver.seat_names, driver.rewards, strict=True))
    typer.echo(f"The game is over: {', '.join(rewards)}")


def _played_out(driver: Any, agents: dict[int, Any], ponderers: list[Any]) -> bool:
    while (mover := driver.turn()) is not None:
        agent = agents.get(mover)
        if agent is not None:
            action = agent.act(driver.env)
            typer.echo(f"{driver.seat_names[mover]} {_shown_move(driver.env, action)}")
        else:
            _show(driver.env, mover)
            action = _ask(driver)
            if action is None:
                return False
        driver.step(action)
        if agent is not None and agent in ponderers:
            agent.ponder()
    return True


def _shown_move(env: Any, action: Any) -> str:
    """A move as the others are told of it; if all choose at the same time, only that there is one."""
    from zermelo.evaluation.positions.moves import game_or_none, listed_moves, move_labels

    game = game_or_none(env)
    if game is not None and game.traits.simultaneous:
        return "has chosen"
    labels = move_labels(env)
    return f"plays {listed_moves({action: labels[action]}) if action in labels else action}"


def _show(env: Any, seat: int | None) -> None:
    from zermelo.evaluation.positions.drawing import drawing, with_coordinates
    from zermelo.evaluation.positions.moves import game_or_none

    game = game_or_none(env)  # some games cannot be copied or searched, and can be played all the same
    if board := drawing(game, env, seat):
        typer.echo(f"\n{with_coordinates(board, game)}\n")


def _ask(driver: Any) -> Any:
    from zermelo.evaluation.positions.moves import listed_moves, move_labels, read_move

    legal = listed_moves(move_labels(driver.env))
    while True:
        try:
            text = input(f"Your move ({legal}): ").strip()
        except EOFError:
            typer.echo("")
            return None
        if not text:
            return None
        try:
            return read_move(driver, text)
        except IllegalActionError as error:
            if text.lower() in _ENDS:
                return None
            typer.echo(f"That is {error}.")
