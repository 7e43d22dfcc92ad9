"""Endgame tables, as searches read them: perfect play from every position of an ending."""

from __future__ import annotations

import functools
import operator
import os
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.knowledge.endgame_kernel import ABSENT, GAINS, KEYS, MASK, PARTS, SCORES
from zermelo.agents.knowledge.files import KnowledgeFile, KnowledgeHeader, Shapes, check_ascending, chunks
from zermelo.envs.rules.contract import DEFAULTS, method_or_default
from zermelo.envs.rules.history import has_history, keys_of, without_past
from zermelo.envs.rules.scores import WIN
from zermelo.envs.support.array_files import Arrays, Form
from zermelo.envs.support.data_files import FileKind


class TableHeader(KnowledgeHeader, frozen=True, kw_only=True):
    """The header of a table's file."""

    gains: bool  # see ``EndgameTable``
    asked: dict[str, int | str]  # the positions that are in it, by the unit of its size
    repetition: str  # "draw" if a position that repeats for ever is one


class TableEntry(NamedTuple):
    """The utility of a position for the player to move, and the moves to the end, where the table counts them."""

    value: int
    plies: int | None


@dataclass(frozen=True, eq=False)
class EndgameTable:
    """A table of one game: its file, its header, and its scores."""

    path: str
    about: TableHeader
    scores: NDArray[np.int16]
    """A score for each entry (``zermelo.envs.rules.scores``), or a lower bound of the mover's gain, or
    ``ABSENT``."""
    uppers: NDArray[np.int16]  # the same, or an upper bound of the gain, where it depends on the past
    parts: dict[int, range]  # the entries of each part; empty where positions are found by their keys
    keys: NDArray[np.int64]  # the keys of the positions, ascending

    def __len__(self) -> int:
        return int(np.count_nonzero(self.scores != ABSENT))

    @property
    def gains(self) -> bool:
        """True if entries are gains of the player to move, False if they are distances to the end."""
        return self.about.gains

    def probe(self, rules: Any, state: Any) -> TableEntry | None:
        """The table's entry for an unfinished state; None if it has none, or if the past might undo it."""
        bare = without_past(state)
        place = self._place(rules, bare)
        if place < 0 or (score := int(self.scores[place])) == ABSENT:
            return None
        if self.gains:
            lead = method_or_default(rules, "table_lead")(bare)
            lower, upper = method_or_default(rules, "utility_bounds")()
            values = {min(max(int(gain) + lead, lower), upper) for gain in (score, self.uppers[place])}
            return TableEntry(values.pop(), None) if len(values) == 1 and not _may_repeat(rules, state) else None
        if score == 0:
            return TableEntry(0, None)
        plies = WIN - abs(score)
        if plies > method_or_default(rules, "table_horizon")(bare) or _may_repeat(rules, state):
            return None
        return TableEntry(1 if score > 0 else -1, plies)

    def _place(self, rules: Any, state: Any) -> int:
        if not len(self.keys):
            if (entries := self.parts.get(rules.table_part(state))) is None:
                return -1
            index = int(rules.table_index(state))
            return entries[index] if 0 <= index < len(entries) else -1
        row = row_of(self.keys, rules, state)
        return -1 if row is None else row

    @functools.cached_property
    def words(self) -> NDArray[np.int64]:
        """The block of words that kernels read (``endgame_kernel``)."""
        size = 4
        while size < 2 * len(self.parts):
            size *= 2
        slots = np.zeros((size, 3), np.int64)  # of a part its number + 1, where its entries begin, and how many
        for part, entries in self.parts.items():
            slot = part % size
            while slots[slot, 0]:
                slot = (slot + 1) % size
            slots[slot] = part + 1, entries.start, len(entries)
        header = np.zeros(PARTS, np.int64)
        header[SCORES:KEYS] = self.scores.ctypes.data, self.uppers.ctypes.data, len(self.keys)
        header[KEYS] = self.keys.ctypes.data if len(self.keys) else 0
        header[GAINS], header[MASK] = self.gains, size - 1
        return np.concatenate([header, slots.reshape(-1)])


def row_of(keys: NDArray[np.int64], rules: Any, state: Any) -> int | None:
    """The row of a position among ascending keys of positions; None if it is not there."""
    key = canonical_key(rules, state)
    row = int(np.searchsorted(keys, key))
    return row if row < len(keys) and keys[row] == key else None


def canonical_key(rules: Any, state: Any) -> int:
    """The lowest key of a state and those symmetric to it."""
    return canonical(rules, state)[0]


