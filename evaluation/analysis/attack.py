"""How much a search wins from a policy that it asks what it will play, and how much without asking."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.text import finite, printable
from zermelo.evaluation.schedule import game_order
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.rewards import Rewards, scoring_of
from zermelo.evaluation.stats.score_interval import INTERVAL, student_interval
from zermelo.evaluation.text_table import TextTable

FILE: Final = "attack.json"
"""What was found, in the folder of the games, for the report."""
NAMED: Final = 10
"""Games in which asking won more that are named."""
_ABOUT: Final = (
    "Points: the mean of what a game pays, over all seats in turn. Asking: the search asks the policy what it "
    "plays; not asking: the same search takes it for a good player. Both have the same seats and seeds; the gain "
    "is their difference, rotation by rotation. Asking is a lower bound of what the exact best response wins."
)


class Points(NamedTuple):
    """Mean points of a game, with their confidence interval."""

    mean: float
    interval: tuple[float, float]


class WonMore(NamedTuple):
    """A game in which asking won more than not asking, in the same seat and with the same seed."""

    game_id: str
    seat: str
    points: float
    without: float


@dataclass(frozen=True, kw_only=True)
class Attack:
    """How a policy is beaten; ``print`` shows it.

    Attributes:
        agents: The names of the search that asks the policy and of the same search that does not.
        games: Games of each that were played to their end.
        asking, plain: The points of the two.
        gain: Of the first above the second.
        value: What good players get, on average over the seats; None where that is not known.
        exact: What the exact best response gets, likewise; None where it was not computed.
        title: The environment's name for people.
        won_more: Games in which asking won more, most first, and of equals those with more points.
    """

    env: str
    policy: str
    agents: tuple[str, str]
    games: int
    asking: Points
    plain: Points
    gain: Points
    won_more: tuple[WonMore, ...]
    value: float | None = None
    exact: float | None = None
    notes: tuple[str, ...] = ()
    title: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not finite is None."""
        points = {
            name: {"mean": finite(each.mean), "interval": [*map(finite, each.interval)]}
            for name, each in (("asking", self.asking), ("plain", self.plain), ("gain", self.gain))
        }
        return {
            "env": self.env, "title": self.title, "policy": self.policy, "agents": list(self.agents),
            "games": self.games, **points, "value": self.value, "exact": self.exact,
            "won_more": [each._asdict() for each in self.won_more], "about": _ABOUT, "notes": list(self.notes),
        }  # fmt: skip

    def __str__(self) -> str:
        data = self.to_dict()
        games = f"{self.games} game{'s' * (self.games != 1)} of each"
        parts = [f"{self.title or self.env}: how {self.policy} is beaten ({games})\n", attack_table(data).text()]
        parts += ["", textwrap.fill(_ABOUT, 100), *(f"Note: {note}" for note in attack_notes(data))]
        return printable("\n".join(parts))


def attack_table(attack: Mapping[str, Any]) -> TextTable:
    names = (("asking", "asking"), ("not asking", "plain"), ("gain", "gain"))
    rows = []
    for (label, key), agent in zip(names, [*attack["agents"], ""], strict=True):
        ends = " to ".join(map(_number, attack[key]["interval"]))
        rows.append([label, _number(attack[key]["mean"]), ends, agent])
    for label, key in (("value of the game", "value"), ("exact best response", "exact")):
        if attack[key] is not None:
            rows.append([label, _number(attack[key]), "", ""])
    return TextTable(["", "points", INTERVAL, "agent"], rows, names=(0, 3))


def attack_notes(attack: Mapping[str, Any]) -> list[str]:
    """The games in which asking won more, in words, and the notes."""
    won = attack["won_more"]
    named = [
        f"{one['game_id']} ({_number(one['points'])} as {one['seat']}, without {_number(one['without'])})"
        for one in won[:NAMED]
    ]
    more = f" and {len(won) - NAMED} more" if len(won) > NAMED else ""
    told = f"asking won more in the games {', '.join(named)}{more}." if won else "asking won more in no game."
    return [told.capitalize(), *attack["notes"]]


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value + 0.0:.4g}"


