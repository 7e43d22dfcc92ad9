"""Standings as people and programs read them: text, HTML, plots, CSV and JSON."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.text import finite, printable
from zermelo.evaluation.output import cells, notebook
from zermelo.evaluation.output.numbers import percent
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.ratings.elo import ELO_SCALE
from zermelo.evaluation.stats.ratings.table import PlayerRating
from zermelo.evaluation.stats.rounds import matches, total_points
from zermelo.evaluation.stats.rows import AgentRow
from zermelo.evaluation.stats.score_interval import INTERVAL, PERCENT
from zermelo.evaluation.storage.counting import count_games
from zermelo.evaluation.storage.games import StoredGames
from zermelo.evaluation.text_table import TextTable

MANY_AGENTS: Final = 6  # more than these leave decimals, or intervals, out of the crosstable, to fit a terminal
_OF_REWARDS: Final = (
    "reward: the mean of what a game paid an agent, in the game's own units, with its "
    f"{PERCENT} confidence interval\n"
    "(Student's, over deals: games that differ by the seats alone count as one)."
)
_OF_TEAMS: Final = (
    "cooperative: all seats of a game are paid alike, so a team has one score and nobody wins or loses.\n"
    f"alone: the mean score of teams of that agent alone; mixed: of its teams with the others; with {PERCENT}\n"
    "confidence intervals (Student's, over deals). games: one for each seat that the agent had.\n"
    "Second table: the score with agents 1, 2, ..., and milliseconds a move."
)


@checked_call
@dataclass(frozen=True, kw_only=True)
class Standings(Ranking):
    """The table of a tournament, with its games in the order of the schedule; ``print`` shows it."""

    records: Sequence[GameRecord] = field(default=(), repr=False)

    @classmethod
    def from_records(
        cls,
        records: Iterable[GameRecord],
        *,
        agents: Sequence[str] = (),
        planned: int | None = None,
        score: Scoring | str = Scoring.AUTO,
        anchor: str | None = None,
    ) -> Standings:
        """The standings of any number of games in one environment; settings are as for ``Ranking``."""
        games = records if isinstance(records, Sequence) else tuple(records)
        if not isinstance(games, StoredGames) and (other := [x for x in games if not isinstance(x, GameRecord)]):
            raise InvalidSettingError(
                f"records must be games (GameRecord), not {other[0]!r}: read_games reads a folder"
            )
        results = count_games(games)
        env, seat_names = (games[0].env, games[0].seat_names) if results.groups else ("", ())
        return cls(
            env=env, seat_names=seat_names, results=results, records=games, agents=agents, planned=planned,
            score=score, anchor=anchor,
        )  # fmt: skip

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The tables and notes, folded to a width as far as that can be; None folds nothing."""
        parts = [_folded(part, width) if isinstance(part, str) else part.text(width) for part in self._parts()]
        return printable("\n".join(parts).strip("\n"))

    def _repr_html_(self) -> str:
        parts = []
        for part in self._parts():
            lines = part.splitlines() if isinstance(part, str) else []
            parts += [f"<p>{html.escape(printable(line))}</p>" for line in lines if line]
            if isinstance(part, TextTable):
                parts.append(part.html())
        return "\n".join(parts)

    def to_pandas(self) -> Any:
        """The columns of ``standings.csv`` as a pandas ``DataFrame``, by agent."""
        return notebook.frame_of(self.to_csv())

    def plot_ratings(self, axes: Any = None) -> Any:
        """Draws the ratings with their intervals by matplotlib, on ``axes`` or a new figure, and returns the axes.

        An unknown end is an arrow. Raises ``InvalidSettingError`` if there are no ratings.
        """
        players = [] if self.ratings is None else self.ratings.players
        return notebook.draw_ratings(players, self.title, axes)

    def plot_crosstable(self, axes: Any = None) -> Any:
        """Draws each agent's mean score, or reward, (a row) against each other (a column), as ``plot_ratings``."""
        names, wins = [row.agent for row in self.rows], self.scoring is Scoring.WINS
        means = self.crosstable if wins else {pair: reward.mean for pair, reward in self.rewards.items()}
        values = [[means.get((one, other), math.nan) for other in names] for one in names]
        what = "score of the row against the column, in %" if wins else "mean reward of the row with the column"
        return notebook.draw_crosstable(names, values, f"{self.title}: {what}", axes, in_percent=wins)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the records, as plain values for JSON; what is not finite is None."""
        pairs = {names: score.pairs for names, score in sorted(self.results.head_to_head().items())}
        counted = [
            {"agents": [*names], "counts": [*counts]}
            for names, counts in pairs.items()
            if names[0] < names[1] and any(counts)
        ]
        rounds = [[match._asdict() for match in matches(of_round)] for of_round in self.results.rounds]
        return {
            "env": self.env, "title": self.title, "seats": list(self.seat_names),
            "games": self.games, "planned": self.planned,
            "scoring": str(self.scoring), "agents": [_plain(self._agent_dict(row)) for row in self.rows],
            "anchor": self.ratings.anchor if self.ratings else self.anchor,
            "pairs": counted, "notes": list(self.all_notes),
            **({"rounds": rounds} if rounds else {}),
        }  # fmt: skip

    def _agent_dict(self, row: AgentRow) -> dict[str, Any]:
        name, others = row.agent, [other.agent for other in self.rows]
        player = _rating_of(self, name)
        elo = smoothed = lower = upper = math.nan
        if player is not None:
            elo, smoothed, lower, upper = player.elo, player.smoothed_elo, player.lower, player.upper
        scores, rewards = self.crosstable, self.rewards
        return {
            **asdict(row), "elo": elo, "smoothed_elo": smoothed, "elo_interval": [lower, upper],
            "failed_always": name in self.unrated, "leader_superiority": self.superiority(name),
            "against": {other: scores[name, other] for other in others if (name, other) in scores},
            "rewards_against": {one: asdict(rewards[name, one]) for one in others if (name, one) in rewards},
        }  # fmt: skip

    def to_json(self) -> str:
        """``to_dict`` as text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_csv(self) -> str:
        """One line for each agent: counts, score, interval, score by seat and against each other agent."""
        data = self.to_dict()
        names = [row["agent"] for row in data["agents"]]
        header = ["agent", "games", "wins", "draws", "losses", "failures", "score", "low", "high"]
        header += ["elo", "elo_low", "elo_high", "leader_superiority", "seconds_per_move"]
        header += ["mean_reward", "reward_low", "reward_high"]
        header += [f"score as {seat}" for seat in data["seats"]] + [f"against {name}" for name in names]
        paired = names if self.scoring is not Scoring.WINS and len(self.seat_names) > 1 else []
        header += [f"reward {'with' if self.scoring is Scoring.TEAM else 'against'} {name}" for name in paired]
        header += ["failed_always"]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        for row in data["agents"]:
            line = [row[name] for name in ("agent", "games", "wins", "draws", "losses")]
            line += [sum(row["failures"].values()), row["score"], *row["interval"]]
            line += [row["elo"], *row["elo_interval"]]
            line += [row[name] for name in ("leader_superiority", "seconds_per_move", "mean_reward")]
            line += [*row["reward_interval"], *(seat["score"] for seat in row["by_seat"])]
            line += [row["against"].get(name) for name in names]
            line += [row["rewards_against"].get(name, {}).get("mean") for name in paired]
            writer.writerow([*line, row["failed_always"]])
        return out.getvalue()

    def files(self) -> Mapping[str, str]:
        return {"standings.json": self.to_json() + "\n", "standings.csv": self.to_csv()}

    def _parts(self) -> Iterator[str | TextTable]:
        yield f"{self.title}: {self.games} game{'' if self.games == 1 else 's'}\n"
        yield self._main_table()
        if len(self.seat_names) > 1 and (len(self.rows) > 1 or self.scoring is Scoring.TEAM):
            yield ""
            yield self._rounds() if self.results.rounds else self._crosstable()
            if self.scoring is not Scoring.TEAM:
                yield ""
                yield self._rating_table()
        yield f"\n{_legend(self)}"
        for note in self.all_notes:
            yield f"Note: {note}"

    def _main_table(self) -> TextTable:
        headings, rows = cells.results(self)
        if self.scoring is Scoring.TEAM:
            headings[-2:] = ["alone", INTERVAL, "mixed", INTERVAL]
            for row, line in zip(self.rows, rows, strict=True):
                del line[-2:]
                for reward in (self.alone(row.agent), self.mixed(row.agent)):
                    line += (
                        ["", ""] if reward is None else [cells.number(reward.mean), cells.ends(reward.interval)]
                    )
        single = len(self.seat_names) == 1
        for number, (row, line) in enumerate(zip(self.rows, rows, strict=True), start=1):
            line[:0] = [str(number), row.agent]
            line += [cells.milliseconds(row.seconds_per_move)] * single
        return TextTable(["#", "agent", *headings] + ["ms/move"] * single, rows, names=(1,))

    def _rounds(self) -> TextTable:
        names, rows = [row.agent for row in self.rows], list[list[str]]()
        lines = [self.round_table[name] for name in names]
        for row, line in zip(self.rows, lines, strict=True):
            total = [] if self.pairings is Pairings.KNOCKOUT else [f"{total_points(line):g}"]
            pace = cells.milliseconds(row.seconds_per_move)
            rows.append([str(len(rows) + 1), row.agent, *cells.of_rounds(line, names), *total, pace])
        numbers = [f"round {number + 1}" for number in range(len(self.results.rounds))]
        numbers += [] if self.pairings is Pairings.KNOCKOUT else [cells.points_heading(lines)]
        return TextTable(["#", "points v agent", *numbers, "ms/move"], rows, names=(1,))

    def _crosstable(self) -> TextTable:
        wins, team = self.scoring is Scoring.WINS, self.scoring is Scoring.TEAM
        few = len(self.rows) <= MANY_AGENTS
        numbers = [str(number) for number in range(1, len(self.rows) + 1)]
        ordinals = {0: "1st", 1: "2nd", 2: "3rd"}
        seats = [] if team else [ordinals.get(seat, f"{seat + 1}th") for seat in range(len(self.seat_names))]
        rows = []
        for number, row in zip(numbers, self.rows, strict=True):
            line = [number, row.agent]
            for other in self.rows:
                pair = (row.agent, other.agent)
                if row is other and not team:
                    line.append("·")
                elif wins:
                    line.append(percent(self.crosstable.get(pair, math.nan), 1 if few else 0))
                else:
                    line.append(cells.with_error(self.rewards.get(pair), few))
            if not team:
                line += [percent(seat.score) if wins else cells.number(seat.reward) for seat in row.by_seat]
            rows.append([*line, cells.milliseconds(row.seconds_per_move)])
        return TextTable(["#", "with" if team else "against", *numbers, *seats, "ms/move"], rows, names=(1,))

    def _rating_table(self) -> TextTable:
        rows = []
        for number, row in enumerate(self.rows, start=1):
            rating = _rating_of(self, row.agent)
            unrated = [cells.NOT_RATED if row.agent in self.unrated else "", ""]
            line = unrated if rating is None else [cells.estimate(rating), cells.elo_ends(rating)]
            rows.append([str(number), row.agent, *line, cells.likelihood(self.superiority(row.agent))])
        return TextTable(["#", "rated", "Elo", INTERVAL, "leader is stronger"], rows, names=(1,))


