"""The page: one HTML file that holds all that it shows and asks nothing of any network."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from zermelo.evaluation.analysis.judgement import GameVerdict
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.replay import Replayer
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.output.standings import Standings
from zermelo.evaluation.output.web_page import resource, web_page
from zermelo.evaluation.report import sections
from zermelo.evaluation.report.boards import DrawnGames, draw_games
from zermelo.evaluation.report.effort import Effort, RatingHistory
from zermelo.evaluation.report.markup import HERE, short_names
from zermelo.evaluation.report.sample import GameSample
from zermelo.evaluation.report.training import training_sections
from zermelo.evaluation.stats.ratings.table import RatingTable
from zermelo.evaluation.storage.curves import Curve
from zermelo.evaluation.storage.games import StoredGames
from zermelo.evaluation.storage.invocations import StoredRun

GAMES_SHOWN: Final = 100
GAMES_ROOM: Final = 3_500_000  # bytes that the shown games may take, so that a page stays below 5 MB
SCRIPTS: Final = ("common", "tables", "chooser", "board", "chart", "viewer")  # in order
STYLES: Final = ("page", "viewer", "small")  # the parts of its style sheet, in order


def report_page(
    records: Iterable[GameRecord],
    *,
    games: int = GAMES_SHOWN,
    seed: int = 0,
    replayer: Replayer | None = None,
    standings: Standings | None = None,
    judged: Mapping[str, Any] | None = None,
    attack: Mapping[str, Any] | None = None,
    verdicts: Callable[[Collection[str]], Mapping[str, GameVerdict]] | None = None,
    run: StoredRun | None = None,
    curves: Sequence[Curve] = (),
) -> str:
    """The report of a tournament as the text of an HTML file; the same records give the same page.

    Records in a folder are read one after another and not kept. At most so many ``games`` are shown in full, and
    fewer if they would make the page too large. ``judged`` is the judge's table as plain values, and ``verdicts``
    reads what it said of some games, by their ids. ``attack`` is that of ``zermelo attack``.
    """
    effort, history = Effort(), RatingHistory()
    judge, judge_notes = sections.judge_section(judged)
    attacked, attack_notes, asked = sections.attack_section(attack)
    sample = GameSample(games, seed, asked)
    if standings is None:
        records = records if isinstance(records, Sequence) else tuple(records)
        standings = Standings.from_records(records)
    lines = records.with_lines() if isinstance(records, StoredGames) else ((one, one.to_json()) for one in records)
    for game, line in lines:
        effort.add(game)
        sample.add(game, line)
        history.add(game)
    if not effort.games:
        raise StoreError("there are no games to report on: play some first")
    ratings = standings.ratings if standings.ratings is not None and standings.ratings.games else None
    strengths = _strengths(standings, ratings)
    order = [*strengths]
    chosen = sample.chosen({name: strength for name, strength in strengths.items() if not math.isnan(strength)})
    judged_games = verdicts({game.record.game_id for game in chosen}) if verdicts else None
    numbers = {name: place for place, name in enumerate(order)}
    drawn = draw_games(chosen, numbers, room=GAMES_ROOM, replayer=replayer, verdicts=judged_games)
    parts = [
        sections.notes_section(
            [*dict.fromkeys((*standings.all_notes, *drawn.notes, *judge_notes, *attack_notes))]
        ),
        attacked,
        *_results(standings, ratings, order, history),
        sections.faults_section(standings, order),
        judge,
        *(training_sections(curves) if curves else []),
        sections.effort_section(effort, order),
        sections.length_section(effort),
    ]
    about = [_counted(effort.games, "game"), _counted(len(order), "agent")]
    if not any(row.failures for row in standings.rows):
        about.append("no agent failed")
    data: dict[str, Any] = {"agents": order, "short": [*short_names(order).values()]}
    data |= {"seats": standings.seat_names, "games": drawn.games, "written": drawn.written, **drawn.scale}
    after, which = [sections.provenance_section(run, effort.versions)], _how_chosen(effort.games, drawn, seed)
    return _rendered("Tournament report", standings.title, about, parts, after, chosen=which, data=data)


def _strengths(standings: Standings, ratings: RatingTable | None) -> dict[str, float]:
    """All agents in the order of the tables, with the number that upsets are told by; nan if there is none."""
    if ratings is None or standings.scoring is not Scoring.WINS:
        return {row.agent: row.mean_reward for row in standings.rows}
    rated = {player.name: player.smoothed_elo for player in ratings.players}
    if standings.results.rounds:  # points rank the agents
        return {row.agent: rated.get(row.agent, math.nan) for row in standings.rows}
    return rated | {row.agent: math.nan for row in standings.rows if row.agent not in rated}  # only void games


def training_page(curves: Sequence[Curve], notes: Sequence[str] = ()) -> str:
    if not curves:
        raise StoreError("there is no training run to report on: give the file that RatingCurve writes")
    parts = [sections.notes_section(notes), *training_sections(curves)]
    ratings = sum(len(curve.points) for curve in curves)
    about = [_counted(len(curves), "training run"), _counted(ratings, "rating")]
    titles = dict.fromkeys(curve.title for curve in curves)
    return _rendered("Training report", ", ".join(titles), about, parts, [], chosen="", data={"games": []})


def _results(
    standings: Standings, ratings: RatingTable | None, order: list[str], history: RatingHistory
) -> list[str]:
    single = len(standings.seat_names) == 1
    rated = "" if ratings is None else sections.ratings_section(standings, ratings, history.plot(standings, order))
    crosstable = "" if single else sections.crosstable_section(standings, order)
    if standings.results.rounds:
        crosstable = sections.rounds_section(standings)
    seats = "" if standings.scoring is Scoring.TEAM else sections.seats_section(standings, order)
    if standings.scoring is Scoring.WINS and not single:
        return [rated, crosstable, seats]
    return [sections.means_section(standings), crosstable, rated, seats]  # rewards rank the agents


def _rendered(
    brand: str, env: str, about: Sequence[str], before: list[str], after: list[str], *, chosen: str, data: Any
) -> str:
    script = "".join(["(() => {\n", *(resource(f"{name}.js", HERE) for name in SCRIPTS), "})();\n"])
    style = "".join(resource(f"{name}.css", HERE) for name in STYLES)
    has_games = bool(data["games"])
    contents = [*_contents(before), *([("games", "Games")] if has_games else []), *_contents(after)]
    return web_page(
        "report.html", HERE, style=style, script=script, data=data, title=f"{env}: {about[0]}", brand=brand,
        env=env, summary=" · ".join(about), before=[*filter(None, before)], after=[*filter(None, after)],
        contents=contents, chosen=chosen, has_games=has_games,
    )  # fmt: skip


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _contents(parts: list[str]) -> list[tuple[str, str]]:
    headings = re.findall(r'<section id="([\w-]+)"[^>]*>\n<h2[^>]*>([^<]*)</h2>', "\n".join(parts))
    return [(name, Markup(title)) for name, title in headings]


def _how_chosen(played: int, drawn: DrawnGames, seed: int) -> str:
    count = len(drawn.games)
    if not count:
        return "No game is shown."
    games = _counted(played, "game")
    reasons = Counter(game["why"] for game in drawn.games)
    if count == played:
        first = " Those in which asking the policy won more come first." if reasons["asked"] else ""
        return f"All {games} are here.{first}" if count > 1 else "The one game is here."
    texts = {
        "asked": "in which asking the policy won more",
        "failure": "lost by a failure",
        "upset": "won by the lower rated agent",
        "sample": f"drawn at random from all line-ups in turn (seed {seed})",
    }
    parts = ", ".join(f"{reasons[reason]:,} {text}" for reason, text in texts.items() if reasons[reason])
    repeats = " Games that repeat another move for move are left out." if played <= 10 * count else ""
    room = f" {drawn.left_out:,} more did not fit." if drawn.left_out else ""
    return f"{count:,} of {games} are here: {parts}.{repeats}{room}"
