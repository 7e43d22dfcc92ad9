"""Standings as people and programs read them: tables for a terminal, plain text for a pipe, CSV, JSON."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.writing import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from zermelo.evaluation.stats.ratings import PlayerRating
    from zermelo.evaluation.stats.rewards import MeanReward
    from zermelo.evaluation.stats.standings import Standings
    from zermelo.evaluation.stats.tally import Row

NAME_WIDTH: Final = 10
"""Characters that names of agents may be folded to."""
MANY_AGENTS: Final = 6
"""With more agents than this the crosstable leaves decimals, or intervals, out, to fit a terminal."""


def as_text(standings: Standings) -> str:
    """The tables as plain text, as wide as they need to be."""
    return plain_text(lambda console: print_standings(standings, console))


def plain_text(write: Callable[[Console], None]) -> str:
    """What is written to a console that is no terminal and wide enough for any table."""
    from rich.console import Console

    file = io.StringIO()
    write(Console(file=file, width=400, color_system=None, force_terminal=False))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()).strip("\n")


def as_html(standings: Standings) -> str:
    """The tables and the notes for a notebook."""
    found = []
    for part in _parts(standings):
        if isinstance(part, str):
            found += [f"<p>{html.escape(printable(line))}</p>" for line in part.splitlines() if line]
            continue
        columns = [[column.header, *column.cells] for column in part.columns]  # type: ignore[union-attr]
        head, *rows = ([html.escape(str(cell)) for cell in row] for row in zip(*columns, strict=True))
        lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
        heading = "".join(f"<th>{cell}</th>" for cell in head)
        found.append(f"<table><tr>{heading}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>")
    return "\n".join(found)


def print_standings(standings: Standings, console: Console) -> None:
    """Prints the tables and the notes; a console that is no terminal should be wide enough for them."""
    from rich.console import Console

    names = max((len(row.agent) for row in standings.rows), default=0)
    for part in _parts(standings):
        if isinstance(part, str):
            console.print(printable(part), soft_wrap=not console.is_terminal, markup=False, highlight=False)
            continue
        # Names can be folded. Numbers must not be cut: a table that is too wide is wrapped by the terminal.
        wide = console.measure(part, options=console.options.update(width=100_000, markup=False)).maximum
        least = wide - max(0, names - NAME_WIDTH)
        target = console if least <= console.width else Console(file=console.file, width=least, color_system=None)
        target.print(part, markup=False, highlight=False)


def _parts(standings: Standings) -> Iterable[RenderableType]:
    seats = len(standings.seat_names)
    games = f"{standings.games} game{'' if standings.games == 1 else 's'}"
    yield f"{standings.env}: {games}\n"
    yield _main_table(standings)
    if seats > 1 and (len(standings.rows) > 1 or standings.scoring is Scoring.TEAM):
        yield ""
        yield _crosstable(standings)
        if standings.scoring is not Scoring.TEAM:
            yield ""
            yield _rating_table(standings)
    yield f"\n{_legend(standings)}"
    for note in standings.all_notes:
        yield f"Note: {note}"


_OF_REWARDS: Final = (
    "reward: the mean of what a game paid an agent, in the game's own units, with its 95 % confidence interval\n"
    "(Student's, over deals: games that differ by the seats alone count as one)."
)
_OF_TEAMS: Final = (
    "cooperative: all seats of a game are paid alike, so a team has one score and nobody wins or loses.\n"
    "alone: the mean score of teams of that agent alone; mixed: of its teams with the others; with 95 %\n"
    "confidence intervals (Student's, over deals). games: one for each seat that the agent had.\n"
    "Second table: the score with agents 1, 2, ..., and milliseconds a move."
)


def _legend(standings: Standings) -> str:
    seats = len(standings.seat_names)
    if seats == 1:
        return "score: mean return, with its 95 % confidence interval (Student)."
    charged = "\nA failed game was not finished: it counts as the least that any finished game paid."
    failed = charged if any(row.failures for row in standings.rows) else ""
    if standings.scoring is Scoring.TEAM:
        return _OF_TEAMS + failed
    zero = standings.ratings.zero if standings.ratings else "the average"
    what = "reward in games" if standings.scoring is Scoring.REWARDS else "score"
    columns = (
        f"Second table: the {what} against agents 1, 2, ..., from each seat, and milliseconds a move.\n"
        f"Elo: 400 for odds of 10 to 1 of a win to a loss; {zero} has 0. Last column: likelihood in %."
    )
    if standings.ratings and any(player.status != "finite" for player in standings.ratings.players):
        columns += (
            "\n~: no finite rating fits such one-sided games; this one comes of half a win more for each side."
        )
    if standings.scoring is Scoring.REWARDS:
        games = "Ratings count games won, drawn and lost, however much was at stake."
        return f"{_OF_REWARDS}{failed}\n{columns}\n{games}"
    if seats == 2:
        return f"score: 1 for a win, 1/2 for a draw, in %, with its 95 % confidence interval.\n{columns}"
    return (
        "score: the mean over the other seats of 1 (more reward than it), 1/2 (the same) or 0, in %,\n"
        "with its 95 % confidence interval. won: alone with the most reward; drawn: shared the most.\n"
        f"{columns}"
    )


def new_table(*columns: str, name_width: int | None = NAME_WIDTH) -> Table:
    """An empty table; columns of names are folded where they must be, down to a width, and numbers are not."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        is_name = column in ("agent", "against", "with", "rated", "that matter")
        table.add_column(
            column,
            justify="left" if is_name else "right",
            overflow="fold",
            no_wrap=not is_name,
            min_width=name_width if is_name else None,
        )
    return table


