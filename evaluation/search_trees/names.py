"""States, moves and values as one seat sees them, as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from zermelo.agents.tree_search.many_players.replies_game import RepliesGame
from zermelo.agents.tree_search.observer import NodeRole
from zermelo.agents.tree_search.sampled_game import SampledGame, SampledOutcomes
from zermelo.envs.capabilities import GameView, SupportsActionText, SupportsText, offers
from zermelo.envs.game import CHANCE, Traits
from zermelo.evaluation.output.numbers import four_digits
from zermelo.evaluation.positions import moves
from zermelo.evaluation.search_trees.model import SearchNode, Span

_SHORT: Final = 3
_LONGEST: Final = 600
_LONGEST_MOVE: Final = 40


def move_text(game: Any, state: Any, action: int) -> str:
    if isinstance(game, RepliesGame):
        names, inner = [], state.state
        for move in game.actions_in_reply(state, action):
            names.append(move_text(game.inside, inner, move))
            inner = game.inside.result(inner, move)
        return " ".join(names) or "pass"
    if isinstance(game, SampledGame):
        return "" if isinstance(state, SampledOutcomes) else move_text(game.inside, state.state, action)
    text = moves.move_text(game, state, action)
    is_chance: bool = game.to_move(state) == CHANCE
    if not text and is_chance and offers(game, SupportsActionText):
        text = str(game.action_text(state, action))  # a number, such as a die shows
    text = text or str(action)
    return text if len(text) <= _LONGEST_MOVE else f"{text[: _LONGEST_MOVE - 1]}\N{HORIZONTAL ELLIPSIS}"


def position_text(game: Any, state: Any) -> str:
    """A state as the game draws it; nothing where it does not."""
    while isinstance(game, GameView):
        if isinstance(state, SampledOutcomes):
            return ""
        game, state = game.inside, game.inner(state)
    text = str(game.text(state)).rstrip() if offers(game, SupportsText) else ""
    return "" if text.startswith("<") or len(text) > _LONGEST else text


def describe(node: SearchNode, game: Any, state: Any) -> None:
    node.position = position_text(game, state)
    node.name = node.position if len(node.position) <= _SHORT else ""


_TURNED: Final = {NodeRole.MAX: NodeRole.MIN, NodeRole.MIN: NodeRole.MAX}


class Viewpoint(NamedTuple):
    """Values of one seat as another sees them."""

    seat: int
    constant: float = 0.0
    turned: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)

    def value(self, value: float) -> float:
        return (self.constant - value if self.turned else value) + 0.0

    def interval(self, low: float, high: float) -> tuple[float, float]:
        return (self.value(high), self.value(low)) if self.turned else (low + 0.0, high + 0.0)

    def role(self, role: NodeRole) -> NodeRole:
        return _TURNED.get(role, role) if self.turned else role

    @staticmethod
    def of(traits: Traits, seat: int, *, turned: bool) -> Viewpoint:
        """The view of a seat; ``turned`` is whether values are reported for its opponent."""
        bounds = traits.utility_bounds if traits.terminal_rewards_only else (-math.inf, math.inf)
        return Viewpoint(seat, traits.constant, turned, bounds)


def number_text(value: float) -> str:
    return four_digits(value) or "?"


def vector_text(values: Sequence[float]) -> str:
    return f"({', '.join(map(number_text, values))})"


def known_text(span: Span | None, bounds: tuple[float, float] = (-math.inf, math.inf)) -> str:
    """Bounds of a value as text; those of all values (``bounds``) are not said."""
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
