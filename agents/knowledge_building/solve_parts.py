"""Solving the parts of an endgame table, a group at a time: a task for a runner."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.tasks import PureWork
from zermelo.agents.knowledge.endgame_kernel import ABSENT
from zermelo.agents.knowledge.endgame_tables import has_gains
from zermelo.agents.knowledge_building.retrograde import (
    UNUSED,
    Graph,
    Numbers,
    gains,
    inconsistent,
    moved_back,
    outcomes,
)
from zermelo.envs.jit.build import build
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.rules.history import has_history, without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flatten_state

BYTES_A_POSITION: Final = 40
BYTES_A_MOVE: Final = 50
_SAMPLES: Final = 64  # runs of numbers in each part by which its memory is estimated
_SAMPLE: Final = 256
_CHUNK: Final = 1 << 16
_ROOM: Final = 1 << 21


@dataclass(frozen=True)
class MoveArrays:
    """The moves of some positions."""

    first: int  # the number of the first of them
    exits: Numbers  # for each the best that a move which ends the game gives, or NO_EXIT, or UNUSED
    repeats: Numbers  # what the mover of each gains where repetition ends the game there
    counts: Numbers  # how many other moves each has; a row each in what follows
    again: Numbers  # whether the same player moves again
    leads: Numbers  # what the player has gained
    names: Numbers  # the child's part, or its key
    children: Numbers  # the child's index in its part (one column), or its state


class MoveLister:
    """Lists the moves of positions of one game, which rules may number (``indexed``), compiled."""

    def __init__(self, game: RulesGame, *, indexed: bool, gains: bool) -> None:
        from zermelo.agents.knowledge_building import list_moves_kernel as kernel

        rules = game.rules
        variant = kernel.MovesVariant(
            history=has_history(rules),
            indexed=indexed,
            gains=gains,
            leads=hasattr(rules, "table_lead"),
            repeats=hasattr(rules, "table_repetition"),
        )
        self._run = build(rules, Kernel(kernel.expand, ("int64",) * 4, (variant,)))
        self._like = argument_maker(rules, 1)(game.initial_state())
        self._size = len(flatten_state(without_past(game.initial_state())))
        self._width = kernel.HEAD + (1 if indexed else self._size)
        room = max(_ROOM, 2 * game.max_legal_actions * self._width)
        self._arrays = [np.zeros(0, np.int64), *(np.empty(_CHUNK, np.int64) for _ in range(3))]
        self._arrays += [np.empty(room, np.int64), np.empty(game.max_legal_actions, np.int64)]
        self._block = np.zeros(kernel.DONE + 1, np.int64)
        self._block[kernel.ROOM : kernel.DONE] = room, self._width, self._size

    def of_states(self, states: Numbers) -> Iterator[MoveArrays]:
        self._arrays[0] = np.ascontiguousarray(states)
        return self.of_part(0, len(states))

    def of_part(self, part: int, count: int, first: int = 0) -> Iterator[MoveArrays]:
        """The expansions of the positions of a part, from number ``first`` to before ``count``, in order."""
        _, exits, counts, repeats, children, _ = self._arrays
        self._block[:6] = [each.ctypes.data for each in self._arrays]
        while first < count:
            done = self._run(*self._like, part, first, min(_CHUNK, count - first), self._block.ctypes.data)
            rows = children[: self._block[-1]].reshape(-1, self._width)
            yield MoveArrays(
                first,
                exits[:done].copy(),
                repeats[:done].copy(),
                counts[:done].copy(),
                (rows[:, 1] & 1).astype(bool),
                rows[:, 1] >> 1,
                rows[:, 0].copy(),
                rows[:, 2:].copy(),
            )
            first += done


class Solved(NamedTuple):
    """The scores of positions, one row, or two: of gains the lower and the upper bounds."""

    scores: Numbers
    undecided: int  # positions without a proven value, as play from them may go round


class PartGroup(NamedTuple):
    """Parts whose positions lead to one another, with their sizes, and the scores of parts that they lead to."""

    sizes: dict[int, int]
    known: dict[int, Numbers]


@dataclass
class GroupWork(PureWork):
    """Solves groups of parts as tasks of a runner."""

    rules: Any  # which number their positions
    report: Callable[[Iterable[int], int], Any] | None = field(default=None, init=False)
    """Called with a group's parts and how many of its positions are listed; workers do not call it."""

    @property
    def has_gains(self) -> bool:
        """Whether scores count what the player to move gains, not how soon that player wins."""
        return has_gains(self.rules)

    @property
    def repetition_draws(self) -> bool:
        """Whether a position that neither player can win by force is a draw."""
        return has_history(self.rules) and not hasattr(self.rules, "table_repetition")

    @functools.cached_property
    def expansion(self) -> MoveLister:
        return MoveLister(RulesGame(self.rules), indexed=True, gains=self.has_gains)

    def run(self, item: PartGroup, on_turn: Callable[[int], None] | None = None) -> Solved | set[int]:
        """The scores of a group, part after part; or the parts that they lead to and whose scores are missing."""
        local: dict[int, int] = {}
        for part in item.sizes:
            local[part] = sum(item.sizes[each] for each in local)
        inner: list[tuple[Numbers, ...]] = []
        missing: set[int] = set()
        for part, size in item.sizes.items():
            for moves in self.expansion.of_part(part, size):
                missing.update(set(np.unique(moves.names).tolist()) - local.keys() - item.known.keys())
                if not missing:
                    inner.append(self._inner(moves, local, item.known))
                if self.report is not None:
                    self.report(item.sizes, local[part] + moves.first)
        return missing or self.solved(inner)

    def _inner(self, moves: MoveArrays, local: dict[int, int], solved: dict[int, Numbers]) -> tuple[Numbers, ...]:
        """Moves inside the group; what the others lead to is known, and becomes an exit."""
        rows = np.repeat(np.arange(len(moves.exits)), moves.counts)
        children = moves.children[:, 0]
        inside = np.zeros(len(rows), bool)
        exits, uppers = moves.exits, moves.exits.copy()
        for part in np.unique(moves.names).tolist():
            those = moves.names == part
            if part in local:
                children[those] += local[part]
                inside |= those
                continue
            scores = solved[part][:, children[those]].astype(np.int64)
            again = moves.again[those]
            if self.has_gains:
                lower, upper = moves.leads[those] + np.where(again, scores, -scores[::-1])
                np.maximum.at(uppers, rows[those], upper)
            else:
                lower = moved_back(scores[0], again)
                lower[scores[0] == ABSENT] = 0  # it goes round for ever
            np.maximum.at(exits, rows[those], lower)
        counts = np.bincount(rows[inside], minlength=len(exits))
        inner = children[inside].astype(np.int32), moves.again[inside], moves.leads[inside].astype(np.int16)
        return exits, uppers, moves.repeats, counts, *inner

    def solved(self, rows: list[tuple[Numbers, ...]]) -> Solved:
        """The scores of the positions of a graph, each checked against those that its moves lead to."""
        joined = (np.concatenate(each) for each in zip(*rows, strict=True))
        exits, uppers, repeats, counts, children, again, leads = joined
        rows.clear()
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.int32 if len(children) < 2**31 else np.int64
        inner = starts.astype(index), children.astype(index, copy=False), again, leads
        repeated = repeats if hasattr(self.rules, "table_repetition") else repeats[:0]
        graph = Graph(exits, uppers, repeated, *inner)
        if self.has_gains:
            lower, upper = gains(graph)
            return Solved(np.stack([lower, upper]).astype(np.int16), int(np.count_nonzero(lower != upper)))
        scores = outcomes(graph, repetition_draws=self.repetition_draws)
        if wrong := inconsistent(graph, scores):
            raise AssertionError(f"{wrong} entries do not follow from those that their moves lead to")
        return Solved(scores[np.newaxis], int(np.count_nonzero((exits != UNUSED) & (scores == ABSENT))))

    def sampled(self, sizes: dict[int, int]) -> tuple[int, set[int]]:
        """About how many bytes a group takes, and parts that it leads to, from moves of some positions."""
        drawn, memory, leads_to = np.random.default_rng(0), 0.0, set[int]()
        for part, size in sizes.items():
            places = drawn.integers(size, size=_SAMPLES).tolist()
            samples = [next(self.expansion.of_part(part, min(at + _SAMPLE, size), at)) for at in places]
            leads_to.update(*(np.unique(each.names).tolist() for each in samples))
            moves = sum(len(each.names) for each in samples) / sum(len(each.exits) for each in samples)
            memory += size * (BYTES_A_POSITION + moves * BYTES_A_MOVE)
        return int(memory), leads_to - sizes.keys()
