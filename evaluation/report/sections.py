"""The parts of a report, each HTML of its own: they can be read without the page's script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from zermelo.evaluation.analysis.attack import attack_notes, attack_table
from zermelo.evaluation.analysis.exploitability import exploitability_table
from zermelo.evaluation.analysis.judgement import judge_tables
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.output.cells import NOT_RATED, of_rounds, points_heading
from zermelo.evaluation.output.numbers import four_digits, number, percent, time_text
from zermelo.evaluation.report import markup
from zermelo.evaluation.report.effort import Effort
from zermelo.evaluation.report.markup import (
    Cell,
    Interval,
    TableRow,
    part,
    section,
    table,
)
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.ratings.elo import ELO_SCALE
from zermelo.evaluation.stats.ratings.table import RatingTable
from zermelo.evaluation.stats.rewards import MeanReward
from zermelo.evaluation.stats.rounds import matches, total_points
from zermelo.evaluation.stats.rows import SeatScore
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.invocations import Invocation, StoredRun
from zermelo.evaluation.text_table import TextTable

_RESULTS: Final = ("games", "won", "drawn", "lost")
_SINGLE: Final = f"Mean return of each agent over the games it finished, with Student's {INTERVAL}."
_REWARDS: Final = (
    f"What a game paid an agent on average, in the game's own units, with Student's {INTERVAL} over deals: "
    "games that differ by the seats alone count as one. A failed game counts as the least that any paid."
)
_TEAMS: Final = (
    "A cooperative game: all seats are paid alike, so a team has one score. Alone: teams of that agent alone. "
    f"Mixed: its teams with others. Means of the games' scores, with Student's {INTERVAL}s over deals."
)


def notes_section(notes: Sequence[str]) -> str:
    return section("notes", "Read this first", part("notes", notes)) if notes else ""


def ratings_section(standings: Ranking, ratings: RatingTable, history: str = "") -> str:
    lines, rows = [], []
    ranked = ratings.players
    ranks = {player.name: rank for rank, player in enumerate(ranked, start=1)}
    if standings.results.rounds:  # points rank the agents
        ranks = {row.agent: rank for rank, row in enumerate(standings.rows, start=1)}
        ranked = tuple(sorted(ranked, key=lambda player: ranks[player.name]))
    for player in ranked:
        counted = standings.row(player.name)
        interval = f"{number(player.lower)} to {number(player.upper)}"
        is_anchor, is_known = player.name == ratings.anchor, player.status != "undetermined"
        elo = number(player.elo) if is_known else "unknown"
        interval = interval if is_known else ""
        text = f"{elo}, the zero of the scale" if is_anchor else f"{elo}, from {interval}" if is_known else elo
        place = player.elo if is_known else math.inf
        lines.append(Interval(player.name, place, player.lower, player.upper, text))
        counts = map(number, (player.games, counted.wins, counted.draws, counted.losses))
        rating = [str(ranks[player.name]), player.name, elo, "anchor" if is_anchor else interval]
        rows.append([*rating, *counts, percent(counted.score)])
    for row in (standings.row(name) for name in standings.unrated):
        counts = map(number, (row.games, row.wins, row.draws, row.losses))
        rows.append(["", row.agent, NOT_RATED, "failed in every game", *counts, percent(row.score)])
    about = (
        f"Elo from {ratings.games:,} games, with {INTERVAL}s: {ELO_SCALE}; {ratings.zero} is fixed at 0. "
        "Nothing but wins, or losses, does not say by how much somebody is stronger: "
        "∞ stands for no bound, and an arrow in the plot."
    )
    if standings.scoring is Scoring.REWARDS:
        about += " Ratings count games won, drawn and lost, however much was at stake."
    seat = ""
    if ratings.seat_advantage_elo is not None:
        first, lower, upper = map(number, ratings.seat_advantage_elo)
        text = f"Moving first is worth {first} Elo ({lower} to {upper}) in this tournament."
        seat = part("about", text)
    columns = ["#", "agent", "Elo", INTERVAL, *_RESULTS, "score %"]
    plot = markup.interval_plot("Rating of each agent, with its interval", lines, "Elo")
    results = table("Ratings and results", columns, rows, names=2)
    return section("ratings", "Ratings", part("about", about), plot, results, seat, history)


def means_section(standings: Ranking) -> str:
    single, team = len(standings.seat_names) == 1, standings.scoring is Scoring.TEAM
    lines, rows = list[Interval](), list[TableRow]()
    for rank, row in enumerate(standings.rows, start=1):
        means: dict[str, MeanReward | None] = {
            "": MeanReward(row.games, row.deals, row.mean_reward, row.reward_interval)
        }
        if team:
            means = {", alone": standings.alone(row.agent), ", mixed": standings.mixed(row.agent)}
        cells = [str(rank), row.agent, *([number(row.games)] if single else [])]
        for kind, mean in means.items():
            if mean is None or math.isnan(mean.mean):
                cells += ["", ""]
                continue
            low, high = mean.interval
            text = f"{four_digits(mean.mean)}, from {four_digits(low)} to {four_digits(high)}"
            lines.append(Interval(f"{row.agent}{kind}", mean.mean, low, high, text))
            cells += [four_digits(mean.mean), _ends(mean)]
        if not team and not single:
            cells += map(number, (row.games, row.wins, row.draws, row.losses))
        rows.append(cells)
    if team:
        title, about, unit = "Scores of teams", _TEAMS, "score"
        caption = "Mean score of each agent's teams, with its interval"
        columns = ["alone", INTERVAL, "mixed", INTERVAL]
    else:
        title, about, unit = ("Returns", _SINGLE, "return") if single else ("Rewards", _REWARDS, "reward")
        caption = f"Mean {unit} of each agent, with its interval"
        columns = [f"mean {unit}", INTERVAL]
        columns = ["games", *columns] if single else [*columns, *_RESULTS]
    plot = markup.interval_plot(caption, lines, unit) if lines else ""
    of_agents = table(title, ["#", "agent", *columns], rows, names=2) if rows else ""
    return section("ratings" if single else "rewards", title, part("about", about), plot, of_agents)


def _ends(mean: MeanReward) -> str:
    low, high = mean.interval
    return f"{four_digits(low)} to {four_digits(high)}" if math.isfinite(high - low) else ""


def _heat(text: str, strength: float, title: str) -> Cell:
    """A cell whose colour says how good, to 1, or bad, to -1, its number is."""
    return Cell(text, "heat good" if strength >= 0 else "heat bad", f"--p:{round(100 * abs(strength))}%", title)


def _share(share: float, title: str, digits: int = 1) -> Cell:
    return _heat(percent(share, digits), 2 * share - 1, title)


def crosstable_section(standings: Ranking, order: Sequence[str]) -> str:
    """Everybody against, or with, everybody as a heat map: scores, or mean rewards where those rank the agents."""
    team, cells = standings.scoring is Scoring.TEAM, dict[tuple[str, str], Cell]()
    if standings.scoring is Scoring.WINS:
        title, digits = "Who beats whom", 1 if len(order) <= 8 else 0
        about = "The score in % of the agent in each row against the agent of each column's number."
        for (name, other), score in standings.results.counts().head_to_head().items():
            text = f"{name} against {other}: {score.wins:,} won, {score.draws:,} drawn, {score.losses:,} lost"
            cells[name, other] = _share(score.mean, text, digits)
    else:
        title = "Who plays well with whom" if team else "Who wins from whom"
        about = "What the agent in each row earned on average against the agent of each column's number."
        about = "The mean score of teams of the agents of the row and the column." if team else about
        met = {pair: mean for pair, mean in standings.rewards.items() if not math.isnan(mean.mean)}
        low, high = (end((mean.mean for mean in met.values()), default=0.0) for end in (min, max))
        middle = (low + high) / 2 if team else 0.0
        reach = max(high - middle, middle - low) or 1.0
        for (name, other), mean in met.items():
            text = f"{name} {'with' if team else 'against'} {other}: {_ends(mean)}, {mean.deals:,} deals"
            cells[name, other] = _heat(four_digits(mean.mean), (mean.mean - middle) / reach, text)
    if not cells:
        return ""
    rows = list[TableRow]()
    for place, name in enumerate(order, start=1):
        missing = {name: Cell("·", "self")}
        line = [cells.get((name, other), missing.get(other, Cell(""))) for other in order]
        rows.append([str(place), name, *line])
    numbers = [Cell(str(place), title=name) for place, name in enumerate(order, start=1)]
    crosstable = table("Crosstable", ["#", "agent", *numbers], rows, names=2, kind="heatmap")
    return section("crosstable", title, part("about", about), crosstable)


def rounds_section(standings: Ranking) -> str:
    names, played = [row.agent for row in standings.rows], standings.results.rounds
    most = max((max(match.points) for of_round in played for match in matches(of_round)), default=0.0) or 1.0
    rows = list[TableRow]()
    lines = [standings.round_table[name] for name in names]
    for place, (name, line) in enumerate(zip(names, lines, strict=True), start=1):
        texts = zip(of_rounds(line, names), line, strict=True)
        marked = [
            _heat(text, 2 * points / most - 1, f"{name} against {other}") if other in names else Cell(text)
            for text, (points, other) in texts
        ]
        total = [] if standings.pairings is Pairings.KNOCKOUT else [f"{total_points(line):g}"]
        rows.append([str(place), name, *marked, *total])
    heading = points_heading(lines)
    how = "In each round agents of as many points met that had not met before, ranked by their ratings so far."
    if standings.pairings is Pairings.KNOCKOUT:
        how = "Whoever has fewer points in a round is out; where they are equal, whoever was ranked lower."
    if heading != "points":
        how += " A bye counts as a match won in every game."
    about = f"The points of each agent in each round, and the number of the agent that it met (1.5 v 4). {how}"
    columns = ["#", "agent", *(f"round {number + 1}" for number in range(len(played)))]
    columns += [] if standings.pairings is Pairings.KNOCKOUT else [heading]
    of_agents = table("Rounds", columns, rows, names=2, kind="heatmap")
    return section("rounds", "Rounds", part("about", about), of_agents)


def seats_section(standings: Ranking, order: Sequence[str]) -> str:
    if len(standings.seat_names) == 1:
        return ""
    everybody = []
    for seats in zip(*(row.by_seat for row in standings.rows), strict=True):
        games = sum(seat.games for seat in seats)
        points = sum(seat.games * seat.score for seat in seats if seat.games)
        everybody.append(SeatScore(games=games, score=points / games if games else math.nan))
    rows: list[TableRow] = []
    by_seat: list[tuple[str, Sequence[SeatScore]]] = [(name, standings.row(name).by_seat) for name in order]
    for name, scores in [*by_seat, ("all agents", everybody)]:
        cells = [_share(seat.score, f"{seat.games:,} games") if seat.games else "" for seat in scores]
        rows.append([name, *cells, *(number(seat.games) for seat in scores)])
    columns = ["agent", *standings.seat_names, *(f"games as {seat}" for seat in standings.seat_names)]
    about = "The score in % from each seat, in the order in which they first move, and the games there."
    scores_table = table("Score by seat", columns, rows, kind="heatmap")
    return section("seats", "Score by seat", part("about", about), scores_table)


def faults_section(standings: Ranking, order: Sequence[str]) -> str:
    failures = {row.agent: row.failures for row in standings.rows}
    kinds = [kind for kind in FailureKind if any(kind in of_agent for of_agent in failures.values())]
    if not kinds:
        return ""
    rows: list[TableRow] = []
    for name in order:
        counts = [failures[name].get(kind, 0) for kind in kinds]
        rows.append([name, *(Cell(number(count), "fault" * bool(count)) for count in counts), number(sum(counts))])
    columns = ["agent", *(kind.replace("_", " ").lower() for kind in kinds), "all"]
    about = "Games that an agent lost by a failure of its own, by kind. Each counts as a loss."
    return section("faults", "Faults", part("about", about), table("Faults by kind", columns, rows))


def effort_section(effort: Effort, order: Sequence[str]) -> str:
    times, nodes, pondered = list[TableRow](), list[TableRow](), list[TableRow]()
    for name in order:
        if (agent := effort.agents.get(name)) is None:
            continue
        times.append([name, number(agent.moves), time_text(agent.seconds / agent.moves), time_text(agent.longest)])
        if agent.pondered:
            pondered.append([name, number(agent.pondered), percent(agent.hits / agent.pondered)])
        if agent.searches:
            speed = agent.nodes / agent.searched_seconds if agent.searched_seconds else math.nan
            depth = agent.depth / agent.depths if agent.depths else math.nan
            means = number(agent.nodes / agent.searches), number(agent.most_nodes)
            nodes.append([name, *means, number(depth, 1), number(speed)])
    searched = ["agent", "mean", "most", "mean depth", "nodes a second"]
    tables = [
        ("Wall-clock time of a move", ["agent", "moves", "mean", "longest"], times),
        ("Nodes visited for a move, by agents that search", searched, nodes),
        ("Thinking on the opponent's time", ["agent", "moves", "expected"], pondered),
    ]
    return section("effort", "Time and nodes per move", *(table(*one) for one in tables if one[2]))


def length_section(effort: Effort) -> str:
    if not effort.lengths:
        return ""
    games = effort.lengths.total()
    mean = sum(length * count for length, count in effort.lengths.items()) / games
    ends: list[TableRow] = [
        [str(end).replace("_", " ").lower(), number(count), percent(count / games)]
        for end, count in effort.ends.most_common()
    ]
    low, high = min(effort.lengths), max(effort.lengths)
    about = f"Games had {low:,} to {high:,} moves, {mean:,.1f} on average, those of openings included."
    lengths = markup.histogram("Games by their number of moves", effort.lengths, "moves")
    ended = table("What ended the games", ["end", "games", "%"], ends)
    return section("length", "Length of games", part("about", about), lengths, ended)


def judge_section(judged: Mapping[str, Any] | None) -> tuple[str, Sequence[str]]:
    """The judge's tables, from ``JudgeTable.to_dict`` or ``ExploitabilityTable.to_dict``, and its notes."""
    if not judged:
        return "", ()
    title, tables = "Compared with perfect play", dict[str, TextTable]()
    try:
        if "exploitability" in judged:
            title = "Exploitability"
            tables[title] = exploitability_table(judged)
        else:
            tables = judge_tables(judged)
        parts = [table(caption, one.columns, one.rows) for caption, one in tables.items()]
        notes = msgspec.convert(judged.get("notes", ()), tuple[str, ...])
        return section("judge", title, part("about", str(judged["about"])), *parts), notes
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"this is no table of the judge ({error}): run `zermelo judge` again") from error


