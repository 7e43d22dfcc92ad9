"""Games written down as their trees: the small ones that algorithms are explained on, and textbooks' figures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError, illegal_action
from zermelo.envs.game import CHANCE, Chance, RewardSum, Traits, TraitSource
from zermelo.envs.support.spec_text import unknown_name

_EXAMPLE = "[[3, 12, 8], [2, 4, 6], [14, 5, 2]]"
_TOLERANCE = 1e-9
_DEEPEST = 200


@dataclass(eq=False)
class TreeNode:
    """A state of a game that is given as its tree.

    Attributes:
        number: Different for all nodes of a tree.
        seat: Who moves: ``CHANCE`` where an outcome is drawn. Of ends it says nothing.
        name: ``A`` for the root, then level by level; empty for ends.
        children: What follows each action or outcome; none at ends.
        labels: The actions or outcomes, as figures call them.
        utility: Every seat's, at ends.
    """

    number: int
    seat: int
    name: str = ""
    children: tuple[TreeNode, ...] = ()
    labels: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    utility: tuple[float, ...] = ()


class TreeGame:
    """The game of a tree: states are its nodes, actions count from 0 at each node."""

    def __init__(self, root: TreeNode, traits: Traits) -> None:
        self.root, self.traits = root, traits

    def initial_state(self) -> TreeNode:
        return self.root

    def to_move(self, state: TreeNode) -> int:
        return state.seat

    def legal_actions(self, state: TreeNode) -> Sequence[int]:
        return range(len(state.children))

    def chance_outcomes(self, state: TreeNode) -> Sequence[tuple[int, float]]:
        return list(enumerate(state.probabilities))

    def result(self, state: TreeNode, action: int) -> TreeNode:
        """The child; ``IllegalActionError`` if there is none of that number."""
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

    def action_aliases(self, state: TreeNode, action: int) -> Sequence[str]:
        return ()


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
        bounds: The lowest and highest utility of any seat, which searches may use; by default they know none.

    Raises:
        InvalidSettingError: It is no such tree.
    """
    if not isinstance(nested, list | dict):
        raise InvalidSettingError(f"a tree is a list such as {_EXAMPLE}, not {nested!r}")
    is_seat = isinstance(first, int) and not isinstance(first, bool) and first >= 0
    nodes = _nodes(nested, first if is_seat else 0)
    ends = [(node, given) for node, given in nodes if not node.children]
    seats = max((len(end) for _, end in ends if isinstance(end, tuple)), default=2)
    if not is_seat or first >= seats:
        raise InvalidSettingError(f"first must be a seat from 0 to {seats - 1}, not {first!r}")
    names = tuple(seat_names) or (("MAX", "MIN") if seats == 2 else tuple(map(_letters, range(seats))))
    if len(names) != seats:
        raise InvalidSettingError(f"seat_names must be {seats} names, not {seat_names!r}")
    for node, given in nodes:
        node.seat = CHANCE if node.probabilities else node.seat % seats
        node.utility = (0.0,) * seats if node.children else _utility(given, seats)
    utilities = [node.utility for node, _ in ends]
    sums = [math.fsum(utility) for utility in utilities]
    is_constant = seats > 1 and max(sums) - min(sums) <= _TOLERANCE
    constant = RewardSum.CONSTANT if sums[0] else RewardSum.ZERO
    traits = Traits(
        name=name,
        seat_names=names,
        reward_sum=constant if is_constant else RewardSum.GENERAL,
        constant=sums[0] if is_constant else 0.0,
        chance=Chance.EXACT if any(node.probabilities for node, _ in nodes) else Chance.NONE,
        utility_bounds=_bounds(bounds, utilities),
        terminal_rewards_only=True,
        sources=dict.fromkeys(("reward_sum", "chance", "terminal_rewards_only"), TraitSource.GIVEN),
    )
    return TreeGame(nodes[0][0], traits)


