"""A position as text: the game's own drawing, the environment's rendering, or its observed planes."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from zermelo.evaluation.output.positions.sight import hides_something, seen_by

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*m")
_MARKED: Final = re.compile(r"\x1b\[(?!0m)[0-9;]*m(.)\x1b\[0m")


def drawing(game: Any, env: Any, seat: int | None = None) -> str:
    """The position of a live environment as text, or nothing where there is no way to draw it.

    Cells are drawn in the order of the observation, so that where actions are cells, action 0 is at the top left.

    Args:
        game: What ``as_game`` made of the environment; None where it cannot be searched.
        env: The environment, which is not changed.
        seat: Draw what this seat sees and nothing more; None draws everything.
    """
    if seat is not None and hides_something(game):
        return seen_by(game, env, seat)
    draw = getattr(game, "text", None)
    text = str(draw(game.snapshot(env))).rstrip() if draw is not None else ""
    if "\n" in text:
        return text
    return _rendered(env) or _from_stones(env) or _from_planes(env) or ("" if text.startswith("<") else text)


def rendered(env: Any, mode: str) -> Any:
    """The answer of ``render`` in a mode; None where the environment has no such mode, or fails."""
    raw = env.unwrapped
    modes = (getattr(raw, "metadata", None) or {}).get("render_modes", ())
    if mode not in modes or not hasattr(raw, "render_mode"):
        return None
    before = raw.render_mode
    raw.render_mode = mode
    try:
        return raw.render()
    except Exception:  # a picture that cannot be drawn must not cost the game that is shown
        return None
    finally:
        raw.render_mode = before


def _rendered(env: Any) -> str:
    """The environment's own text; the one character in colour is marked by brackets."""
    text = rendered(env, "ansi")
    if not isinstance(text, str):
        return ""
    return _ESCAPES.sub("", _MARKED.sub(r"[\1]", text)).strip("\n").rstrip()


def _from_planes(env: Any) -> str:
    """A board whose observation has one plane of 0 and 1 for each of two players, as PettingZoo's often are."""
    if not hasattr(env, "possible_agents"):
        return ""
    seen = env.observe(env.possible_agents[0])
    planes = np.asarray(seen.get("observation") if isinstance(seen, dict) else seen)
    if planes.ndim != 3 or planes.shape[2] != 2 or not np.isin(planes, (0, 1)).all():
        return ""
    return _rows(planes[:, :, 0] + 2 * planes[:, :, 1].astype(int))


def _from_stones(env: Any) -> str:
    """PettingZoo's Go: it observes positions in turn from either side, but keeps the stones."""
    stones = getattr(getattr(env.unwrapped, "_go", None), "board", None)
    if not isinstance(stones, np.ndarray) or stones.ndim != 2 or not np.isin(stones, (-1, 0, 1)).all():
        return ""
    return _rows(np.where(stones < 0, 2, stones))


def _rows(cells: Any) -> str:
    return "\n".join(" ".join(".XO?"[int(cell)] for cell in row) for row in cells)
