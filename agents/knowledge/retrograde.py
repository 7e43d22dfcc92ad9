"""Retrograde analysis: from the ends of a game back to every position that leads there.

K. Thompson, "Retrograde analysis of certain endgames", ICCA Journal 9(3), 1986. Positions are numbers; what their
moves lead to is a sparse matrix, which is turned round once. Each position and each move is then looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.core.endgame_tables import ABSENT
from zermelo.envs import UnsupportedGameError
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.history import has_history, without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.scores import WIN
from zermelo.envs.rules.words import flat

NO_EXIT: Final = -32767
"""Of a position none of whose moves ends the game."""
UNUSED: Final = -32768
"""Of a number that stands for no position, or for a finished one."""
_MOST_PLIES: Final = WIN - 2
_CHUNK: Final = 1 << 16
_ROOM: Final = 1 << 21
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Graph:
    """Positions and their moves."""

    exits: Numbers  # for each position the best score of a move that leaves the graph; or NO_EXIT, or UNUSED
    starts: Numbers  # where the moves of each position begin in the next three
    children: Numbers  # the position that a move leads to
    again: Numbers  # whether the same player moves again
    leads: Numbers  # what the mover has gained

    def reversed(self) -> Any:
        """The matrix with a row for each position and its moves turned round: SciPy's, in compressed columns."""
        from scipy.sparse import csr_matrix

        size = len(self.exits)
        data = (self.leads << 1 | self.again).astype(np.int16)
        matrix = csr_matrix((data, self.children, self.starts), shape=(size, size), copy=False)
        return matrix.tocsc()


def moved_back(scores: Numbers, again: Numbers) -> Numbers:
    """Scores of children as they count a move earlier."""
    moved: Numbers = np.where(again, 1, -1) * (scores - np.sign(scores))
    return moved


def outcomes(graph: Graph, *, repetition_draws: bool) -> Numbers:
    """The score of each position under best play; ``ABSENT`` for what is none, or goes round for ever.

    With ``repetition_draws`` who cannot force a win draws. Else a position is a draw only if no play from it that
    keeps the draw goes round.
    """
    exits = graph.exits
    scores = np.full(len(exits), ABSENT, np.int16)
    left = np.diff(graph.starts) + (exits > NO_EXIT)  # the moves that are not known to lose
    back = graph.reversed()
    decisive = exits[(exits > NO_EXIT) & (exits != 0)]
    last = WIN - int(np.abs(decisive).min()) if len(decisive) else 0
    frontier = np.zeros(0, np.int64)
    plies = 1
    while len(frontier) or plies <= last:
        if plies > _MOST_PLIES:
            raise UnsupportedGameError(f"games of more than {_MOST_PLIES} moves fit into no endgame table")
        parents, children, data = _parents(back, frontier)
        good = (scores[children] > 0) == (data & 1).astype(bool)
        lost = np.flatnonzero(exits == plies - WIN)
        np.subtract.at(left, parents[~good], 1)
        left[lost] -= 1
        wins = np.concatenate([np.flatnonzero(exits == WIN - plies), parents[good]])
        wins = np.unique(wins[scores[wins] == ABSENT])
        scores[wins] = WIN - plies
        losses = np.concatenate([lost, parents[~good]])
        losses = np.unique(losses[(left[losses] == 0) & (scores[losses] == ABSENT)])
        scores[losses] = plies - WIN
        frontier = np.concatenate([wins, losses])
        plies += 1
    undecided = (exits != UNUSED) & (scores == ABSENT)
    if repetition_draws:
        scores[undecided] = 0
        return scores
    waiting = np.add.reduceat(np.append(scores[graph.children] == ABSENT, False), graph.starts[:-1])
    waiting = np.where(np.diff(graph.starts) > 0, waiting, 0)
    frontier = np.flatnonzero(undecided & (waiting == 0))
    while len(frontier):
        scores[frontier] = 0
        parents, _, _ = _parents(back, frontier)
        np.subtract.at(waiting, parents, 1)
        frontier = np.unique(parents[(waiting[parents] == 0) & (scores[parents] == ABSENT)])
    return scores


