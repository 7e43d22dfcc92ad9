"""Lengths of games, and the time and nodes of moves, counted in one pass."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from zermelo.evaluation.match.record import StoredGame


@dataclass
class AgentEffort:
    """One agent's moves.

    Attributes:
        moves: How many.
        seconds, longest: Wall-clock time of all of them, and of the longest.
        searches: Moves whose search says how many nodes it visited.
        nodes, most_nodes: Of all of these, and of the largest.
        searched_seconds: Wall-clock time of these.
        depths, depth: Moves whose search says its depth, and the sum of the depths.
    """

    moves: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    searches: int = 0
    nodes: float = 0
    most_nodes: float = 0
    searched_seconds: float = 0.0
    depths: int = 0
    depth: float = 0

    def add(self, seconds: float, nodes: float | None, depth: float | None) -> None:
        """Counts a move."""
        self.moves += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)
        if nodes is not None:
            self.searches += 1
            self.nodes += nodes
            self.most_nodes = max(self.most_nodes, nodes)
            self.searched_seconds += seconds
        if depth is not None:
            self.depths += 1
            self.depth += depth


class Effort:
    """All games, added one at a time.

    Attributes:
        games: Games added, void ones included.
        lengths: Games that count by their number of plies, those of the opening included.
        ends: Those games by what ended them.
        versions: Of what the first game was played with.
        agents: By name, those that moved.
    """

    def __init__(self) -> None:
        self.games = 0
        self.lengths = Counter[int]()
        self.ends = Counter[str]()
        self.versions: Mapping[str, str] = {}
        self.agents = defaultdict[str, AgentEffort](AgentEffort)

    def add(self, game: StoredGame) -> None:
        """Counts a game."""
        self.versions = self.versions or game.versions
        self.games += 1
        moves = game.moves
        missing = [None] * len(moves.seat)
        columns = map(game.numbers, (moves.seconds, moves.nodes or missing, moves.depth or missing))
        for seat, *figures in zip(moves.seat, *columns, strict=True):
            self.agents[game.agents[seat]].add(*figures)
        if not game.void:
            self.lengths[len(game.opening) + len(moves.seat)] += 1
            self.ends[game.end if game.failure is None else game.failure.kind] += 1
