"""States, moves and values as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from zermelo.agents.search.tree.best_reply import RepliesGame
from zermelo.agents.search.tree.inner_game import FormOfGame
from zermelo.envs.capabilities import SupportsActionText
from zermelo.evaluation.output.positions import moves
from zermelo.evaluation.output.tree.model import Span

MINUS: Final = "\N{MINUS SIGN}"
_SHORT: Final = 3
_LONGEST: Final = 600
_LONGEST_MOVE: Final = 40


def move_text(game: Any, state: Any, action: int) -> str:
    """An action or outcome as the game writes it, else its number."""
    if isinstance(game, RepliesGame):
        names, inner = [], state.state
        for move in game.moves_of(state, action):
            names.append(move_text(game.inside, inner, move))
            inner = game.inside.result(inner, move)
        return " ".join(names) or "pass"
    if isinstance(game, FormOfGame):
        return move_text(game.inside, state.state, action) if hasattr(state, "state") else ""
    text = moves.move_text(game, state, action)
    if not text and isinstance(game, SupportsActionText):
        text = str(game.action_text(state, action))  # a number, such as a die shows
    text = text or str(action)
    return text if len(text) <= _LONGEST_MOVE else f"{text[: _LONGEST_MOVE - 1]}\N{HORIZONTAL ELLIPSIS}"


def position_text(game: Any, state: Any) -> str:
    """A state as the game draws it; nothing where it does not."""
    while isinstance(game, FormOfGame):
        if not hasattr(state, "state"):
            return ""  # draws of chance
        game, state = game.inside, state.state
    write = getattr(game, "text", None)
    text = "" if write is None else str(write(state)).rstrip()
    return "" if text.startswith("<") or len(text) > _LONGEST else text


def short_name(position: str) -> str:
    """A position's text where it is a name that fits beside a node."""
    return position if len(position) <= _SHORT else ""


def number_text(value: float) -> str:
    """A value with up to four significant digits, infinities as such."""
    if math.isnan(value):
        return "?"
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else f"{MINUS}\N{INFINITY}"
    return f"{value:.4g}".replace("-", MINUS)


def vector_text(values: Sequence[float]) -> str:
    """Every seat's value."""
    return f"({', '.join(map(number_text, values))})"


def known_text(span: Span | None, bounds: tuple[float, float] = (-math.inf, math.inf)) -> str:
    """What is known of a value: 3, at most 3, at least 3, or between two; nothing where nothing is.

    Args:
        span: Between which numbers it lies.
        bounds: Between which numbers every value lies, which need not be said.
    """
    if span is None:
        return ""
    low, high = span.low, span.high
    if low == high:
        return number_text(low)
    if low <= bounds[0]:
        return "" if high >= bounds[1] else f"\N{LESS-THAN OR EQUAL TO} {number_text(high)}"
    if high >= bounds[1]:
        return f"\N{GREATER-THAN OR EQUAL TO} {number_text(low)}"
    return f"[{number_text(low)}, {number_text(high)}]"