def attack_section(attack: Mapping[str, Any] | None) -> tuple[str, Sequence[str], Sequence[str]]:
    """How a policy is beaten, from ``Attack.to_dict``, its notes, and the games in which asking won more."""
    if not attack:
        return "", (), ()
    try:
        one, title = attack_table(attack), f"How {attack['policy']} is beaten"
        notes = msgspec.convert(attack_notes(attack), tuple[str, ...])
        asked = msgspec.convert([won["game_id"] for won in attack["won_more"]], tuple[str, ...])
        about = part("about", str(attack["about"]))
        return section("attack", title, about, table(title, one.columns, one.rows)), notes, asked
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"this is no result of an attack ({error}): run `zermelo attack` again") from error


def provenance_section(run: StoredRun | None, versions: Mapping[str, str]) -> str:
    invocations = () if run is None else run.invocations
    facts = [] if run is None else _settings(run.spec)
    planned = {} if run is None else run.spec.get("machine")
    machines: list[Mapping[str, Any]] = [one.machine for one in invocations]
    if not machines and isinstance(planned, Mapping) and planned:
        machines = [planned]
    if names := dict.fromkeys(map(_machine, machines)):
        facts.append(("Machine" if len(names) == 1 else "Machines", "; ".join(names)))
    if built := invocations[-1].versions if invocations else versions:
        facts.append(("Versions", ", ".join(f"{name} {version}" for name, version in built.items())))
    columns, caption = ["command", "started (UTC)", "duration", "games"], "Commands that played these games"
    commands = table(caption, columns, map(_command, invocations), kind="commands") if invocations else ""
    return section("provenance", "How this was made", part("facts", facts) if facts else "", commands)


