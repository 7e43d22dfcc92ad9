"""The judge's table as plain text, in the style of the standings."""

from __future__ import annotations

import io
import math
import textwrap
from typing import TYPE_CHECKING

from zermelo.evaluation.match.printable import printable

if TYPE_CHECKING:
    from zermelo.evaluation.analysis.judgement import JudgeTable

__all__ = ["as_text"]


def as_text(judged: JudgeTable) -> str:
    """The table, what it means, and its notes."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    blunders = ["wins thrown", "draws thrown"] if judged.has_blunders else []
    phases = [str(phase) for phase in judged.agents[0].phases] if judged.agents else []
    for column in ["agent", "judged", "not judged", "optimal", "regret", *blunders, *phases]:
        is_name = column == "agent"
        table.add_column(column, justify="left" if is_name else "right", overflow="fold", no_wrap=not is_name)
    for line in judged.agents:
        total = line.total
        cells = [printable(line.agent), str(total.judged), str(line.unjudged), _percent(line.optimal_share)]
        cells.append("" if math.isnan(line.mean_regret) else f"{line.mean_regret:.3g}")
        if judged.has_blunders:
            cells += [str(total.wins_thrown_away), str(total.draws_thrown_away)]
        shares = (part.optimal / part.judged if part.judged else math.nan for part in line.phases.values())
        table.add_row(*cells, *map(_percent, shares))
    matter = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("that matter", "moves", "optimal", "95 % interval", "where all were", "optimal"):
        is_name = column == "that matter"
        matter.add_column(column, justify="left" if is_name else "right", overflow="fold", no_wrap=not is_name)
    for line in judged.agents:
        low, high = line.mattered_interval
        share = (
            [_percent(line.mattered_share), f"{_percent(low)} - {_percent(high)}"]
            if line.total.mattered
            else ["", ""]
        )
        shared = [str(line.shared), _percent(line.shared_share)]
        matter.add_row(printable(line.agent), str(line.total.mattered), *share, *shared)
    file = io.StringIO()
    console = Console(file=file, width=400, color_system=None, force_terminal=False)
    console.print(table, markup=False, highlight=False)
    console.print()
    console.print(matter, markup=False, highlight=False)
    lines = "\n".join(line.rstrip() for line in file.getvalue().splitlines()).strip("\n")
    notes = "".join(f"\nNote: {note}" for note in judged.notes)
    about = textwrap.fill(f"{judged.about} optimal, opening, middle and end are in %.", 100)
    return printable(f"{judged.env}: judged by perfect play\n\n{lines}\n\n{about}{notes}")


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.1f}"
