"""The parts of a report on mean rewards: of games that pay amounts, of single players and of teams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.output.report.parts.markup import Cell, Row, four_digits, number, part, table
from zermelo.evaluation.output.report.parts.plots import Interval, interval_plot
from zermelo.evaluation.output.report.parts.sections import numbered, section
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.rewards import MeanReward

_RETURNS: Final = "Mean return of each agent over the games it finished, with Student's 95 % interval."
_REWARDS: Final = (
    "What a game paid an agent on average, in the game's own units, with Student's 95 % interval over deals: "
    "games that differ by the seats alone count as one. A failed game counts as the least that any paid."
)
_TEAMS: Final = (
    "A cooperative game: all seats are paid alike, so a team has one score. Alone: teams of that agent alone. "
    "Mixed: its teams with others. Means of the games' scores, with Student's 95 % intervals over deals."
)


def means_section(standings: Ranking) -> str:
    """Mean rewards with their intervals; of a single player returns; of teams scores alone and with others."""
    single, team = len(standings.seat_names) == 1, standings.scoring is Scoring.TEAM
    lines, rows = list[Interval](), list[Row]()
    for rank, row in enumerate(standings.rows, start=1):
        means: dict[str, MeanReward | None] = {
            "": MeanReward(row.games, row.deals, row.mean_reward, row.reward_interval)
        }
        if team:
            means = {"alone": standings.alone(row.agent), "mixed": standings.mixed(row.agent)}
        cells: list[str | Cell] = [str(rank), row.agent, *([number(row.games)] if single else [])]
        for kind, mean in means.items():
            if mean is None or math.isnan(mean.mean):
                cells += ["", ""]
                continue
            lines.append(_line(f"{row.agent}, {kind}" if kind else row.agent, mean))
            cells += [four_digits(mean.mean), _ends(mean)]
        if not team and not single:
            cells += map(number, (row.games, row.wins, row.draws, row.losses))
        rows.append(cells)
    if team:
        title, about, unit = "Scores of teams", _TEAMS, "score"
        caption = "Mean score of each agent's teams, with its interval"
        columns = ["alone", "95 % interval", "mixed", "95 % interval"]
    else:
        title, about, unit = ("Returns", _RETURNS, "return") if single else ("Rewards", _REWARDS, "reward")
        caption = f"Mean {unit} of each agent, with its interval"
        columns = [f"mean {unit}", "95 % interval"]
        columns = ["games", *columns] if single else [*columns, "games", "won", "drawn", "lost"]
    return section(
        "ratings" if single else "rewards",
        title,
        part("about", about),
        interval_plot(caption, lines, unit) if lines else "",
        table(title, ["#", "agent", *columns], rows, names=2) if rows else "",
    )


def _line(name: str, mean: MeanReward) -> Interval:
    low, high = mean.interval
    said = f"{four_digits(mean.mean)}, from {four_digits(low)} to {four_digits(high)}"
    return Interval(name, mean.mean, low, high, said)


def _ends(mean: MeanReward) -> str:
    low, high = mean.interval
    return f"{four_digits(low)} to {four_digits(high)}" if math.isfinite(high - low) else ""


def reward_crosstable(standings: Ranking, order: Sequence[str]) -> str:
    """Everybody's mean reward against, or with, everybody as a heat map."""
    team = standings.scoring is Scoring.TEAM
    if not standings.rewards:
        return ""
    known = [mean.mean for mean in standings.rewards.values() if not math.isnan(mean.mean)]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    middle = (low + high) / 2 if team else 0.0
    reach = max(high - middle, middle - low) or 1.0
    rows: list[Row] = []
    for place, name in enumerate(order, start=1):
        cells: list[str | Cell] = [str(place), name]
        for other in order:
            mean = standings.rewards.get((name, other))
            if mean is None or math.isnan(mean.mean):
                cells.append(Cell("·" if name == other else "", "self" if name == other else ""))
                continue
            strength = round(100 * abs(mean.mean - middle) / reach)
            kind = "heat good" if mean.mean >= middle else "heat bad"
            ends = f"{name} {'with' if team else 'against'} {other}: {_ends(mean)}, {mean.deals:,} deals"
            cells.append(Cell(four_digits(mean.mean), kind, f"--p:{strength}%", ends))
        rows.append(cells)
    title = "Who plays well with whom" if team else "Who wins from whom"
    about = (
        "The mean score of teams of the agents of the row and the column."
        if team
        else "What the agent in each row earned on average against the agent of each column's number."
    )
    return section(
        "crosstable",
        title,
        part("about", about),
        table("Crosstable", numbered(order), rows, names=2, kind="heatmap"),
    )
