"""A position to look at: an environment with some moves played."""

from __future__ import annotations

from typing import Any

from zermelo.envs import IllegalActionError, InvalidSettingError
from zermelo.envs.game import SupportsEnvActions
from zermelo.evaluation.match.env_driver import EnvDriver, drive_env, play_known
from zermelo.evaluation.match.sources import build_env
from zermelo.evaluation.output.drawing import drawing

__all__ = ["action_name", "drawing", "parse_moves", "position_after"]


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


def position_after(env: str, moves: list[int], seed: int) -> EnvDriver:
    """The environment of that name, reset with the seed, after the moves.

    Raises:
        IllegalActionError: A move is not legal, or comes after the end of the game.
    """
    driver = drive_env(build_env(env)[0], seed)
    if (found := play_known(driver, moves)) is not None:
        place, refusal = found
        if refusal is None:
            raise IllegalActionError(f"move {place + 1} ({moves[place]}) comes after the end of {env}")
        raise IllegalActionError(f"move {place + 1} of --moves is {refusal}")
    return driver


def action_name(game: Any, state: Any, action: int) -> str:
    """The environment's number of an action, and how people write it where that is known and no mere number."""
    write = getattr(game, "action_text", None)
    text = "" if write is None or state is None else str(write(state, action))
    if state is not None and isinstance(game, SupportsEnvActions):
        action = game.to_env_action(state, action)  # type: ignore[attr-defined]  # every game has it
    return str(action) if not text or text.isdigit() else f"{action}={text}"
