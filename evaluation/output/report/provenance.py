"""The origin of the games: commands, settings, machine and versions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from zermelo.evaluation.output.numbers import number
from zermelo.evaluation.output.report.markup import Row, part, section, table
from zermelo.evaluation.storage.invocations import Invocation, StoredRun


def provenance_section(run: StoredRun | None, versions: Mapping[str, str]) -> str:
    """The run's settings, and one row for each command that played games of it."""
    invocations = () if run is None else run.invocations
    facts = [] if run is None else _settings(run)
    facts += _machines(invocations or _planned(run))
    built = invocations[-1].versions if invocations else versions
    if built:
        facts.append(("Versions", ", ".join(f"{name} {version}" for name, version in built.items())))
    rows: list[Row] = [
        [said.command or "from a program", said.started, _duration(said.seconds), number(said.games)]
        for said in invocations
    ]
    columns = ["command", "started (UTC)", "duration", "games"]
    return section(
        "provenance",
        "How this was made",
        part("facts", facts) if facts else "",
        table("Commands that played these games", columns, rows, kind="commands") if rows else "",
    )


def _settings(run: StoredRun) -> list[tuple[str, str]]:
    spec = run.spec
    facts = [("Environment", str(spec.get("env", "unknown"))), ("Seed", str(spec.get("seed", "unknown")))]
    facts.append(("Schedule", f"{spec.get('kind', 'unknown')}, {spec.get('games', '?')} games a pairing"))
    openings = spec.get("openings")
    if isinstance(openings, Mapping):
        plies = openings.get("plies")
        what = "from a list" if plies is None else f"of {plies} random moves"
        facts.append(("Openings", f"{openings.get('count', '?')} {what}"))
    facts.append(("Score", str(spec.get("score", "auto"))))
    limits = spec.get("isolation")
    if isinstance(limits, Mapping):
        said = ", ".join(f"{key}={value}" for key, value in limits.items() if value not in (None, False))
        facts.append(("Limits of agents", said))
    return facts


def _planned(run: StoredRun | None) -> Sequence[Invocation]:
    """The machine of a run without commands."""
    machine = {} if run is None else run.spec.get("machine", {})
    return [Invocation("", math.nan, 0, "", machine, {}, ())] if isinstance(machine, dict) and machine else []


def _machines(invocations: Sequence[Invocation]) -> list[tuple[str, str]]:
    found = dict.fromkeys(_machine(invocation.machine) for invocation in invocations)
    return [("Machine" if len(found) == 1 else "Machines", "; ".join(found))] if found else []


def _machine(said: Mapping[str, Any]) -> str:
    cores = said.get("processors")
    parts = [said.get("processor"), None if cores is None else f"{cores} processors", said.get("system")]
    return ", ".join(str(part) for part in parts if part)


def _duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return ""
    whole = round(seconds)
    if whole < 120:
        return f"{seconds:.1f} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {whole % 60} s"
