"""The commands by which the games of a run were played: when, for how long, on what machine, and with what notes.

Each command that plays games of a run has a row in the database, begun with its first games and brought up to date
in the transaction of every later one, so that it is right also after ``kill -9``.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import versions
from zermelo.evaluation.match.text import kept_all
from zermelo.evaluation.storage.database import FILE, open_reader, read_spec

_ABOUT: Final = msgspec.json.Decoder(dict[str, Any])


class Invocation(msgspec.Struct, frozen=True):
    """One command that played games of a run."""

    started: str  # in UTC, such as 2026-03-01 12:30:00
    seconds: float  # from there until its last game was kept
    games: int
    command: str  # as it was typed; empty where a program called the package
    machine: dict[str, Any]
    versions: dict[str, Any]
    notes: tuple[str, ...]  # sentences that a reader of the games should know


@dataclass(frozen=True)
class StoredRun:
    """The specification of a run and the commands that played it."""

    spec: Mapping[str, Any]
    invocations: tuple[Invocation, ...]


class InvocationLog:
    """Keeps the row of the command that is playing; made when it starts."""

    def __init__(self, command: str = "", notes: Sequence[str] = ()) -> None:
        self._started, self._since = datetime.datetime.now(datetime.UTC), time.monotonic()
        self._about = kept_all({"command": command, "notes": [*notes]})
        self._number: int | None = None

    def add_note(self, note: str) -> None:
        self._about["notes"].append(note)

    def add(self, db: sqlite3.Connection, games: int) -> None:
        """Counts games of a transaction that is under way; without any there is no row."""
        seconds = time.monotonic() - self._since
        if self._number is not None:
            update = "UPDATE invocations SET seconds = ?, games = games + ? WHERE number = ?"
            db.execute(update, (seconds, games, self._number))
            return
        about = json.dumps({**self._about, "machine": machine(), "versions": versions()})
        started = self._started.strftime("%Y-%m-%d %H:%M:%S")
        row = db.execute(
            "INSERT INTO invocations (started, seconds, games, about) VALUES (?, ?, ?, ?)",
            (started, seconds, games, about),
        )
        self._number = row.lastrowid


def machine() -> dict[str, Any]:
    """The system, the processor's name as far as it is known, and the number of processors."""
    about: dict[str, Any] = {"system": platform.platform(), "processors": os.cpu_count()}
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    name = name or platform.processor()
    return {**about, "processor": name} if name else about


def read_invocations(db: sqlite3.Connection, path: Path) -> tuple[Invocation, ...]:
    """The commands that played a database's games."""
    invocations = []
    for started, seconds, games, about in db.execute(
        "SELECT started, seconds, games, about FROM invocations ORDER BY number"
    ):
        try:
            played = {"started": started, "seconds": seconds, "games": games}
            invocations.append(msgspec.convert(_ABOUT.decode(about) | played, Invocation))
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(
                f"what {path} says of the commands that played its games cannot be read ({error}): put back a "
                "copy of it"
            ) from error
    return tuple(invocations)


def notes_of(invocations: Sequence[Invocation]) -> list[str]:
    """Their notes, each once."""
    return [*dict.fromkeys(note for invocation in invocations for note in invocation.notes)]


def read_run(folder: str | os.PathLike[str]) -> StoredRun | None:
    """The run of a folder; None where only its games are known."""
    path = Path(folder) / FILE
    if not path.exists() or not path.stat().st_size:
        return None
    with open_reader(path) as db:
        return StoredRun(read_spec(db) or {}, read_invocations(db, path))
