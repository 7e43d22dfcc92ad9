"""The parts of a report, each HTML of its own: they can be read without the page's script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.output.report.parts.effort import AgentEffort, Effort
from zermelo.evaluation.output.report.parts.markup import (
    Cell,
    Row,
    number,
    part,
    percent,
    table,
    time_text,
)  # fmt: skip
from zermelo.evaluation.output.report.parts.plots import Interval, histogram, interval_plot
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.ratings import RatingTable
from zermelo.evaluation.stats.ratings.scales import ELO_PER_LOG_ABILITY
from zermelo.evaluation.stats.rows import SeatScore


def section(name: str, title: str, *parts: str) -> str:
    """A part of the page under a heading; nothing if it would be empty."""
    inside = [*filter(None, parts)]
    return part("section", name, title, inside) if inside else ""


def _paragraph(text: str) -> str:
    return part("about", text)


def notes_section(notes: Sequence[str]) -> str:
    """Notes to be read before the numbers."""
    return section("notes", "Read this first", part("notes", notes)) if notes else ""


def ratings_section(standings: Ranking, ratings: RatingTable, history: str = "") -> str:
    """Ratings with intervals, and how they came about."""
    lines, rows = [], []
    for rank, player in enumerate(ratings.players, start=1):
        counted = standings.row(player.name)
        interval = f"{number(player.lower)} to {number(player.upper)}"
        is_anchor = player.name == ratings.anchor
        elo = number(player.elo) if player.status != "undetermined" else "unknown"
        said = f"{elo}, the zero of the scale" if is_anchor else f"{elo}, from {interval}"
        place = player.elo if player.status != "undetermined" else math.inf
        lines.append(Interval(player.name, place, player.lower, player.upper, said))
        low, high = counted.interval
        rows.append(
            [
                str(rank),
                player.name,
                elo,
                "anchor" if is_anchor else interval,
                number(player.games),
                *(number(count) for count in (counted.wins, counted.draws, counted.losses)),
                percent(counted.score),
                f"{percent(low)} to {percent(high)}",
            ]
        )
    level = f"{100 * ratings.confidence:g} %"
    zero = f"{ratings.anchor or 'the average'} is 0"
    about = (
        f"Elo by maximum likelihood from {ratings.games:,} games ({zero}), with {level} intervals. "
        "Where an agent only ever won or lost, the most likely rating is infinite, and the games bound it on one "
        "side: an arrow instead of a dot."
    )
    if standings.scoring is Scoring.REWARDS:
        about += " Ratings count games won, drawn and lost, however much was at stake."
    advantage = ratings.seat_advantage
    seat = ""
    if advantage is not None and math.isfinite(advantage.standard_error):
        lower, upper = (number(ELO_PER_LOG_ABILITY * end) for end in (advantage.lower, advantage.upper))
        seat = _paragraph(
            f"Moving first is worth {number(advantage.elo)} Elo ({lower} to {upper}) in this tournament."
        )
    results = ["games", "won", "drawn", "lost", "score %", "95 % interval"]
    columns = ["#", "agent", "Elo", f"{level} interval", *results]
    return section(
        "ratings",
        "Ratings",
        _paragraph(about),
        interval_plot("Rating of each agent, with its interval", lines, "Elo"),
        table("Ratings and results", columns, rows, names=2),
        seat,
        history,
    )


def _heat(share: float, text: str, title: str) -> Cell:
    """A cell whose colour says how far above or below one half the share is."""
    strength = round(abs(share - 0.5) * 200)
    return Cell(text, "heat good" if share >= 0.5 else "heat bad", f"--p:{strength}%", title)


def crosstable_section(standings: Ranking, order: Sequence[str]) -> str:
    """Everybody's score against everybody as a heat map."""
    met = standings.results.counts().head_to_head()
    if not met:
        return ""
    digits = 1 if len(order) <= 8 else 0
    rows: list[Row] = []
    for place, name in enumerate(order, start=1):
        cells: list[str | Cell] = [str(place), name]
        for other in order:
            score = met.get((name, other))
            if score is None:
                cells.append(Cell("·" if name == other else "", "self" if name == other else ""))
                continue
            title = f"{name} against {other}: {score.wins:,} won, {score.draws:,} drawn, {score.losses:,} lost"
            cells.append(_heat(score.mean, percent(score.mean, digits), title))
        rows.append(cells)
    return section(
        "crosstable",
        "Who beats whom",
        _paragraph("The score in % of the agent in each row against the agent of each column's number."),
        table("Crosstable", numbered(order), rows, names=2, kind="heatmap"),
    )


