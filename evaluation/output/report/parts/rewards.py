"""The parts of a report on games that pay amounts: mean rewards, and the scores of teams."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.output.report.parts.markup import Cell, Row, four_digits, number, part, table
from zermelo.evaluation.output.report.parts.plots import Interval, interval_plot
from zermelo.evaluation.output.report.parts.sections import numbered, section
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.rewards import MeanReward


def rewards_section(standings: Ranking) -> str:
    """Mean rewards with their intervals; of teams, of each agent with itself and with the others."""
    if standings.scoring is Scoring.TEAM:
        return _teams(standings)
    means = [
        (row.agent, MeanReward(row.games, row.deals, row.mean_reward, row.reward_interval))
        for row in standings.rows
    ]
    lines = [_line(name, mean) for name, mean in means if not math.isnan(mean.mean)]
    rows: list[Row] = []
    for rank, (name, mean) in enumerate(means, start=1):
        counted = standings.row(name)
        results = (number(count) for count in (counted.wins, counted.draws, counted.losses))
        rows.append([str(rank), name, four_digits(mean.mean), _ends(mean), number(mean.games), *results])
    columns = ["#", "agent", "mean reward", "95 % interval", "games", "won", "drawn", "lost"]
    about = (
        "What a game paid an agent on average, in the game's own units, with Student's 95 % interval over deals: "
        "games that differ by the seats alone count as one. A failed game counts as the least that any paid."
    )
    return section(
        "rewards",
        "Rewards",
        part("about", about),
        interval_plot("Mean reward of each agent, with its interval", lines, "reward") if lines else "",
        table("Rewards", columns, rows, names=2),
    )


def _teams(standings: Ranking) -> str:
    lines, rows = [], list[Row]()
    for rank, row in enumerate(standings.rows, start=1):
        cells: list[str | Cell] = [str(rank), row.agent]
        for kind, mean in (("alone", standings.alone(row.agent)), ("mixed", standings.mixed(row.agent))):
            if mean is not None and not math.isnan(mean.mean):
                lines.append(_line(f"{row.agent}, {kind}", mean))
                cells += [four_digits(mean.mean), _ends(mean)]
            else:
                cells += ["", ""]
        rows.append(cells)
    about = (
        "A cooperative game: all seats are paid alike, so a team has one score. Alone: teams of that agent alone. "
        "Mixed: its teams with others. Means of the games' scores, with Student's 95 % intervals over deals."
    )
    columns = ["#", "agent", "alone", "95 % interval", "mixed", "95 % interval"]
    return section(
        "rewards",
        "Scores of teams",
        part("about", about),
        interval_plot("Mean score of each agent's teams, with its interval", lines, "score") if lines else "",
        table("Scores of teams", columns, rows, names=2),
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