def score_texts(standings: Standings, row: Row) -> tuple[str, str]:
    """What an agent is ranked by, and its interval, as text; nothing where there is no game."""
    if len(standings.seat_names) == 1:
        return _number(row.score), _ends(row.interval)
    if standings.scoring is Scoring.WINS:
        low, high = row.interval
        return _percent(row.score), f"{_percent(low)} - {_percent(high)}"
    alone = standings.alone(row.agent) if standings.scoring is Scoring.TEAM else None
    if alone is not None:
        return _number(alone.mean), _ends(alone.interval)
    return _number(row.mean_reward), _ends(row.reward_interval)


def _main_table(standings: Standings) -> Table:
    single, team = len(standings.seat_names) == 1, standings.scoring is Scoring.TEAM
    failed = any(row.failures for row in standings.rows)
    columns = ["#", "agent", "games"]
    columns += [] if single or team else ["won", "drawn", "lost"]
    columns += ["failed"] if failed else []
    if team:
        columns += ["alone", "95 % interval", "mixed", "95 % interval"]
    else:
        columns += ["reward" if not single and standings.scoring is Scoring.REWARDS else "score", "95 % interval"]
    table = new_table(*columns, *(["ms/move"] if single else []))
    for number, row in enumerate(standings.rows, start=1):
        cells = [str(number), printable(row.agent), str(row.games)]
        if not (single or team):
            cells += [str(row.wins), str(row.draws), str(row.losses)]
        if failed:
            cells += [str(sum(row.failures.values())) if row.failures else ""]
        if team:
            for reward in (standings.alone(row.agent), standings.mixed(row.agent)):
                cells += ["", ""] if reward is None else [_number(reward.mean), _ends(reward.interval)]
        else:
            cells += score_texts(standings, row)
        cells += [_milliseconds(row.seconds_per_move)] if single else []
        table.add_row(*cells)
    return table


def _rating_table(standings: Standings) -> Table:
    """Elo with its interval, and how likely it is that the leader is stronger."""
    table = new_table("#", "rated", "Elo", "95 % interval", "leader is stronger")
    ratings = {player.name: player for player in standings.ratings.players} if standings.ratings else {}
    for number, row in enumerate(standings.rows, start=1):
        rating = ratings.get(row.agent)
        cells = ["", ""] if rating is None else [_estimate(rating), _elo_ends(rating)]
        table.add_row(str(number), printable(row.agent), *cells, _likelihood(standings.superiority(row.agent)))
    return table


