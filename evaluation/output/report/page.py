"""The page: one HTML file that holds all that it shows and asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from zermelo.evaluation.analysis.replay import Replayer
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.output.report import rewards, sections
from zermelo.evaluation.output.report.boards import DrawnGames, draw_games
from zermelo.evaluation.output.report.effort import Effort
from zermelo.evaluation.output.report.markup import embedded_json, environment, resource
from zermelo.evaluation.output.report.sample import GameSample, ShownGame
from zermelo.evaluation.stats.ratings import RatingTable, counts_of, fit_ratings
from zermelo.evaluation.stats.standings import Standings
from zermelo.evaluation.storage.glance import Glance
from zermelo.evaluation.storage.store import StoredGames

__all__ = ["GAMES_SHOWN", "report_page"]

GAMES_SHOWN: Final = 100
GAMES_ROOM: Final = 3_500_000
"""Bytes that the shown games may take, so that a page stays below 5 MB."""
ANCHOR: Final = "random"
"""The agent at the zero of the ratings, where it took part and did not lose or win every game."""


def report_page(
    records: Iterable[GameRecord],
    *,
    games: int = GAMES_SHOWN,
    seed: int = 0,
    judged: Mapping[str, Any] | None = None,
    replayer: Replayer | None = None,
    standings: Standings | None = None,
) -> str:
    """The report of a tournament as the text of an HTML file.

    Records in a folder are read one after another and not kept, so there may be any number of them; give their
    standings too, which the folder's database counts. The same records give the same page.

    Args:
        records: The games, in any order.
        games: How many to show in full at most; fewer are shown if they would make the page too large.
        seed: Decides the sample of games that are shown.
        judged: What the judge says of them (``JudgeTable.to_dict()``).
        replayer: Plays games again to draw their boards; by default in the environments that the records name.
        standings: Of these games, for a report with their ratings and notes; else the records alone say them.

    Raises:
        StoreError: There are no games.
    """
    given, effort, sample = standings, Effort(), GameSample(games, seed)
    if standings is None:
        records = records if isinstance(records, Sequence) else tuple(records)
        standings = Standings.from_records(records)
    for game in records.glances() if isinstance(records, StoredGames) else map(Glance.of, records):
        effort.add(game)
        sample.add(game)
    if not effort.games:
        raise StoreError("there are no games to report on: play some first")
    ratings = standings.ratings if given is not None or standings.ratings is None else _ratings(standings)
    if ratings is not None and not ratings.games:
        ratings = None
    if ratings is None or standings.scoring is not Scoring.WINS:
        order = [row.agent for row in standings.rows]
        known = {row.agent: row.mean_reward for row in standings.rows if not math.isnan(row.mean_reward)}
    else:
        order = [player.name for player in ratings.players]
        order += [row.agent for row in standings.rows if row.agent not in order]  # who only played void games
        known = {player.name: player.smoothed_elo for player in ratings.players}
    numbers = {name: place for place, name in enumerate(order)}
    shown = sample.chosen(known)
    drawn = draw_games(shown, numbers, room=GAMES_ROOM, replayer=replayer)
    try:
        return _page(standings, effort, ratings, order, drawn, shown, judged, seed)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if judged is None:
            raise
        raise StoreError(f"what the judge found cannot be read ({error!r}): run `zermelo judge` again") from error


def _ratings(standings: Standings) -> RatingTable | None:
    counts = counts_of(standings.totals)
    if not counts.players:
        return None
    free = fit_ratings(counts)
    if ANCHOR not in counts.players:
        return free
    anchored = fit_ratings(counts, anchor=ANCHOR)
    # Against an anchor that lost every game all others are infinite, and nothing is said of them among themselves.
    return anchored if _finite(anchored) >= _finite(free) else free


def _finite(ratings: RatingTable) -> int:
    return sum(player.status == "finite" for player in ratings.players)


def _page(
    standings: Standings,
    effort: Effort,
    ratings: RatingTable | None,
    order: list[str],
    drawn: DrawnGames,
    shown: list[ShownGame],
    judged: Mapping[str, Any] | None,
    seed: int,
) -> str:
    counted = f"{effort.games:,} game{'' if effort.games == 1 else 's'}"
    agents = f"{len(order)} agent{'' if len(order) == 1 else 's'}"
    built = ", ".join(f"{name} {version}" for name, version in effort.versions.items())
    by_wins = standings.scoring is Scoring.WINS or len(standings.seat_names) == 1
    leads = [ratings.leader_note] if ratings is not None and by_wins else []
    of_ratings = [] if ratings is None else [*filter(None, leads), *ratings.notes]
    parts = [
        sections.notes_section([*standings.notes, *of_ratings, *drawn.notes, *(judged or {}).get("notes", ())]),
        *([] if by_wins else [rewards.rewards_section(standings), rewards.reward_crosstable(standings, order)]),
        *([] if standings.scoring is Scoring.TEAM else [sections.ratings_section(standings, ratings)]),
        *([sections.crosstable_section(standings, order)] if by_wins else []),
        *([] if standings.scoring is Scoring.TEAM else [sections.seats_section(standings, order)]),
        sections.faults_section(standings, order),
        sections.judge_section(judged),
        sections.effort_section(effort, order),
        sections.length_section(effort),
    ]
    script = resource("report.js")
    data = {"agents": order, "seats": standings.seat_names, "games": drawn.games}
    return (
        environment()
        .get_template("report.html")
        .render(
            title=f"{standings.env}: {counted}",
            env=standings.env,
            summary=f"{counted} · {agents}",
            style=Markup(resource("report.css")),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            sections=[part for part in parts if part],
            contents=_contents(parts, bool(drawn.games)),
            chosen=_how_chosen(effort.games, drawn, shown, seed),
            has_games=bool(drawn.games),
            data=embedded_json(data),
            versions=f"Played with {built}." if built else "",
        )
    )


def _contents(parts: list[str], has_games: bool) -> list[tuple[str, str]]:
    found = re.findall(r'<section id="(\w+)"[^>]*>\n<h2[^>]*>([^<]*)</h2>', "\n".join(parts))
    return [*((name, Markup(title)) for name, title in found), *([("games", "Games")] if has_games else [])]


def _how_chosen(played: int, drawn: DrawnGames, shown: list[ShownGame], seed: int) -> str:
    count = len(drawn.games)
    if not count:
        return "No game is shown."
    games = f"{played:,} game" + ("" if played == 1 else "s")
    if count == played:
        return f"All {games} are here." if count > 1 else "The one game is here."
    reasons = Counter(game["why"] for game in drawn.games)
    said = {
        "failure": "lost by a failure",
        "upset": "won by the lower rated agent",
        "sample": f"drawn at random from all line-ups in turn (seed {seed})",
    }
    parts = ", ".join(f"{reasons[reason]:,} {text}" for reason, text in said.items() if reasons[reason])
    repeats = " Games that repeat another move for move are left out." if played <= 10 * count else ""
    room = f" {drawn.left_out:,} more did not fit." if drawn.left_out else ""
    return f"{count:,} of {games} are here: {parts}.{repeats}{room}"
