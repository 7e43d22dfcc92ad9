"""Retrograde analysis: from the ends of a game back to every position that leads there.

K. Thompson, "Retrograde analysis of certain endgames", ICCA Journal 9(3), 1986.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.knowledge.endgame_kernel import ABSENT
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.rules.scores import WIN

NO_EXIT: Final = -32767  # of a position none of whose moves ends the game
UNUSED: Final = -32768  # of a number that stands for no position, or for a finished one
ENDLESS: Final = 1 << 14  # with either sign, the bound of a gain that is not known, as play may go round for ever
_MOST_PLIES: Final = WIN - 2
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Graph:
    """Positions and their moves."""

    exits: Numbers  # for each position the best score of a move that leaves the graph; or NO_EXIT, or UNUSED
    uppers: Numbers  # the same of scores' upper bounds, where ``exits`` are lower ones
    repeats: Numbers  # what the mover gains where repetition ends the game in a position; empty if it does not
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


def gains(graph: Graph) -> tuple[Numbers, Numbers]:
    """Lower and upper bounds of the movers' gains, from positions that no earlier one can repeat.

    They differ where play may go round for ever, or where the gain depends on which position is repeated. A player
    reaches a bound by moves that come nearer to an exit, or by staying where no repetition is worth less to it.
    """
    lower, upper = _settled(graph, np.full(len(graph.exits), -ENDLESS), np.full(len(graph.exits), ENDLESS))
    while len(graph.repeats):
        most = np.full(len(lower), ENDLESS)
        stays = _settled(graph, most, -most, (lower, upper))
        after = _settled(graph, *stays)
        if np.array_equal(after, (lower, upper)):
            break
        lower, upper = after
    return lower, upper


def _settled(
    graph: Graph, lower: Numbers, upper: Numbers, within: tuple[Numbers, Numbers] | None = None
) -> tuple[Numbers, Numbers]:
    """Bounds of gains, worked out from those of the positions after each until they change no more.

    With ``within``, bounds that hold, players may go round where repetition is good enough for them.
    """
    while True:
        low, high = one_ply_back(graph, lower, upper)
        if within is not None:
            low = np.maximum(within[0], np.minimum(graph.repeats, low))
            high = np.minimum(within[1], np.maximum(graph.repeats, high))
        if np.array_equal(low, lower) and np.array_equal(high, upper):
            return lower, upper
        lower, upper = low, high


def one_ply_back(graph: Graph, lower: Numbers, upper: Numbers) -> tuple[Numbers, Numbers]:
    """The bounds of gains that follow from those of the positions after each."""
    rows, bounds = np.flatnonzero(np.diff(graph.starts)), []
    for exits, own, others in ((graph.exits, lower, upper), (graph.uppers, upper, lower)):
        options = np.where(graph.again, own[graph.children], -others[graph.children])
        options += np.where(np.abs(options) < ENDLESS, graph.leads, 0)
        best = exits.astype(np.int64)
        if len(rows):
            best[rows] = np.maximum(best[rows], np.maximum.reduceat(options, graph.starts[rows]))
        bounds.append(best)
    return bounds[0], bounds[1]


def inconsistent(graph: Graph, scores: Numbers) -> int:
    """The number of outcomes that differ from the best of their moves."""
    best = graph.exits.astype(np.int64)
    options = moved_back(scores[graph.children].astype(np.int64), graph.again)
    options[scores[graph.children] == ABSENT] = NO_EXIT
    rows = np.flatnonzero(np.diff(graph.starts))
    if len(rows):
        best[rows] = np.maximum(best[rows], np.maximum.reduceat(options, graph.starts[rows]))
    return int(np.count_nonzero((scores != ABSENT) & (best != scores)))


def _parents(back: Any, positions: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The positions from which a move leads to one of these, the ones it leads to, and the moves' data."""
    begins, ends = back.indptr[positions], back.indptr[positions + 1]
    counts = (ends - begins).astype(np.int64)
    total = int(counts.sum())
    shift = np.repeat(begins.astype(np.int64) - np.cumsum(counts) + counts, counts)
    moves = np.arange(total) + shift
    return back.indices[moves].astype(np.int64), np.repeat(positions, counts), back.data[moves]