def _crosstable(standings: Standings) -> Table:
    """Scores against each agent and from each seat, and the time of a move."""
    rows, wins, team = standings.rows, standings.scoring is Scoring.WINS, standings.scoring is Scoring.TEAM
    few = len(rows) <= MANY_AGENTS
    numbers = [str(number) for number in range(1, len(rows) + 1)]
    seats = [] if team else [*map(_ordinal, range(len(standings.seat_names)))]
    table = new_table("#", "with" if team else "against", *numbers, *seats, "ms/move")
    for number, row in zip(numbers, rows, strict=True):
        cells = []
        for other in rows:
            pair = (row.agent, other.agent)
            if row is other and not team:
                cells.append("·")
            elif wins:
                cells.append(_percent(standings.crosstable.get(pair, math.nan), 1 if few else 0))
            else:
                cells.append(_with_error(standings.rewards.get(pair), few))
        if not team:
            cells += [_percent(seat.score) if wins else _number(seat.reward) for seat in row.by_seat]
        table.add_row(number, printable(row.agent), *cells, _milliseconds(row.seconds_per_move))
    return table


def _with_error(reward: MeanReward | None, few: bool) -> str:
    """A mean and half of its interval."""
    if reward is None:
        return ""
    half = (reward.interval[1] - reward.interval[0]) / 2
    return f"{_number(reward.mean)} ± {half:.2g}" if few and math.isfinite(half) else _number(reward.mean)


def _ordinal(seat: int) -> str:
    return {0: "1st", 1: "2nd", 2: "3rd"}.get(seat, f"{seat + 1}th")


def _percent(value: float, digits: int = 1) -> str:
    return "" if math.isnan(value) else f"{100 * value:.{digits}f}"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value + 0.0:.4g}"  # without a minus sign before zero


def _ends(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{_number(low)} .. {_number(high)}" if math.isfinite(high - low) else ""


def _elo(value: float) -> str:
    return f"{value + 0.0:.0f}".replace("-0", "0") if abs(value) < 0.5 else f"{value:.0f}"


def _estimate(rating: PlayerRating) -> str:
    return _elo(rating.elo) if rating.status == "finite" else f"~{_elo(rating.smoothed_elo)}"


def _likelihood(value: float) -> str:
    if math.isnan(value):
        return ""
    percent = 100 * value  # certainty is not to be had by rounding
    return "> 99.9" if percent > 99.9 else "< 0.1" if percent < 0.1 else f"{percent:.1f}"


def _elo_ends(rating: PlayerRating) -> str:
    if rating.lower == rating.upper:  # the anchor
        return ""
    if rating.status == "undetermined":
        return "unknown"
    if math.isinf(rating.upper):
        return f"> {_elo(rating.lower)}"
    if math.isinf(rating.lower):
        return f"< {_elo(rating.upper)}"
    return f"{_elo(rating.lower)} .. {_elo(rating.upper)}"


def _milliseconds(seconds: float) -> str:
    if math.isnan(seconds):
        return ""
    milliseconds = 1000 * seconds
    return f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.2g}"


def as_json(standings: Standings) -> str:
    """The standings as JSON, without the games."""
    return json.dumps(standings.to_dict(), indent=2, allow_nan=False)


def files_of(standings: Standings) -> Mapping[str, str]:
    """What a run's folder holds of its standings, by the names of the files."""
    return {"standings.json": as_json(standings) + "\n", "standings.csv": as_csv(standings)}


def as_csv(standings: Standings) -> str:
    """One line for each agent: counts, score, interval, score by seat and against each other agent."""
    data = standings.to_dict()
    names = [row["agent"] for row in data["agents"]]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header = ["agent", "games", "wins", "draws", "losses", "failures", "score", "low", "high"]
    header += ["elo", "elo_low", "elo_high", "leader_superiority", "seconds_per_move"]
    header += ["mean_reward", "reward_low", "reward_high"]
    seats = [f"score as {seat}" for seat in data["seats"]]
    against = [f"against {name}" for name in names]
    if data["scoring"] != Scoring.WINS and len(data["seats"]) > 1:
        against += [f"reward {'with' if data['scoring'] == Scoring.TEAM else 'against'} {name}" for name in names]
    writer.writerow([*header, *seats, *against])
    for row in data["agents"]:
        writer.writerow(
            [
                *(row[name] for name in ("agent", "games", "wins", "draws", "losses")),
                sum(row["failures"].values()),
                row["score"],
                *row["interval"],
                row["elo"],
                *row["elo_interval"],
                row["leader_superiority"],
                row["seconds_per_move"],
                row["mean_reward"],
                *row["reward_interval"],
                *(seat["score"] for seat in row["by_seat"]),
                *(row["against"].get(name) for name in names),
                *(row["rewards_against"].get(name, {}).get("mean") for name in names[: len(against) - len(names)]),
            ]
        )
    return out.getvalue()
