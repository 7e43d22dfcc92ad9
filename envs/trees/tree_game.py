"""A game given as its tree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zermelo.envs.errors import InvalidSettingError, illegal_action
from zermelo.envs.game import CHANCE, Chance, RewardSum, Traits, TraitSource

_EXAMPLE = "[[3, 12, 8], [2, 4, 6], [14, 5, 2]]"
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class TreeNode:
    """A state of a game that is given as its tree.

    Attributes:
        name: ``A`` for the root, then level by level; empty for ends.
        seat: Who moves: ``CHANCE`` where an outcome is drawn. Of ends it says nothing.
        children: What follows each action or outcome; none at ends.
        labels: The actions or outcomes, as figures call them.
        probabilities: Of the outcomes.
        utility: Every seat's, at ends.
        number: Different for all nodes of a tree.
    """

    name: str
    seat: int
    children: tuple[TreeNode, ...] = ()
    labels: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    utility: tuple[float, ...] = field(default=(0.0, 0.0))
    number: int = 0


class TreeGame:
    """The game of a tree: states are its nodes, actions count from 0 at each node."""

    def __init__(
        self,
        root: TreeNode,
        *,
        name: str,
        constant: float | None,
        seat_names: Sequence[str],
        has_chance: bool,
        bounds: tuple[float, float],
    ) -> None:
        self.root = root
        total = RewardSum.GENERAL if constant is None else RewardSum.CONSTANT if constant else RewardSum.ZERO
        self.traits = Traits(
            name=name,
            seat_names=tuple(seat_names),
            reward_sum=total,
            constant=constant or 0.0,
            chance=Chance.EXACT if has_chance else Chance.NONE,
            utility_bounds=bounds,
            terminal_rewards_only=True,
            sources=dict.fromkeys(("reward_sum", "chance", "terminal_rewards_only"), TraitSource.GIVEN),
        )

    def initial_state(self) -> TreeNode:
        return self.root

    def to_move(self, state: TreeNode) -> int:
        return state.seat

    def legal_actions(self, state: TreeNode) -> Sequence[int]:
        return range(len(state.children))

    def chance_outcomes(self, state: TreeNode) -> Sequence[tuple[int, float]]:
        return list(enumerate(state.probabilities))

    def result(self, state: TreeNode, action: int) -> TreeNode:
        """The child.

        Raises:
            IllegalActionError: There is no such child.
        """
        if not 0 <= action < len(state.children):
            raise illegal_action(action, f"in {self.traits.name}", range(len(state.children)))
        return state.children[action]

    def is_terminal(self, state: TreeNode) -> bool:
        return not state.children

    def utility(self, state: TreeNode) -> tuple[float, ...]:
        return state.utility

    def key(self, state: TreeNode) -> Hashable:
        return state.number

    def to_env_action(self, state: TreeNode, action: int) -> int:
        return action

    def text(self, state: TreeNode) -> str:
        return state.name

    def action_text(self, state: TreeNode, action: int) -> str:
        """The action as figures call it: ``b2`` is the second one at B."""
        return state.labels[action]


def tree_game(
    nested: Any,
    *,
    first: int = 0,
    name: str = "a tree",
    seat_names: Sequence[str] = (),
    bounds: tuple[float, float] | None = None,
) -> TreeGame:
    """The game of a tree that is given as nested lists.

    A list is a node at which a player moves: players take turns level by level, chance not counted. A dict is a
    node of chance: ``{"heads": (0.5, 3), "tails": (0.5, [1, 2])}`` has for each outcome its probability and what
    follows. A number is an end that is worth so much to the first player, and costs the second as much; a tuple of
    numbers is an end with every player's utility.

    Args:
        nested: Such lists, as in ``[[3, 12, 8], [2, 4, 6], [14, 5, 2]]``.
        first: The seat that moves at the root.
        name: What the game is called.
        seat_names: What the seats are called: by default MAX and MIN, or the first letters for more than two.
        bounds: The least and greatest utility of any seat, which searches may use; by default they know none.

    Raises:
        InvalidSettingError: It is no such tree.
    """
    ends = list(_ends(nested))
    seats = max((len(end) for end in ends if isinstance(end, tuple)), default=2)
    utilities = [_utility(end, seats) for end in ends]
    if not isinstance(nested, list | dict):
        raise InvalidSettingError(f"a tree is a list such as {_EXAMPLE}, not {nested!r}")
    if isinstance(first, bool) or not isinstance(first, int) or not 0 <= first < seats:
        raise InvalidSettingError(f"first must be a seat from 0 to {seats - 1}, not {first!r}")
    names = tuple(seat_names) or (("MAX", "MIN") if seats == 2 else tuple(map(_letters, range(seats))))
    if len(names) != seats:
        raise InvalidSettingError(f"seat_names must be {seats} names, not {seat_names!r}")
    sums = [math.fsum(utility) for utility in utilities]
    is_constant = seats > 1 and max(sums) - min(sums) <= _TOLERANCE
    root = _node(nested, first, seats, _names(nested), itertools.count(1))
    return TreeGame(
        root,
        name=name,
        constant=sums[0] if is_constant else None,
        seat_names=names,
        has_chance=_has_chance(nested),
        bounds=_bounds(bounds, utilities),
    )


def _bounds(bounds: Any, utilities: Sequence[tuple[float, ...]]) -> tuple[float, float]:
    if bounds is None:
        return -math.inf, math.inf
    lowest, highest = min(map(min, utilities)), max(map(max, utilities))
    if isinstance(bounds, tuple) and len(bounds) == 2 and all(map(_is_number, bounds)):
        low, high = bounds
        if low <= lowest and highest <= high:
            return float(low), float(high)
    raise InvalidSettingError(
        f"bounds must be two numbers between which all utilities lie, such as ({lowest:g}, {highest:g}), "
        f"not {bounds!r}"
    )


def _ends(nested: Any, depth: int = 0) -> Any:
    if depth > 200:
        raise InvalidSettingError("a tree may be 200 levels deep at most")
    if isinstance(nested, list | dict):
        if not nested:
            raise InvalidSettingError(f"every list of a tree needs something in it, as in {_EXAMPLE}")
        for child in _children(nested):
            yield from _ends(child, depth + 1)
    else:
        yield nested


def _children(nested: Any) -> list[Any]:
    if isinstance(nested, list):
        return nested
    for outcome in nested.values():
        if not isinstance(outcome, tuple) or len(outcome) != 2 or not _is_number(outcome[0]) or outcome[0] <= 0:
            raise InvalidSettingError(
                f"an outcome of chance is a probability and what follows, as in {{'heads': (0.5, 3)}}, "
                f"not {outcome!r}"
            )
    total = math.fsum(outcome[0] for outcome in nested.values())
    if abs(total - 1) > _TOLERANCE:
        raise InvalidSettingError(f"the probabilities of an event of chance must add up to 1, not {total}")
    return [child for _, child in nested.values()]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _utility(end: Any, seats: int) -> tuple[float, ...]:
    if _is_number(end) and seats == 2:
        return float(end), -float(end) or 0.0
    if isinstance(end, tuple) and len(end) == seats and all(map(_is_number, end)):
        return tuple(map(float, end))
    raise InvalidSettingError(
        f"an end of a tree is a number, or a tuple with the utility of each of the {seats} players, not {end!r}"
    )


def _letters(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    text = ""
    number += 1
    while number:
        number, last = divmod(number - 1, 26)
        text = chr(ord("A") + last) + text
    return text


def _names(nested: Any) -> dict[tuple[int, ...], str]:
    """The name of each list and each node of chance, level by level, by the way there."""
    names: dict[tuple[int, ...], str] = {}
    level: list[tuple[tuple[int, ...], Any]] = [((), nested)]
    while level:
        names |= {path: _letters(number) for number, (path, _) in enumerate(level, start=len(names))}
        below = [((*path, place), child) for path, each in level for place, child in enumerate(_children(each))]
        level = [(path, child) for path, child in below if isinstance(child, list | dict)]
    return names


def _node(
    nested: Any,
    seat: int,
    seats: int,
    names: Mapping[tuple[int, ...], str],
    count: Iterator[int],
    path: tuple[int, ...] = (),
) -> TreeNode:
    number = next(count)
    if not isinstance(nested, list | dict):
        return TreeNode("", seat, utility=_utility(nested, seats), number=number)
    name = names[path]
    is_chance = not isinstance(nested, list)
    after = seat if is_chance else (seat + 1) % seats
    children = tuple(
        _node(child, after, seats, names, count, (*path, place)) for place, child in enumerate(_children(nested))
    )
    probabilities: tuple[float, ...] = ()
    if isinstance(nested, list):
        labels = tuple(f"{name.lower()}{place}" for place in range(1, len(children) + 1))
    else:
        labels, probabilities = tuple(map(str, nested)), tuple(float(p) for p, _ in nested.values())
    mover = CHANCE if is_chance else seat
    return TreeNode(name, mover, children, labels, probabilities, (0.0,) * seats, number)


def _has_chance(nested: Any) -> bool:
    if isinstance(nested, dict):
        return True
    return isinstance(nested, list) and any(map(_has_chance, nested))
