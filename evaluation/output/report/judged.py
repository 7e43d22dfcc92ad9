"""The judge's table: moves against perfect play, or how much agents can be exploited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.output.numbers import four_digits, number, percent
from zermelo.evaluation.output.report.markup import Cell, Row, part, section, table


def judge_part(judged: Mapping[str, Any] | None) -> tuple[str, Sequence[str]]:
    """The judge's table (``JudgeTable.to_dict``, or ``ExploitabilityTable.to_dict``), and its notes."""
    if not judged:
        return "", ()
    try:
        return _section(judged), msgspec.convert(judged.get("notes", ()), tuple[str, ...])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"this is no table of the judge ({error}): run `zermelo judge` again") from error


def _section(judged: Mapping[str, Any]) -> str:
    about = part("about", str(judged["about"]))
    if "exploitability" in judged:
        rows: list[Row] = [
            [line["agent"], *map(four_digits, (line["exploitability"], *line["best_responses"]))]
            for line in judged["exploitability"]
        ]
        columns = ["agent", "exploitability", *(f"best answer as {seat}" for seat in judged["seats"])]
        return section("judge", "Exploitability", about, table("Exploitability", columns, rows))
    agents = judged["agents"]
    rows = [_row(agent) for agent in agents]
    phases: list[Row] = [[agent["agent"], *_phase_cells(agent["phases"])] for agent in agents]
    names = [phase["phase"] for phase in agents[0]["phases"]] if agents else []
    blunders = ["wins thrown away", "draws thrown away"]
    matter = ["moves that matter", "optimal of these %", "95 % interval"]
    columns = ["agent", "judged", "not judged", "optimal %", "mean regret", *blunders, *matter, "games"]
    return section(
        "judge",
        "Compared with perfect play",
        about,
        table("Moves against perfect play", columns, rows),
        table("By phase: optimal moves in % and blunders (judged moves)", ["agent", *names], phases)
        if names
        else "",
    )


def _row(agent: Mapping[str, Any]) -> Row:
    low, high = agent["mattered_interval"]
    share = agent["mattered_share"]
    return [
        agent["agent"],
        number(agent["judged"]),
        number(agent["unjudged"]),
        "" if agent["optimal_share"] is None else percent(agent["optimal_share"]),
        "" if agent["mean_regret"] is None else four_digits(agent["mean_regret"]),
        number(agent["wins_thrown_away"]),
        number(agent["draws_thrown_away"]),
        number(agent["mattered"]),
        "" if share is None else percent(share),
        "" if share is None else f"{percent(low)} to {percent(high)}",
        number(agent["games"]),
    ]


def _phase_cells(phases: Sequence[Mapping[str, Any]]) -> list[str | Cell]:
    cells: list[str | Cell] = []
    for phase in phases:
        if not phase["judged"]:
            cells.append("")
            continue
        share = phase["optimal"] / phase["judged"]
        blunders = phase["wins_thrown_away"] + phase["draws_thrown_away"]
        word = "blunder" if blunders == 1 else "blunders"
        cells.append(f"{percent(share)} · {blunders:,} {word} ({phase['judged']:,})")
    return cells