def canonical(rules: Any, state: Any) -> tuple[int, Any]:
    """The lowest key of a state and those symmetric to it, and the one that has it."""
    key = getattr(rules, "key", None) or functools.partial(DEFAULTS["key"], rules)
    turned = method_or_default(rules, "symmetric_state")
    count = int(method_or_default(rules, "symmetries")())
    images = (turned(state, symmetry) if symmetry else state for symmetry in range(count))
    return min(((int(key(image)), image) for image in images), key=operator.itemgetter(0))


def _may_repeat(rules: Any, state: Any) -> bool:
    if not has_history(rules):
        return False
    keys, limit = keys_of(state), int(method_or_default(rules, "repetition_limit")())
    return any(key and keys.count(key) >= limit - 1 for key in set(keys[:-1]))


def table_for(path: str | None, game: Any) -> EndgameTable | None:
    """The table that a setting names, for this game; None if it names none. Raises as ``read_table``."""
    return read_table(path, game) if path else None


def has_gains(rules: Any) -> bool:
    """True if scores of tables count what the player to move gains, not how soon that player wins."""
    bounds = method_or_default(rules, "utility_bounds")()
    return hasattr(rules, "table_lead") or tuple(bounds) != (-1, 1)


def read_table(path: str | os.PathLike[str], game: Any = None) -> EndgameTable:
    """The table in a file, read once as long as it is the same; refuses another game than a given one."""
    return TABLES.read(path, game)


def _check_shapes(about: TableHeader, shapes: Shapes, rules: Any) -> None:
    (entries,), (parts, columns), (keys,) = shapes["scores"], shapes["parts"], shapes["keys"]
    if columns != 2 or (keys != entries if not parts else keys) or shapes.get("uppers", (entries,)) != (entries,):
        raise ValueError("its arrays do not fit together")
    if rules is None:
        return
    if about.gains != has_gains(rules):
        raise ValueError(f"its header says gains={about.gains}, which is not so in {about.game}")
    if parts and sum(size for _, size in _numbered(about, rules)) != entries:
        raise ValueError(f"it has {entries:,} entries, other than {about.game} has of {about.asked}")


def _numbered(about: TableHeader, rules: Any) -> list[tuple[int, int]]:
    """The parts of a table of positions that rules number, each with its size."""
    [what] = about.asked.values() or [""]
    if not hasattr(rules, "table_index"):
        raise ValueError(f"{about.game} does not number positions")
    return [(int(part), int(rules.table_size(part))) for group in rules.table_parts(str(what)) for part in group]


def _table(path: str, about: TableHeader, arrays: Arrays, rules: Any) -> EndgameTable:
    scores, parts, keys = arrays["scores"], arrays["parts"], arrays["keys"]
    uppers, begins = arrays.get("uppers", scores), parts[:, 1]
    if len(parts) and (begins[0] != 0 or begins[-1] >= len(scores) or (parts < 0).any()):
        raise ValueError("its parts begin outside of its entries")
    check_ascending(begins)
    check_ascending(keys)
    if rules is not None and len(parts):
        sizes = _numbered(about, rules)
        expected = np.cumsum([0, *(size for _, size in sizes)])[:-1]
        if parts[:, 0].tolist() != [part for part, _ in sizes] or not np.array_equal(begins, expected):
            raise ValueError(f"its parts are not those that {about.game} has of {about.asked}")
    for lower, upper in chunks(scores, uppers):
        is_known = lower != ABSENT
        if not np.array_equal(is_known, upper != ABSENT) or (lower > upper).any():
            raise ValueError("it has entries whose bounds are none")
        if not about.gains and (is_known & ((lower >= WIN) | (lower <= -WIN) | (lower != upper))).any():
            raise ValueError("it has scores out of range")
    entries = map(range, begins.tolist(), [*begins[1:].tolist(), len(scores)])
    return EndgameTable(path, about, scores, uppers, dict(zip(parts[:, 0].tolist(), entries, strict=True)), keys)


TABLES: Final = KnowledgeFile(
    FileKind("endgame table", "make it again with `zermelo table`, or name another file"),
    TableHeader,
    {
        "scores": Form("<i2", 1),
        "uppers": Form("<i2", 1, is_optional=True),
        "parts": Form("<i8", 2),
        "keys": Form("<i8", 1),
    },
    _check_shapes,
    _table,
)
"""Files of tables; ``parts`` has a row for each part, with its number and where its entries begin."""
