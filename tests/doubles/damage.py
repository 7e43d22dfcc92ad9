"""Damaged files: copies of whole ones, changed at random in the ways that files go wrong or are made to."""

from __future__ import annotations

import copy
import gzip
import json
import random
import sqlite3
from pathlib import Path
from typing import Any

ODD: list[Any] = [
    None, True, -1, 0, 7, 2**63, 10**30, 1e308, -0.0, "", "x", "1", "\x00", "\x1b[2J", "nan", "random",
    "beside:env", "uci(path='./trap')", "noisy(agent=uci(path='./trap'))", "os:system", [], [[]], {},
    [1, 2, 3], ["a"] * 9, {"$float": "inf"}, {"$float": "nan"}, {"$float": 3},
    {"kind": "named", "source": "beside:FEATURES"},
]  # fmt: skip
RAW = [
    b"", b"\n", b"{", b"[]", b"null", b"7", b'"x"', b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe{\x00}\x00",
    b"\x00" * 300, b"NaN", b"1" * 6_000, b"1e999", b"PK\x03\x04", b"\x1f\x8b\x08", b"SQLite format 3\x00",
    b'{"a": 1, "a": 2}', b"\xef\xbb\xbf{}", "\u00e9".encode("latin-1"), b'"\\ud800"',
]  # fmt: skip
COLUMNS = {
    "games": ["game_index", "game_id", "turn", "finish", "returned", "game_hash", "moves0", "micros1", "reward0"],
    "finishes": ["finish", "agents", "ranks", "failure", "failed_seat"],
    "records": ["game_index", "record"],
    "run": ["spec"],
    "invocations": ["started", "seconds", "games", "about"],
}
CELLS: list[Any] = [
    None, -1, 2**62, 1e308, float("inf"), "x", "", "[]", "{}", "[[[[", "null", b"\xff\x00", '["a"]', "[0, 9]",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every part of a JSON value."""
    found = [path]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        found += places(part, (*path, key))
    return found


def damaged_json(text: str, chance: random.Random) -> str:
    """JSON of which one part is another, missing, renamed, or nested deeply."""
    whole = copy.deepcopy(json.loads(text))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        *path, last = chance.choice(places(whole)[1:] or [()]) or (None,)
        holder = whole
        for key in path:
            holder = holder[key]
        if not isinstance(holder, dict | list) or last is None:
            continue
        kind = chance.randrange(5)
        if kind == 0:
            del holder[last]
        elif kind == 1 and isinstance(holder, dict):
            holder[f"{last}_"] = holder.pop(last)
        elif kind == 2:
            nested: Any = holder[last]
            for _ in range(chance.choice((1, 40, 200))):
                nested = [nested]
            holder[last] = nested
        elif kind == 3 and isinstance(holder, list):
            holder.insert(0, copy.deepcopy(holder[last]))
        else:
            holder[last] = copy.deepcopy(chance.choice(ODD))
    return json.dumps(whole)


def damaged_bytes(data: bytes, chance: random.Random) -> bytes:
    """A file that is cut off, has other bytes here and there, is in another encoding, or another file."""
    kind = chance.randrange(6)
    if kind == 0 or not data:
        return chance.choice(RAW)
    if kind == 1:
        return data[: chance.randrange(len(data))]
    if kind == 2:
        changed = bytearray(data)
        for _ in range(chance.choice((1, 8, 100))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed)
    if kind == 3:
        start = chance.randrange(len(data))
        return data[:start] + data[start + chance.randrange(1, 500) :]
    if kind == 4:
        return data.decode("latin-1").encode("utf-16")
    return data + chance.choice(RAW)


def damage_database(path: Path, chance: random.Random) -> None:
    """Changes cells, tables or pages of a run's database."""
    if chance.random() < 0.25:
        path.write_bytes(damaged_bytes(path.read_bytes(), chance))
        return
    db = sqlite3.connect(path, isolation_level=None)
    table = chance.choice(list(COLUMNS))
    column = chance.choice(COLUMNS[table])
    kind = chance.randrange(8)
    try:
        if kind == 0:
            db.execute(f"DROP TABLE {table}")
        elif kind == 1:
            db.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO odd")
        elif kind == 2:
            db.execute(f"DELETE FROM {table} WHERE rowid % 2 = 1")
        elif kind == 3:
            db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
            endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
            db.execute(f"CREATE VIEW {table} AS {chance.choice((f'SELECT * FROM old_{table}', endless))}")
        elif kind == 4:
            pragma = chance.choice(("application_id", "user_version"))
            db.execute(f"PRAGMA {pragma} = {chance.choice((0, 1, 2, 99, -1))}")
        elif kind == 5:
            key, text = {"run": ("rowid", "spec"), "invocations": ("number", "about")}.get(
                table, ("game_index", "record")
            )
            home = table if table in ("run", "invocations") else "records"
            for number, whole in db.execute(f"SELECT {key}, {text} FROM {home}").fetchall():
                changed = damaged_json(whole, chance)
                db.execute(f"UPDATE {home} SET {text} = ? WHERE {key} = ?", (changed, number))
        else:
            db.execute(f"UPDATE OR REPLACE {table} SET {column} = ?", (chance.choice(CELLS),))
    except sqlite3.Error:  # this cell takes no such value: the file is as it was
        pass
    finally:
        db.close()


def damage(path: Path, chance: random.Random) -> None:
    """Damages a file in a way that suits what it is."""
    if path.suffix == ".sqlite":
        damage_database(path, chance)
        return
    data = path.read_bytes()
    packed = path.suffix == ".gz"
    text = (gzip.decompress(data) if packed else data).decode("utf-8", "replace")
    if path.suffix not in (".json", ".jsonl", ".gz") or chance.random() < 0.35:
        path.write_bytes(damaged_bytes(data, chance))
        return
    lines = text.splitlines() if path.suffix != ".json" else [text]
    number = chance.randrange(len(lines))
    lines[number] = damaged_json(lines[number], chance)
    changed = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(changed) if packed else changed)
