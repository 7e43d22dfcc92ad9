"""A position to look at: an environment with some moves played."""

from __future__ import annotations

from typing import Any

from zermelo.envs import IllegalActionError, InvalidSettingError
from zermelo.envs.wrappers import game_name
from zermelo.evaluation.entrants import build_env
from zermelo.evaluation.referee import Referee, referee_for

__all__ = ["drawing", "parse_moves", "position_after"]


def parse_moves(text: str) -> list[int]:
    """The actions in a text such as ``3,3,2``.

    Raises:
        InvalidSettingError: One of them is no integer.
    """
    moves = []
    for part in text.replace(",", " ").split():
        try:
            moves.append(int(part))
        except ValueError:
            raise InvalidSettingError(
                f"--moves takes integers such as 3,3,2 (the numbers that env.step takes), not {part!r}"
            ) from None
    return moves


def position_after(env: str, moves: list[int], seed: int) -> Referee:
    """The environment of that name, reset with the seed, after the moves.

    Raises:
        IllegalActionError: A move is not legal, or comes after the end of the game.
    """
    referee = referee_for(build_env(env)[0], seed)
    for number, move in enumerate(moves, start=1):
        if referee.turn() is None:
            raise IllegalActionError(f"move {number} ({move}) comes after the end of {game_name(referee.env)}")
        refusal = referee.refusal(move)
        if refusal is not None:
            raise IllegalActionError(f"move {number} of --moves is {refusal}")
        referee.step(move)
    return referee


def drawing(game: Any, env: Any) -> str:
    """The position as text, where the game can draw it."""
    draw = getattr(game, "text", None)
    return str(draw(game.snapshot(env))).rstrip() if draw is not None else ""
