"""Results counted from the database of a run, in memory that does not grow with the number of games."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.results import Deals, Result, ResultCount, Results, Rotation, RoundResults, agents_of
from zermelo.evaluation.schedule import game_order
from zermelo.evaluation.storage import database


def count_games(records: Iterable[GameRecord]) -> Results:
    """The results of the records, which are read once; they may come in any order, unless they are stored ones."""
    from zermelo.evaluation.storage.games import StoredGames

    in_order = isinstance(records, StoredGames)
    ordered = records if in_order else sorted(records, key=lambda record: game_order(record.game_id))
    openings, seats = set[Any](), 1
    numbers: dict[Result, int] = {}

    def games() -> Iterable[tuple[int, int, GameRecord, str]]:
        before, turn = "", 0
        for index, record in enumerate(ordered):
            rotation = record.game_id.rpartition(".")[0]
            turn = turn + 1 if rotation and rotation == before else 0
            before = rotation
            openings.add(record.opening)
            has_message = record.failure is not None
            yield index, turn, record, record.to_json() if has_message else ""

    rest = iter(games())
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for number, batch in enumerate(iter(lambda: [*itertools.islice(rest, 10_000)], [])):
            if not number:
                seats = len(batch[0][2].agents)
                database.create(db, {}, seats)
            database.add_games(db, numbers, batch)
        return results(db, seats, openings=len(openings)) if numbers else Results()


def results(db: sqlite3.Connection, seats: int, before: int | None = None, openings: int | None = None) -> Results:
    """The games of a database, or those whose index is lower, counted.

    Args:
        db: The database.
        seats: Of its games.
        before: The index of the first game to leave out.
        openings: How many different ones there may be; by default those of the specification.
    """
    where = "" if before is None else f"WHERE game_index < {before}"
    if openings is None:
        openings = ((database.read_spec(db) or {}).get("openings") or {"count": 1})["count"]
    by_number = database.finishes(db, seats)
    groups = _groups(db, by_number, seats, where)
    if seats == 1:
        return Results(groups, returns=_returns(db, by_number, where), openings=openings)
    counted = Results(groups, openings=openings, rounds=rounds(db, by_number, where))
    return replace(counted, rotations=_rotations(db, by_number, seats, where, counted.copies))


def rounds(db: sqlite3.Connection, by_number: Mapping[int, Result], where: str = "") -> tuple[RoundResults, ...]:
    """The results of each round, where the games' ids have four parts."""
    rows = db.execute(
        "SELECT CAST(substr(game_id, 1, instr(game_id, '.') - 1) AS INTEGER), finish, COUNT(*) FROM "
        f"(SELECT * FROM games {where}) WHERE game_id LIKE '%.%.%.%' GROUP BY 1, 2 ORDER BY 1, MIN(game_index)"
    )
    of_round: dict[int, dict[Result, int]] = {}
    for number, finish, games in database.typed(rows, tuple[int, int, int]):
        if finish not in by_number:
            raise database.damaged_rows("games whose end is missing")
        of_round.setdefault(number, {})[by_number[finish]] = games
    return tuple(of_round.values())


def _groups(
    db: sqlite3.Connection, by_number: Mapping[int, Result], seats: int, where: str
) -> dict[Result, ResultCount]:
    paid_by_seat = ", SUM(reward{0}), COUNT(reward{0}), MIN(reward{0}), MAX(reward{0})"
    sums = "".join(f", SUM(moves{seat}), SUM(micros{seat})" for seat in range(seats))
    sums += "".join(map(paid_by_seat.format, range(seats)))
    rows = db.execute(
        f"SELECT finish, COUNT(*), MIN(game_index), COUNT(DISTINCT game_hash){sums} "
        f"FROM games {where} GROUP BY finish"
    )
    groups = {}
    for number, games, first, distinct, *by_seat in database.typed(rows, list[int | None]):
        counts, paid = by_seat[: 2 * seats], by_seat[2 * seats :]
        if number not in by_number or None in (games, first, distinct, *counts):
            raise database.damaged_rows("games whose end is missing")
        (first_id,) = db.execute("SELECT game_id FROM games WHERE game_index = ?", (first,)).fetchone()
        message = "" if by_number[number].failure is None else _message(db, first)
        is_known = set(paid[1::4]) == {games}
        amounts = (paid[::4], paid[2::4], paid[3::4]) if is_known else ()
        groups[by_number[number]] = ResultCount(
            games, counts[::2], counts[1::2], distinct, first, str(first_id), message, *amounts
        )
    return groups


def _message(db: sqlite3.Connection, index: int) -> str:
    try:
        failure = GameRecord.from_json(database.record_of(db, index)).failure
    except StoreError:
        return f"the record of game {index + 1}, which has the reason, cannot be read"
    return "" if failure is None else failure.message


def _returns(db: sqlite3.Connection, by_number: Mapping[int, Result], where: str) -> dict[str, Counter[float]]:
    returns: dict[str, Counter[float]] = {}
    rows = db.execute(f"SELECT finish, returned, COUNT(*) FROM games {where} GROUP BY finish, returned")
    for number, returned, games in database.typed(rows, tuple[int, float | None, int]):
        if returned is not None:
            returns.setdefault(by_number[number].agents[0], Counter())[returned] += games
    return returns


def _rotations(
    db: sqlite3.Connection,
    by_number: Mapping[int, Result],
    seats: int,
    where: str,
    copies: Mapping[frozenset[str], object],
) -> dict[Rotation, Deals]:
    void = {number for number, finish in by_number.items() if finish.void}
    rewards = "".join(f", reward{seat}" for seat in range(seats))
    rows = db.execute(
        f"SELECT game_index - turn, game_hash, finish{rewards} FROM games {where} ORDER BY game_index"
    )
    checked = (
        row for batch in iter(lambda: rows.fetchmany(1_000), []) for row in database.typed(batch, list[int | None])
    )

    rotations: dict[Rotation, Deals] = {}
    different = defaultdict[Rotation, set[tuple[int | None, ...]]](set)  # few: the others are copies

    @functools.lru_cache(maxsize=4096)  # by the numbers of results, fixed here
    def plan(numbers: tuple[int, ...]) -> tuple[Rotation, Deals, tuple[Sequence[int], ...]]:
        """The rotation, its deals, and for each seat of each finished game the number of its agent."""
        rotation = tuple(by_number[number] for number in numbers)
        names = sorted({name for finish in rotation for name in finish.agents})
        owners = tuple(
            () if finish.failure is not None else tuple(map(names.index, finish.agents)) for finish in rotation
        )
        if seats > 2:
            rotation = tuple(finish._replace(ranks=()) for finish in rotation)
        return rotation, rotations.setdefault(rotation, Deals(0, [0] * len(names), [0] * len(names))), owners

    for _, games in itertools.groupby(checked, key=operator.itemgetter(0)):
        played = [row for row in games if row[2] not in void]
        if not played:
            continue
        rotation, deals, owners = plan(tuple([row[2] for row in played]))
        if copies and agents_of(rotation) in copies:
            different[rotation].add(tuple([row[1] for row in played]))
        earned = [0] * len(deals.sums)
        for agents, row in zip(owners, played, strict=True):
            for agent, reward in zip(agents, row[3:], strict=False):
                earned[agent] += reward or 0
        deals.count += 1
        for agent, amount in enumerate(earned):
            deals.sums[agent] += amount
            deals.squares[agent] += amount * amount
    for rotation, hashes in different.items():
        rotations[rotation].distinct = len(hashes)
    return rotations