def numbered(order: Sequence[str]) -> Row:
    """The headings of a crosstable: a number for each agent, and its name when pointed at."""
    return ["#", "agent", *(Cell(str(place), title=name) for place, name in enumerate(order, start=1))]


def seats_section(standings: Ranking, order: Sequence[str]) -> str:
    """Scores by seat."""
    if len(standings.seat_names) == 1:
        return ""
    everybody = []
    for seats in zip(*(row.by_seat for row in standings.rows), strict=True):
        games = sum(seat.games for seat in seats)
        points = sum(seat.games * seat.score for seat in seats if seat.games)
        everybody.append(SeatScore(games=games, score=points / games if games else math.nan))
    rows: list[Row] = []
    by_seat: list[tuple[str, Sequence[SeatScore]]] = [(name, standings.row(name).by_seat) for name in order]
    for name, scores in [*by_seat, ("all agents", everybody)]:
        cells: list[str | Cell] = [
            _heat(seat.score, percent(seat.score), f"{seat.games:,} games") if seat.games else ""
            for seat in scores
        ]
        rows.append([name, *cells, *(number(seat.games) for seat in scores)])
    columns = ["agent", *standings.seat_names, *(f"games as {seat}" for seat in standings.seat_names)]
    return section(
        "seats",
        "Score by seat",
        _paragraph("The score in % from each seat, in the order in which they first move, and the games there."),
        table("Score by seat", columns, rows, kind="heatmap"),
    )


def faults_section(standings: Ranking, order: Sequence[str]) -> str:
    """Games lost by failure, by kind; nothing where nobody failed."""
    failures = {row.agent: row.failures for row in standings.rows}
    kinds = [kind for kind in FailureKind if any(kind in of_agent for of_agent in failures.values())]
    if not kinds:
        return ""
    rows: list[Row] = [
        [
            name,
            *(Cell(number(count), "fault") if (count := failures[name].get(kind, 0)) else "0" for kind in kinds),
            number(sum(failures[name].values())),
        ]
        for name in order
    ]
    columns = ["agent", *(kind.replace("_", " ").lower() for kind in kinds), "all"]
    about = "Games that an agent lost by a failure of its own, by kind. Each counts as a loss."
    return section("faults", "Faults", _paragraph(about), table("Faults by kind", columns, rows))


def effort_section(effort: Effort, order: Sequence[str]) -> str:
    """Time and nodes for each move."""
    agents = {name: effort.agents[name] for name in order if name in effort.agents}
    if not agents:
        return ""
    searching = {name: agent for name, agent in agents.items() if agent.nodes.count}
    columns = ["agent", "moves", "mean", "median", "95 % below", "longest"]
    rows: list[Row] = [
        [
            name,
            number(agent.seconds.count),
            time_text(agent.seconds.mean),
            time_text(agent.seconds.quantile(0.5)),
            time_text(agent.seconds.quantile(0.95)),
            time_text(agent.seconds.maximum),
        ]
        for name, agent in agents.items()
    ]
    return section(
        "effort",
        "Time and nodes per move",
        table("Wall-clock time of a move", columns, rows),
        _nodes_table(searching) if searching else "",
    )


def _nodes_table(agents: Mapping[str, AgentEffort]) -> str:
    rows: list[Row] = []
    for name, agent in agents.items():
        speed = agent.nodes.total / agent.searched_seconds if agent.searched_seconds else math.nan
        depth = agent.depths.mean if agent.depths.count else math.nan
        spread = (agent.nodes.mean, agent.nodes.quantile(0.5), agent.nodes.quantile(0.95), agent.nodes.maximum)
        rows.append([name, *(number(value) for value in spread), number(depth, 1), number(speed)])
    columns = ["agent", "mean", "median", "95 % below", "most", "mean depth", "nodes a second"]
    return table("Nodes visited for a move, by agents that search", columns, rows)


def length_section(effort: Effort) -> str:
    """How long games were and how they ended."""
    if not effort.lengths:
        return ""
    games = effort.lengths.total()
    mean = sum(length * count for length, count in effort.lengths.items()) / games
    ends: list[Row] = [
        [str(end).replace("_", " ").lower(), number(count), percent(count / games)]
        for end, count in effort.ends.most_common()
    ]
    low, high = min(effort.lengths), max(effort.lengths)
    about = f"Games had {low:,} to {high:,} moves, {mean:,.1f} on average, those of openings included."
    return section(
        "length",
        "Length of games",
        _paragraph(about),
        histogram("Games by their number of moves", effort.lengths, "moves"),
        table("What ended the games", ["end", "games", "%"], ends),
    )
