"""A database that is lost or damaged, built again from the games as text and the specification beside it.

One that is lost is built of the games that there are, and the others are played again. One that is damaged may
have games that the text lacks, so it is only given up, and kept under another name, where the text has them all.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.envs.errors import ZermeloError
from zermelo.evaluation.errors import DamagedError, StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.schedule import GameIndex
from zermelo.evaluation.storage import database
from zermelo.evaluation.storage.games import FEW, LINES
from zermelo.evaluation.storage.run_spec import RunSpec, check_same_run

SPEC: Final = "spec.json"
_BATCH: Final = 10_000


def read_spec_text(folder: Path) -> dict[str, Any] | None:
    """The specification of a run as its folder has it as text; None where that is none."""
    try:
        spec: dict[str, Any] = msgspec.json.decode((folder / SPEC).read_bytes(), type=dict[str, Any])
        msgspec.convert(spec, RunSpec)
    except (OSError, ValueError, RecursionError):
        return None
    return spec


def rebuild(folder: Path, schedule: GameIndex, spec: Mapping[str, Any], damage: DamagedError | None = None) -> str:
    """Builds the database of a folder anew and says what of; ``damage`` is that of the one that is there.

    Raises:
        StoreError: The text is not of this run, or there is no text; or it is not whole, and there is ``damage``.
    """
    there, lines, path = read_spec_text(folder), folder / LINES, folder / database.FILE
    if there is None or not lines.is_file():
        raise damage or StoreError(
            f"{folder} already holds a tournament ({LINES} without {database.FILE}), which cannot be continued "
            f"without {SPEC}: choose another folder"
        )
    check_same_run(folder, there, spec, schedule.beginnings)
    if there.get("scheduled") != len(schedule):
        raise damage or StoreError(
            f"{path} is lost, and can be built again from {LINES} by the command that the run was begun with: "
            "give that first, and then add games, rounds or agents"
        )
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    have = bytearray(len(schedule))
    with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as db:
        database.create(db, there, schedule.seats)
        numbers, games = {}, _games(lines, schedule, have)  # type: ignore[var-annotated]
        for batch in iter(lambda: [*itertools.islice(games, _BATCH)], []):
            with database.transaction(db):
                database.add_games(db, numbers, batch)
    looks = [rule["looks"] for rule in (there.get("until_sure"), there.get("sprt")) if rule]
    end = len(schedule) if sum(have) not in {*itertools.chain(*looks)} else sum(have)
    missing = [place for place in range(end) if not have[place]]
    what = f"{path} was {'lost' if damage is None else 'damaged'}"
    lacks = f"{lines} lacks {len(missing)} of its {end} games ({_named(missing, schedule)})"
    if missing and damage is not None:
        new.unlink()
        raise StoreError(
            f"{damage}. It cannot be built again from the text, as {lacks}: to have those played again, move "
            f"{path.name} away"
        )
    aside = _moved_aside(path)
    os.replace(new, path)
    kept = f"; the damaged one is {aside}" if aside else ""
    rest = f"; {lacks}, which are played again" if missing else ""
    return f"{what}, and was built again from {LINES}, which has {sum(have)} games{rest}{kept}."


def _games(lines: Path, schedule: GameIndex, have: bytearray) -> Iterator[tuple[int, int, GameRecord, str]]:
    """Yields what the database is told of each game; one that cannot be read is missing."""
    with lines.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            try:
                record = GameRecord.from_json(line)
            except StoreError:
                continue
            try:
                place = schedule.place(record.game_id)
                is_ours = schedule.pairings.in_rounds or schedule[place][1:3] == (record.seed, record.agents)
            except ZermeloError:
                is_ours = False
            if not is_ours or not {*record.agents} <= {*schedule.agents}:
                raise StoreError(
                    f"{lines}, line {number}, is the game {record.game_id!r} of another run: choose another folder"
                )
            if not have[place]:
                have[place] = 1
                yield place, int(record.game_id.rpartition(".")[2]), record, line.rstrip("\n")


def _named(places: list[int], schedule: GameIndex) -> str:
    names = ", ".join(schedule.game_id(place) for place in places[:FEW])
    return names + (f" and {len(places) - FEW} more" if len(places) > FEW else "")


def _moved_aside(path: Path) -> Path | None:
    """Gives the files of a database other names, and returns the first's; None where there is none."""
    aside = next(
        name
        for number in itertools.count()
        if not (name := path.with_name(f"{path.name}.damaged{number or ''}")).exists()
    )
    is_any = path.exists() and path.stat().st_size > 0
    for end in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{end}", f"{aside}{end}")
    if not is_any:
        aside.unlink(missing_ok=True)
    return aside if is_any else None