def attack_of(
    ranking: Ranking,
    records: Iterable[GameRecord],
    agents: Sequence[str],
    *,
    value: float | None = None,
    exact: float | None = None,
    notes: Sequence[str] = (),
) -> Attack:
    """What games show; ``agents`` are the policy, the search that asks it and the one that does not.

    A game that failed counts as in tables of rewards (``zermelo.evaluation.stats.rewards``).
    """
    policy, asking, plain = agents
    penalty = Rewards(ranking.results, Scoring.REWARDS).penalty
    points: dict[str, dict[tuple[int, int], tuple[float, str]]] = {asking: {}, plain: {}}
    lowest, highest = math.inf, -math.inf
    for game in records:
        name = asking if asking in game.agents else plain
        if game.void or name not in game.agents or penalty is None:
            continue
        seat = game.agents.index(name)
        won = game.rewards[seat]
        if game.failure is not None:
            won = penalty.failed if game.failure.seat == seat else penalty.others
        else:
            lowest, highest = min(lowest, *game.rewards), max(highest, *game.rewards)
        points[name][game_order(game.game_id)[0], seat] = won, game.game_id
    means = []
    for name in (asking, plain):
        found = _points(_by_block(points[name]))
        ends = _by_wins(ranking, name, highest, lowest)
        means.append(found if ends is None else found._replace(interval=ends))
    both = points[asking].keys() & points[plain].keys()
    differences = {place: (points[asking][place][0] - points[plain][place][0], "") for place in both}
    more = [
        WonMore(
            points[asking][place][1],
            ranking.seat_names[place[1]],
            points[asking][place][0],
            points[plain][place][0],
        )
        for place in sorted(both)
        if differences[place][0] > 0
    ]
    more.sort(key=lambda one: (one.without - one.points, -one.points))
    return Attack(
        env=ranking.env, policy=policy, agents=(asking, plain), games=min(map(len, points.values())),
        asking=means[0], plain=means[1], gain=_gain(_by_block(differences), highest - lowest),
        won_more=tuple(more), value=value, exact=exact, notes=(*notes, *ranking.notes), title=ranking.title,
    )  # fmt: skip


def _by_block(points: Mapping[tuple[int, int], tuple[float, str]]) -> list[list[float]]:
    """The points of the games of each rotation of the seats."""
    blocks = defaultdict[int, list[float]](list)
    for (block, _), (won, _) in points.items():
        blocks[block].append(won)
    return [*blocks.values()]


def _points(blocks: list[list[float]]) -> Points:
    """The mean of all games, with Student's interval over rotations."""
    games = [won for block in blocks for won in block]
    if not games:
        return Points(math.nan, (-math.inf, math.inf))
    return Points(math.fsum(games) / len(games), student_interval([math.fsum(one) / len(one) for one in blocks]))


def _by_wins(ranking: Ranking, name: str, highest: float, lowest: float) -> tuple[float, float] | None:
    """The interval of the points by that of the score, where two seats win, draw or lose and nothing else."""
    is_won = len(ranking.seat_names) == 2 and scoring_of(ranking.results) is Scoring.WINS
    rows = [row for row in ranking.rows if row.agent == name]
    if not is_won or not rows or not highest > lowest:
        return None
    low, high = (lowest + (highest - lowest) * end for end in rows[0].interval)
    return low, high


def _gain(blocks: list[list[float]], span: float) -> Points:
    """The mean difference, where payoffs of games lie within ``span``.

    Where all rotations have the same, one more counts for the interval: without any gain, or if none has any, with
    the largest there could be, either way.
    """
    found = _points(blocks)
    if found.interval[0] < found.interval[1]:
        return found
    if found.mean or not span > 0:
        return found._replace(interval=_points([*blocks, [0.0]]).interval)
    most = _points([*blocks, [span]]).interval[1]
    return found._replace(interval=(-most, most))
