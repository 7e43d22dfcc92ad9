"""Endgame tables, as searches read them: perfect play from every position of an ending."""

from __future__ import annotations

import functools
import operator
import os
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.knowledge.files import file_version, read_knowledge, require_game
from zermelo.envs import InvalidSettingError
from zermelo.envs.rules.contract import DEFAULTS, method_or_default
from zermelo.envs.rules.history import has_history, keys_of, without_past
from zermelo.envs.rules.scores import WIN

KIND: Final = "endgame table"
ABSENT: Final = -32768
"""In place of the score of what is no position, or of one that is not known."""
SCORES, UPPERS, ENTRIES, KEYS, GAINS, MASK, PARTS = range(7)
"""The words of a table's block, as kernels read it; the parts and where they begin come last."""


class TableEntry(NamedTuple):
    """The utility of a position for the player to move, and the moves to the end, where the table counts them."""

    value: int
    plies: int | None


@dataclass(frozen=True, eq=False)
class EndgameTable:
    """A table of one game: its file, its header, and its scores.

    Attributes:
        scores: A score for each entry (``zermelo.envs.rules.scores``), or a lower bound of the mover's gain, or
            ``ABSENT``.
        uppers: The same, or an upper bound of the gain, where repetition makes it depend on the past.
        offsets: Where the entries of a part begin; empty where positions are found by their keys.
        keys: The keys of the positions, ascending.
    """

    path: str
    about: dict[str, Any]
    scores: NDArray[np.int16]
    uppers: NDArray[np.int16]
    offsets: dict[int, int]
    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.scores != ABSENT))

    @property
    def gains(self) -> bool:
        """True if entries are gains of the player to move, False if they are distances to the end."""
        return bool(self.about["gains"])

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
            begin = self.offsets.get(rules.table_part(state), -1)
            return begin + int(rules.table_index(state)) if begin >= 0 else -1
        key = canonical_key(rules, state)
        place = int(np.searchsorted(self.keys, key))
        return place if place < len(self.keys) and self.keys[place] == key else -1

    @functools.cached_property
    def words(self) -> NDArray[np.int64]:
        """The block of words that kernels read (``compiled.endgame_tables``)."""
        size = 4
        while size < 2 * len(self.offsets):
            size *= 2
        slots = np.zeros(2 * size, np.int64)
        for part, offset in self.offsets.items():
            slot = part % size
            while slots[2 * slot]:
                slot = (slot + 1) % size
            slots[2 * slot : 2 * slot + 2] = part + 1, offset
        header = np.zeros(PARTS, np.int64)
        header[SCORES:KEYS] = self.scores.ctypes.data, self.uppers.ctypes.data, len(self.keys)
        header[KEYS] = self.keys.ctypes.data if len(self.keys) else 0
        header[GAINS], header[MASK] = self.gains, size - 1
        return np.concatenate([header, slots])


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
    """The table that a setting names, for this game; None if it names none.

    Raises:
        InvalidSettingError: There is no such table, it is damaged, or of another game.
    """
    if not path:
        return None
    table = read_table(path)
    require_game(path, table.about, game)
    return table


def read_table(path: str | os.PathLike[str]) -> EndgameTable:
    """The table in a file, read once as long as the file is the same.

    Raises:
        InvalidSettingError: There is no such table, or it is damaged.
    """
    return _read(os.fspath(path), *file_version(path))  # which says what is wrong


@functools.lru_cache(maxsize=8)
def _read(path: str, changed: int, size: int) -> EndgameTable:
    header, arrays = read_knowledge(path, KIND)
    try:
        scores, parts, keys = arrays["scores"], arrays["parts"].reshape(-1, 2), arrays["keys"]
        uppers = arrays.get("uppers")
        if scores.dtype != np.int16 or keys.dtype != np.int64 or len(keys) not in (0, len(scores)):
            raise ValueError("its arrays are of other types")
        header["gains"]
    except (KeyError, ValueError) as error:
        raise InvalidSettingError(f"{path!r} is no {KIND}, or it is damaged ({error}): make it again") from error
    padding = np.full(-len(scores) % 4, ABSENT, np.int16)
    padded = np.concatenate([scores, padding])
    above = padded if uppers is None else np.concatenate([uppers, padding])
    offsets = {int(part): int(offset) for part, offset in parts}
    return EndgameTable(path, header, padded, above, offsets, np.ascontiguousarray(keys))
