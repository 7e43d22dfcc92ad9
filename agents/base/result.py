"""Results of searches, and how they are printed."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from zermelo.agents.base.limits import StoppedBy

WIDTH: Final = 100
_ROWS: Final = 20


def one_line(words: Iterable[object], count: int, width: int = WIDTH) -> str:
    """Joins words up to the width of a line, and adds how many of ``count`` words are left out."""
    shown: list[str] = []
    used = 0
    for word in map(str, words):
        used += len(word) + 1
        if shown and used > width:
            break
        shown.append(word)
    left_out = count - len(shown)
    return " ".join(shown) + (f" and {left_out:,} more" if left_out else "")


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows under their headings, to the right, the first ones if there are many."""
    cells = [columns, *rows[:_ROWS]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.rjust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "─" * len(lines[0]))
    return lines + ([f"and {len(rows) - _ROWS:,} more"] if len(rows) > _ROWS else [])


@dataclass(frozen=True, kw_only=True, repr=False)
class SearchResult:
    """The answer of a search, in the game's own utility: a win five plies away is 1.0, not 0.95.

    Values include rewards so far, but for copies of live environments, of which it is not known what they have
    paid before: their values are what is paid from here on.

    Attributes:
        action: The chosen action, an integer of the game (``Game.legal_actions``).
        env_action: The same as ``env.step`` takes it.
        value: The value of the position for the player to move at the root.
        values_by_seat: The value for every seat, in seat order.
        action_values: Root actions whose exact value (for the player to move) is known: all with ``exact=True``,
            otherwise those that the search happened to resolve. A bound is never among them.
        proven_actions: Those of them whose value is proven, ascending; that of any other is an evaluation.
        principal_variation: The line of best play found, the chosen action first.
        nodes: States visited, the root and terminal states included.
        depth: The greatest depth, in moves, that was searched completely.
        seconds: Wall-clock time spent searching.
        compiling: Seconds before that, spent on compiling or loading rules or on finding out traits.
        stopped_by: What ended the search.
        proven: The value is the true one under perfect play: no evaluation, cut-off or sample entered it.
        plies: Moves to the end of the game under best play, where that is proven.
        is_estimate: Chance was sampled, so values are estimates.
        standard_error: How wide the estimate of ``value`` is (one standard error), where it is one.
        visits: How many simulations followed each root action, for searches that simulate; ``action_values`` are
            then means, exact only where they are proven.
        policy: How likely each root action was to be played, for agents that mix; by a table, ``value`` is what
            the policy gets from the start of the game on.
        method: Which search it was and why, where the agent has chosen (``AutoAgent``).
        evaluator: What judged states before the end of the game: an evaluator's name, or ``"playouts"``; empty
            where nothing had to.
        leaf_seconds: Seconds that this took on average for a state, in plain Python. It is no part of equality.
        compiled: Whether the search ran compiled.
        why_plain: Why it ran in plain Python although the game has rules that can be compiled, and what to do.
        simulations: How many simulations were made, for searches that simulate.
        actions_tried: Number of root actions that were searched, of ``actions_legal``.
        assumed: The traits of the game that were taken for granted.
        note: A sentence on what the search could not see, such as playouts that all end alike; empty without one.
        failures: Lines of play that were left out because the environment failed in them; then nothing is proven.
        stats: Further counts of the algorithm, such as table hits, by name.
    """

    action: int
    env_action: Any = None
    value: float
    values_by_seat: tuple[float, ...]
    action_values: Mapping[int, float] = field(default_factory=dict)
    proven_actions: tuple[int, ...] = ()
    principal_variation: tuple[int, ...] = ()
    nodes: int = 0
    depth: int = 0
    seconds: float = 0.0
    compiling: float = 0.0
    stopped_by: StoppedBy = StoppedBy.COMPLETED
    proven: bool = False
    plies: int | None = None
    is_estimate: bool = False
    standard_error: float | None = None
    visits: Mapping[int, int] = field(default_factory=dict)
    policy: Mapping[int, float] = field(default_factory=dict)
    method: str = ""
    evaluator: str = ""
    leaf_seconds: float = field(default=0.0, compare=False)
    compiled: bool = field(default=False, compare=False)
    why_plain: str = field(default="", compare=False)
    simulations: int = 0
    actions_tried: int = 0
    actions_legal: int = 0
    assumed: tuple[str, ...] = ()
    note: str = ""
    failures: int = 0
    stats: Mapping[str, float] = field(default_factory=dict)

    @property
    def _kind(self) -> str:
        return "proven" if self.proven else "estimated from samples" if self.is_estimate else "not proven"

    def __repr__(self) -> str:
        return f"<SearchResult: action {self.action}, value {self.value:.6g}, {self._kind}>"

    def __str__(self) -> str:
        """Three lines: what to play, its value, what that took; more on what it rests on and did not see."""
        actions = self.principal_variation or (self.action,)
        by = f" by {self.method}" if self.method else ""
        parts = [f"{self.nodes:,} nodes", f"depth {self.depth}"]
        if self.simulations:
            parts[1] = f"{self.simulations:,} simulations"
        if self.actions_tried < self.actions_legal:
            parts.append(f"{self.actions_tried} of {self.actions_legal} actions")
        parts += [f"{self.seconds:.2f} s", "compiled" if self.compiled else "plain Python"]
        trust = list(self.assumed)
        if self.failures:
            trust.append(f"{self.failures:,} lines of play in which the environment fails are left out")
        return (
            f"action {self.action}{by}; principal variation {one_line(actions, len(actions))}\n"
            f"value {self.value:.6g} for the player to move, {self._kind}\n"
            f"{', '.join(parts)}; stopped by: {self.stopped_by.value}"
            + (f"\nrests on: {'; '.join(trust)}" if trust else "")
            + (f"\nnote: {self.note}" if self.note else "")
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as numbers, texts, lists and dictionaries with text as keys, ready for ``json.dumps``."""
        env_action = self.env_action.tolist() if hasattr(self.env_action, "tolist") else self.env_action
        named: dict[str, Any] = msgspec.to_builtins(dataclasses.replace(self, env_action=None), str_keys=True)
        return named | {"env_action": env_action}

    @property
    def nodes_per_second(self) -> float:
        """How fast the search was; 0 where no time went by."""
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    @property
    def best_actions(self) -> tuple[int, ...]:
        """All root actions of the greatest known exact value, ascending; just ``action`` if none is known.

        Of a search that simulates, those with most visits, unless the value is proven.
        """
        if self.visits and not self.proven:
            most = max(self.visits.values())
            return tuple(sorted({self.action} | {a for a, visits in self.visits.items() if visits == most}))
        if not self.action_values:
            return (self.action,)
        best = max(self.action_values.values())
        return tuple(sorted(a for a, v in self.action_values.items() if v == best))


def drawn_action(policy: Mapping[int, float], draw: float) -> int:
    """An action of a policy, by a random number from 0.0 up to 1.0, which is excluded."""
    chosen = next(iter(policy))
    for action, share in policy.items():
        draw -= share
        if share > 0:
            chosen = action
        if draw < 0:
            break
    return chosen


Answer = TypeVar("Answer")
_BY_ACTION: Final = ("action_values", "visits", "policy", "action_plies")


def renumbered(answer: Answer, game: Any, state: Any) -> Answer:
    """A result or solution of a state of a game, with ``game.to_env_action`` of each action in it."""
    found: Any = answer
    number = functools.partial(game.to_env_action, state)
    changes: dict[str, Any] = {"principal_variation": _line(game, state, found.principal_variation)}
    for name in _BY_ACTION:
        values = getattr(found, name, None)
        if isinstance(values, Mapping):
            changes[name] = dict(sorted((number(action), value) for action, value in values.items()))
    if hasattr(found, "action"):
        changes["action"] = number(found.action)
        changes["proven_actions"] = tuple(sorted(map(number, found.proven_actions)))
    return dataclasses.replace(found, **changes)  # type: ignore[no-any-return]  # of the answer's class


def _line(game: Any, state: Any, actions: Sequence[int]) -> tuple[int, ...]:
    numbers = []
    for action in actions:
        numbers.append(game.to_env_action(state, action))
        state = game.result(state, action)
    return tuple(numbers)