def gains(graph: Graph) -> Numbers:
    """The gains of movers under best play; ``ABSENT`` for numbers without a position, and for endless play."""
    best = graph.exits.copy()
    scores = np.full(len(best), ABSENT, np.int16)
    waiting = np.diff(graph.starts)
    back = graph.reversed()
    frontier = np.flatnonzero((best != UNUSED) & (waiting == 0))
    while len(frontier):
        scores[frontier] = best[frontier]
        parents, children, data = _parents(back, frontier)
        np.maximum.at(best, parents, (data >> 1) + np.where(data & 1, 1, -1) * best[children])
        np.subtract.at(waiting, parents, 1)
        frontier = np.unique(parents[waiting[parents] == 0])
    return scores


def inconsistent(graph: Graph, scores: Numbers, *, gains: bool) -> int:
    """The number of entries that differ from the best of their moves."""
    found = graph.exits.astype(np.int64)
    of_children = scores[graph.children].astype(np.int64)
    if gains:
        options = graph.leads + np.where(graph.again, 1, -1) * of_children
    else:
        options = moved_back(of_children, graph.again)
    options[of_children == ABSENT] = NO_EXIT
    rows = np.flatnonzero(np.diff(graph.starts))
    if len(rows):
        found[rows] = np.maximum(found[rows], np.maximum.reduceat(options, graph.starts[rows]))
    return int(np.count_nonzero((scores != ABSENT) & (found != scores)))


def _parents(back: Any, positions: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The positions from which a move leads to one of these, the ones it leads to, and the moves' data."""
    begins, ends = back.indptr[positions], back.indptr[positions + 1]
    counts = (ends - begins).astype(np.int64)
    total = int(counts.sum())
    shift = np.repeat(begins.astype(np.int64) - np.cumsum(counts) + counts, counts)
    moves = np.arange(total) + shift
    return back.indices[moves].astype(np.int64), np.repeat(positions, counts), back.data[moves]


# -- the moves of many positions


@dataclass(frozen=True)
class Moves:
    """The moves of some positions."""

    first: int  # the number of the first of them
    exits: Numbers  # for each the best that a move which ends the game gives, or NO_EXIT, or UNUSED
    counts: Numbers  # how many other moves each has; a row each in what follows
    again: Numbers  # whether the same player moves again
    leads: Numbers  # what the player has gained
    names: Numbers  # the child's part, or its key
    children: Numbers  # the child's index in its part (one column), or its state


class Expansion:
    """Lists the moves of positions of one game, which rules may number (``indexed``), compiled."""

    def __init__(self, game: RulesGame, *, indexed: bool, gains: bool) -> None:
        from zermelo.agents.knowledge import kernel  # which imports Numba

        rules = game.rules
        here = kernel.__name__
        leads = hasattr(rules, "table_lead")
        constants = {"HISTORY": has_history(rules), "INDEXED": indexed, "GAINS": gains, "LEADS": leads}
        what = Kernel(kernel.expand, ("int64",) * 4, tuple((f"{here}.{k}", v) for k, v in constants.items()))
        self._run = build(rules, what)
        self._like = starter(rules, 1)(game.initial_state())
        self._size = len(flat(without_past(game.initial_state())))
        self._width = kernel.HEAD + (1 if indexed else self._size)
        room = max(_ROOM, 2 * game.max_legal_actions * self._width)
        self._arrays = [np.zeros(0, np.int64), *(np.empty(_CHUNK, np.int64) for _ in range(2))]
        self._arrays += [np.empty(room, np.int64), np.empty(game.max_legal_actions, np.int64)]
        self._block = np.zeros(kernel.DONE + 1, np.int64)
        self._block[kernel.ROOM : kernel.DONE] = room, self._width, self._size

    def of_states(self, states: Numbers) -> Iterator[Moves]:
        """The expansions of states, in order."""
        self._arrays[0] = np.ascontiguousarray(states)
        return self.of_part(0, len(states))

    def of_part(self, part: int, count: int) -> Iterator[Moves]:
        """The expansions of the positions of a part, in order."""
        states, exits, counts, children, scratch = self._arrays
        self._block[:5] = [each.ctypes.data for each in (states, exits, counts, children, scratch)]
        first = 0
        while first < count:
            done = self._run(*self._like, part, first, min(_CHUNK, count - first), self._block.ctypes.data)
            rows = children[: self._block[-1]].reshape(-1, self._width)
            yield Moves(
                first,
                exits[:done].copy(),
                counts[:done].copy(),
                (rows[:, 1] & 1).astype(bool),
                rows[:, 1] >> 1,
                rows[:, 0].copy(),
                rows[:, 2:].copy(),
            )
            first += done
