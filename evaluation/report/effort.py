"""Counts over all games of a report: lengths, time and nodes of moves, and ratings after each eighth of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zermelo.evaluation.match.record import GameRecord, Move
from zermelo.evaluation.output.numbers import number
from zermelo.evaluation.report.markup import Line, Point, line_plot
from zermelo.evaluation.results import GameCounts, Result
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.rows import dispersion


@dataclass
class AgentEffort:
    """One agent's moves."""

    moves: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    searches: int = 0  # moves with a number of nodes
    nodes: float = 0
    most_nodes: float = 0
    searched_seconds: float = 0.0
    depths: int = 0  # moves with a depth
    depth: float = 0
    pondered: int = 0  # moves before which it pondered
    hits: int = 0  # those of them that it had pondered on

    def add(self, move: Move) -> None:
        _, _, seconds, nodes, depth, _, expected = move
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
        if expected is not None:
            self.pondered += 1
            self.hits += expected


class Effort:
    """All games, added one at a time: lengths by plies, openings included, and ends, of those that count."""

    def __init__(self) -> None:
        self.games = 0
        self.lengths = Counter[int]()
        self.ends = Counter[str]()
        self.versions: Mapping[str, str] = {}
        self.agents = defaultdict[str, AgentEffort](AgentEffort)

    def add(self, game: GameRecord) -> None:
        self.versions = self.versions or game.versions
        self.games += 1
        for move in game.moves:
            self.agents[game.agents[move.seat]].add(move)
        if not game.void:
            self.lengths[len(game.opening) + len(game.moves)] += 1
            self.ends[game.end if game.failure is None else game.failure.kind] += 1


STEPS: Final = 8  # points of each line, at most
FEWEST: Final = 4  # blocks below which there is no history to show
MOST_AGENTS: Final = 8  # lines of a plot: of more agents the first are shown
_PARTS: Final = 64  # parts that are counted apart, at most


class RatingHistory:
    """Counts games as they come, in any order."""

    def __init__(self) -> None:
        self._parts = defaultdict[int, Counter[tuple[tuple[str, ...], tuple[int, ...]]]](Counter)
        self._blocks = 1

    def add(self, game: GameRecord) -> None:
        block = game.game_id.partition(".")[0]
        if not block.isascii() or not block.isdigit() or len(game.agents) < 2 or game.void:
            return
        number = int(block[:15])
        while number // self._blocks >= _PARTS:
            self._blocks *= 2
            halved, self._parts = self._parts, defaultdict(Counter)
            for part, counts in halved.items():
                self._parts[part // 2] += counts
        self._parts[number // self._blocks][Result.of(game)[:2]] += 1

    def plot(self, standings: Ranking, order: Sequence[str]) -> str:
        parts = sorted(self._parts)
        if len(parts) < FEWEST or standings.ratings is None:
            return ""
        seen, judged = Counter[tuple[tuple[str, ...], tuple[int, ...]]](), standings.results.judged
        most = {
            (names, ranks): games for names, ranks, games in judged.counts().items()
        }  # fewer where games are copies
        lines: dict[str, list[Point]] = {name: [] for name in order[:MOST_AGENTS]}
        last = [len(parts) * step // STEPS for step in range(1, STEPS + 1)]
        ends = {parts[end - 1] for end in last if end}
        spread = dispersion(judged)
        for part in parts:
            seen += self._parts[part]
            if part not in ends:
                continue
            counts = GameCounts.of({key: min(games, most.get(key, 0)) for key, games in seen.items()})
            anchor = standings.ratings.anchor if standings.ratings.anchor in counts.players else None
            is_last = part == parts[-1]
            ratings = standings.ratings if is_last else fit_ratings(counts, anchor=anchor, dispersion=spread)
            for player in ratings.players:
                if player.name in lines and player.status == "finite":
                    interval = f"{number(player.elo)} ({number(player.lower)} to {number(player.upper)})"
                    text = f"{player.name} after {counts.games:,} games: {interval}"
                    lines[player.name].append(Point(counts.games, player.elo, player.lower, player.upper, text))
        drawn = [Line(name, points) for name, points in lines.items() if len(points) > 1]
        caption = "Rating as games went on, with its interval"
        caption += f", of the first {MOST_AGENTS} agents" * (len(order) > MOST_AGENTS)
        return line_plot(caption, drawn, x_unit="games", y_unit="Elo") if drawn else ""