def _nodes(nested: Any, first: int) -> list[tuple[TreeNode, Any]]:
    """The nodes of nested lists, breadth first, as they are named, and what each stands for; seats count turns."""
    nodes = [(TreeNode(0, first), nested)]
    level_end, depth, decided = 1, 0, 0
    for place, (node, given) in enumerate(nodes):
        if place == level_end:
            level_end, depth = len(nodes), depth + 1
        if depth > _DEEPEST:
            raise InvalidSettingError(f"a tree may be {_DEEPEST} levels deep at most")
        if not isinstance(given, list | dict):
            continue
        if not given:
            raise InvalidSettingError(f"every list of a tree needs something in it, as in {_EXAMPLE}")
        node.name, turn = _letters(decided), node.seat
        decided += 1
        if isinstance(given, dict):
            below, node.labels, node.probabilities = _outcomes(given)
        else:
            below, turn = given, turn + 1
            node.labels = tuple(f"{node.name.lower()}{number}" for number in range(1, len(given) + 1))
        node.children = tuple(TreeNode(len(nodes) + number, turn) for number in range(len(below)))
        nodes += zip(node.children, below, strict=True)
    return nodes


def _outcomes(given: dict[Any, Any]) -> tuple[list[Any], tuple[str, ...], tuple[float, ...]]:
    """What follows each outcome of an event of chance, their names and their probabilities."""
    for outcome in given.values():
        if not isinstance(outcome, tuple) or len(outcome) != 2 or not _is_number(outcome[0]) or outcome[0] <= 0:
            raise InvalidSettingError(
                f"an outcome of chance is a probability and what follows, as in {{'heads': (0.5, 3)}}, "
                f"not {outcome!r}"
            )
    total = math.fsum(probability for probability, _ in given.values())
    if abs(total - 1) > _TOLERANCE:
        raise InvalidSettingError(f"the probabilities of an event of chance must add up to 1, not {total}")
    below, probabilities = [each for _, each in given.values()], tuple(float(each) for each, _ in given.values())
    return below, tuple(map(str, given)), probabilities


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


class _Figure(NamedTuple):
    nested: Any
    about: str


_TWO_PLY: Final = [[3, 12, 8], [2, 4, 6], [14, 5, 2]]


def _dice(first: float, second: float) -> dict[str, Any]:
    """Chance as in the figure of order-preserving transformations, before two equal answers."""
    return {"0.9": (0.9, [first, first]), "0.1": (0.1, [second, second])}


def _backgammon() -> list[Any]:
    """The levels of a backgammon tree, where all rolls but two are one outcome and every player has two moves."""
    rolls = {"1-1": 1 / 36, "6-6": 1 / 36, "others": 34 / 36}
    ends = itertools.cycle([2, -1, 1, -1, 1])  # as in the figure

    def rolled(below: Callable[[], Any]) -> dict[str, Any]:
        return {name: (probability, below()) for name, probability in rolls.items()}

    return [rolled(lambda: [rolled(lambda: next(ends)) for _ in range(2)]) for _ in range(2)]


_FOURTH_EDITION: Final[Mapping[str, _Figure]] = {
    "aima-5.2": _Figure(_TWO_PLY, "minimax on a tree of two plies"),
    "aima-5.4": _Figure(
        [[[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]], [[(5, 1, 1), (1, 5, 2)], [(7, 7, 1), (5, 4, 5)]]],
        "max^n with three players",
    ),
    "aima-5.5": _Figure(_TWO_PLY, "alpha-beta on a tree of two plies, stage by stage"),
    "aima-5.13": _Figure(
        _backgammon(), "expectiminimax on the levels of a backgammon tree, with few rolls and moves"
    ),
    "aima-5.14a": _Figure([_dice(2, 3), _dice(1, 4)], "expectiminimax: with these values the first move is best"),
    "aima-5.14b": _Figure(
        [_dice(20, 30), _dice(1, 400)], "the same with values in the same order: the second move is best"
    ),
}
_THIRD_EDITION: Final = {"aima-5.11": "aima-5.13", "aima-5.12a": "aima-5.14a", "aima-5.12b": "aima-5.14b"}
_FIGURES: Final = {**_FOURTH_EDITION, **{name: _FOURTH_EDITION[now] for name, now in _THIRD_EDITION.items()}}


def figure(name: str) -> TreeGame:
    """The game of a figure, such as ``aima-5.2``.

    Raises:
        UnknownNameError: There is no such figure; the message names those that are spelt alike.
    """
    if name not in _FIGURES:
        raise unknown_name("figure", name, _FIGURES)
    return tree_game(_FIGURES[name].nested, name=name)


def list_figures() -> dict[str, str]:
    """The figures, and what each is for."""
    return {name: found.about for name, found in _FIGURES.items()}