def _folded(text: str, width: int | None) -> str:
    return "\n".join(textwrap.fill(line, width or 10_000, break_long_words=False) for line in text.split("\n"))


def _rating_of(ranking: Ranking, agent: str) -> PlayerRating | None:
    players = ranking.ratings.players if ranking.ratings is not None else ()
    return next((player for player in players if player.name == agent), None)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [*map(_plain, value)] if isinstance(value, tuple | list) else finite(value)


def _legend(standings: Standings) -> str:
    seats, ratings = len(standings.seat_names), standings.ratings
    if seats == 1:
        return f"score: mean return, with its {PERCENT} confidence interval (Student)."
    charged = "\nA failed game was not finished: it counts as the lowest reward of any finished game."
    failed = charged if any(row.failures for row in standings.rows) else ""
    if standings.scoring is Scoring.TEAM:
        return _OF_TEAMS + failed
    what = "reward in games" if standings.scoring is Scoring.REWARDS else "score"
    second = f"the {what} against agents 1, 2, ..., from each seat"
    if standings.results.rounds:
        second = "the points of each round, and the number of the agent against which"
        if cells.points_heading([*standings.round_table.values()]) != "points":
            second += " (a bye counts as a match won)"
    columns = (
        f"Second table: {second}, and milliseconds a move.\n"
        f"{ELO_SCALE}; {ratings.zero if ratings else 'the average'} is fixed at 0. Last column: likelihood in %."
    )
    if ratings and any(math.isinf(player.elo) for player in ratings.players):
        columns += "\n∞: no bound, as nothing but wins, or losses, does not say by how much somebody is stronger."
    if standings.scoring is Scoring.REWARDS:
        games = "Ratings count games won, drawn and lost, however much was at stake."
        return f"{_OF_REWARDS}{failed}\n{columns}\n{games}"
    if seats == 2:
        return f"score: 1 for a win, 1/2 for a draw, in %, with its {PERCENT} confidence interval.\n{columns}"
    return (
        "score: the mean over the other seats of 1 (more reward than it), 1/2 (the same) or 0, in %,\n"
        f"with its {PERCENT} confidence interval. won: alone with the most reward; drawn: shared the most.\n"
        f"{columns}"
    )
