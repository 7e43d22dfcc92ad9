"""The page: one HTML file that holds all that it shows and asks nothing of any network."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib.resources
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from zermelo.evaluation.analysis.replay import Replayer
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.output.report import sections
from zermelo.evaluation.output.report.boards import DrawnGames, draw_games
from zermelo.evaluation.output.report.markup import embedded_json, escape
from zermelo.evaluation.output.report.sample import GameSample, ShownGame
from zermelo.evaluation.output.report.tally import Tally
from zermelo.evaluation.stats.ratings import RatingTable, fit_ratings
from zermelo.evaluation.storage.glance import Glance
from zermelo.evaluation.storage.store import StoredGames

__all__ = ["GAMES_SHOWN", "report_page", "write_text"]

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
) -> str:
    """The report of a tournament as the text of an HTML file.

    The records are read once and not kept, so there may be any number of them. The same records give the same
    page.

    Args:
        records: The games, in any order.
        games: How many to show in full at most; fewer are shown if they would make the page too large.
        seed: Decides the sample of games that are shown.
        judged: What the judge says of them (``JudgeTable.to_dict()``).
        replayer: Plays games again to draw their boards; by default in the environments that the records name.

    Raises:
        StoreError: There are no games.
    """
    tally, sample = Tally(), GameSample(games, seed)
    for game in records.glances() if isinstance(records, StoredGames) else map(Glance.of, records):
        tally.add(game)
        sample.add(game)
    if not tally.games:
        raise StoreError("there are no games to report on: play some first")
    ratings = _ratings(tally)
    if ratings is None:
        order = [agent.name for agent in tally.ranked()]
        known = {agent.name: agent.score for agent in tally.ranked()}
    else:
        order = [player.name for player in ratings.players]
        order += [name for name in tally.agents if name not in order]  # who only played void games
        known = {player.name: player.smoothed_elo for player in ratings.players}
    numbers = {name: place for place, name in enumerate(order)}
    shown = sample.chosen(known)
    drawn = draw_games(shown, numbers, room=GAMES_ROOM, replayer=replayer)
    return _page(tally, ratings, order, drawn, shown, judged, seed)


def _ratings(tally: Tally) -> RatingTable | None:
    players = tally.counts.players
    if not players:
        return None
    free = fit_ratings(tally.counts)
    if ANCHOR not in players:
        return free
    anchored = fit_ratings(tally.counts, anchor=ANCHOR)
    # Against an anchor that lost every game all others are infinite, and nothing is said of them among themselves.
    return anchored if _finite(anchored) >= _finite(free) else free


def _finite(ratings: RatingTable) -> int:
    return sum(player.status == "finite" for player in ratings.players)


def _page(
    tally: Tally,
    ratings: RatingTable | None,
    order: list[str],
    drawn: DrawnGames,
    shown: list[ShownGame],
    judged: Mapping[str, Any] | None,
    seed: int,
) -> str:
    counted = f"{tally.games:,} game{'' if tally.games == 1 else 's'}"
    agents = f"{len(order)} agent{'' if len(order) == 1 else 's'}"
    built = ", ".join(f"{name} {version}" for name, version in tally.versions.items())
    parts = [
        sections.notes_section(_notes(tally, ratings, drawn, judged)),
        sections.ratings_section(tally, ratings),
        sections.crosstable_section(tally, order),
        sections.seats_section(tally, order),
        sections.faults_section(tally, order),
        sections.judge_section(judged),
        sections.effort_section(tally, order),
        sections.length_section(tally),
    ]
    script = _resource("report.js")
    data = {"agents": order, "seats": tally.seat_names, "games": drawn.games}
    return _filled(
        _resource("report.html"),
        {
            "title": escape(f"{tally.env}: {counted}"),
            "env": escape(tally.env),
            "summary": escape(f"{counted} · {agents}"),
            "style": _resource("report.css"),
            "script": script,
            "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            "sections": "\n".join(part for part in parts if part),
            "contents": _contents(parts, bool(drawn.games)),
            "chosen": escape(_how_chosen(tally, drawn, shown, seed)),
            "viewer_state": "" if drawn.games else " hidden",
            "data": embedded_json(data),
            "versions": escape(f"Played with {built}." if built else ""),
        },
    )


def _resource(name: str) -> str:
    return (importlib.resources.files("zermelo.evaluation.output.report") / name).read_text(encoding="utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its ``{{names}}`` replaced, in one pass: what is put in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def _contents(parts: list[str], has_games: bool) -> str:
    found = re.findall(r'<section id="(\w+)"[^>]*>\n<h2[^>]*>([^<]*)</h2>', "\n".join(parts))
    links = [*found, ("games", "Games")] if has_games else found
    return "\n".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in links)


def _notes(
    tally: Tally, ratings: RatingTable | None, drawn: DrawnGames, judged: Mapping[str, Any] | None
) -> list[str]:
    notes = [] if ratings is None else [*filter(None, [ratings.leader_note]), *ratings.notes]
    if tally.void:
        count = "1 game counts" if tally.void == 1 else f"{tally.void:,} games count"
        notes.append(f"{count} for nobody, because the environment itself failed: {tally.void_message}")
    return [*notes, *drawn.notes, *(judged or {}).get("notes", ())]


def _how_chosen(tally: Tally, drawn: DrawnGames, shown: list[ShownGame], seed: int) -> str:
    count = len(drawn.games)
    if not count:
        return "No game is shown."
    games = f"{tally.games:,} game" + ("" if tally.games == 1 else "s")
    if count == tally.games:
        return f"All {games} are here." if count > 1 else "The one game is here."
    reasons = Counter(game["why"] for game in drawn.games)
    said = {
        "failure": "lost by a failure",
        "upset": "won by the lower rated agent",
        "sample": f"drawn at random from all line-ups in turn (seed {seed})",
    }
    parts = ", ".join(f"{reasons[reason]:,} {text}" for reason, text in said.items() if reasons[reason])
    repeats = " Games that repeat another move for move are left out." if tally.games <= 10 * count else ""
    room = f" {drawn.left_out:,} more did not fit." if drawn.left_out else ""
    return f"{count:,} of {games} are here: {parts}.{repeats}{room}"


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file so that it is there as a whole or not at all.

    Raises:
        StoreError: It cannot be written.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise StoreError(f"cannot write {target}: {error.strerror or error}; choose another file") from error