def _command(call: Invocation) -> TableRow:
    spent = ""
    if math.isfinite(call.seconds):
        hours, minutes = divmod(round(call.seconds) // 60, 60)
        spent = f"{hours} h {minutes} min" if hours else f"{minutes} min {round(call.seconds) % 60} s"
        spent = f"{call.seconds:.1f} s" if call.seconds < 119.5 else spent
    return [call.command or "from a program", call.started, spent, number(call.games)]


def _settings(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [("Environment", str(spec.get("env", "unknown"))), ("Seed", str(spec.get("seed", "unknown")))]
    if spec.get("title"):
        facts[0] = ("Environment", f"{spec['title']} ({spec.get('env')})")
    rounds = f", {spec['rounds']} rounds" if "rounds" in spec else ""
    pairings = f"{spec.get('kind', 'unknown')}{rounds}, {spec.get('games', '?')} games a pairing"
    facts.append(("Pairings", "chosen on the way, where a game says most" if "batches" in spec else pairings))
    openings, limits = spec.get("openings"), spec.get("isolation")
    if isinstance(openings, Mapping):
        plies = openings.get("plies")
        what = "from a list" if plies is None else f"of {plies} random moves"
        facts.append(("Openings", f"{openings.get('count', '?')} {what}"))
    facts.append(("Score", str(spec.get("score", "auto"))))
    if isinstance(limits, Mapping):
        text = ", ".join(f"{key}={value}" for key, value in limits.items() if value not in (None, False))
        facts.append(("Limits of agents", text))
    return facts


def _machine(machine: Mapping[str, Any]) -> str:
    cores = machine.get("processors")
    parts = [machine.get("processor"), None if cores is None else f"{cores} processors", machine.get("system")]
    return ", ".join(str(part) for part in parts if part)
