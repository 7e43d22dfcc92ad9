"""What the compiled search through chance works with: rows of workspace, a table, the bounds of averages.

Each state on the path has a row of its own, by its level, which counts chance events while plies do not. In it lie
the answer of the visit but for its value, the line of best play, and eight blocks of as many words as there are
actions (``block_of``).

The table has buckets of two entries of four words: the key, what the entry is about, value and promptness. With a
game's own 64-bit key no position is ever taken for another; with the default key, a hash of 64 bits, a probe that
should miss hits with a probability below 2 ** -62 (two entries compared). The entry of the smaller depth, or of an
earlier iteration, is replaced. One thread searches at a time.

Importing this module imports Numba: only kernels do.
"""

from __future__ import annotations

from typing import Final

from numba.extending import register_jitable

from zermelo.agents.compiled.context import (
    ACTIONS,
    AGE,
    DEEPEST,
    HISTORY,
    KILLERS,
    MAX_PLY,
    MOST_NODES,
    NODES,
    ORDERED,
    OUT_OF_NODES,
    ROW,
    SOONER,
    STOP,
    TABLE,
    TABLE_BITS,
    TABLE_HITS,
    TABLE_STORES,
    TOO_DEEP,
    WORK,
)
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.memory import load, load_float, store, store_float

__all__ = [
    "AT_CHANCE",
    "CHANCE_KEY",
    "EVALUATED",
    "EXACT",
    "HEAD",
    "HIGHEST",
    "HIGHEST_PROMPTNESS",
    "INFINITE_DEPTH",
    "KNOWN",
    "KNOWN_PROMPTNESS",
    "KNOWN_PROVEN",
    "KNOWN_VALUE",
    "LENGTH",
    "LINE",
    "LOWER",
    "LOWEST",
    "LOWEST_PROMPTNESS",
    "MAX_LEVEL",
    "MIDDLE",
    "NOTHING",
    "PLACES",
    "PROBING",
    "PROMPTNESS",
    "PROVEN",
    "PRUNED",
    "REST",
    "SLACK",
    "UPPER",
    "action_of",
    "answer",
    "block_of",
    "bound_of",
    "bucket_of",
    "delayed",
    "depth_of",
    "enter",
    "find",
    "goes_on",
    "greatest_of",
    "hand_down_probe",
    "hastened",
    "is_less",
    "keep",
    "keep_line",
    "keep_probe",
    "least_of",
    "lower_high",
    "outside_of",
    "place_of",
    "raise_low",
    "remember",
    "row_of",
    "serves",
    "settles",
]

# In the context, beyond what other searches have there; floats from LOWEST on, and where a value is meant.
PRUNED: Final = 40
PROBING: Final = 41
AT_CHANCE: Final = 42
EVALUATED: Final = 43
MAX_LEVEL: Final = 44
LINE: Final = 45
KNOWN: Final = 46
"""What a probe has found of the state that is visited next: of which action, or -1; then its answer."""
KNOWN_VALUE: Final = 47
KNOWN_PROMPTNESS: Final = 48
KNOWN_PROVEN: Final = 49
NOTHING: Final = 57
"""Holds -1: a recursive kernel takes no constants as arguments."""
LOWEST: Final = 50
LOWEST_PROMPTNESS: Final = 51
HIGHEST: Final = 52
HIGHEST_PROMPTNESS: Final = 53
MIDDLE: Final = 54
REST: Final = 55
SLACK: Final = 56

# In a row: what a visit answers, then its line, then blocks of as many words as there are actions.
PROMPTNESS: Final = 0
PROVEN: Final = 1
LENGTH: Final = 2
HEAD: Final = 3

INFINITE_DEPTH: Final = (1 << 21) - 1
"""As much as an entry can hold: no search asks for more."""
PLACES: Final = 64
EXACT: Final = 0
LOWER: Final = 1
UPPER: Final = 2
# How an entry's description is packed: action + 1, used (1 bit), depth (21), bound (2), proven, age.
_USED: Final = 1 << 25
CHANCE_KEY: Final = 0x5DEECE66D


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def enter(context: int, ply: int) -> bool:
    """Counts a node, unless a limit forbids it."""
    nodes = load(context, NODES)
    if nodes >= load(context, MOST_NODES):
        store(context, STOP, OUT_OF_NODES)
        return False
    store(context, NODES, nodes + 1)
    if ply > load(context, DEEPEST):
        store(context, DEEPEST, ply)
        if ply >= load(context, MAX_PLY):
            store(context, STOP, TOO_DEEP)
            return False
    return True


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def goes_on(context: int, level: int) -> bool:
    """Whether to look beyond a node: nobody asked for the end, and there is room for the levels below."""
    if load(context, STOP) != 0:
        return False
    if level + 2 >= load(context, MAX_LEVEL):
        store(context, STOP, TOO_DEEP)
        return False
    return True


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def row_of(context: int, level: int) -> int:
    """The address of a level's workspace."""
    return load(context, WORK) + 8 * level * load(context, ROW)


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def block_of(context: int, level: int, number: int) -> int:
    """The address of one of a level's blocks.

    A decision has its actions in block 0 and their promise in block 1. A chance event has its outcomes in block 0,
    their probabilities, least and greatest values in blocks 1 to 3, and in blocks 4 to 7 what was found by
    probing: the action (-1 for none), value, promptness, and whether it is proven.
    """
    row: int = row_of(context, level)
    return row + 8 * (HEAD + load(context, LINE) + number * load(context, ACTIONS))


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def answer(context: int, level: int, promptness: float, proven: int) -> None:
    """Writes all of a visit's answer but its value; its line is as it was."""
    row = row_of(context, level)
    store_float(row, PROMPTNESS, promptness)
    store(row, PROVEN, proven)


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def keep_line(context: int, level: int, action: int) -> None:
    """The level's line becomes this action and the line below."""
    here = row_of(context, level)
    below = row_of(context, level + 1)
    length = min(load(below, LENGTH), load(context, LINE) - 1)
    store(here, LENGTH, length + 1)
    store(here, HEAD, action)
    for index in range(length):
        store(here, HEAD + 1 + index, load(below, HEAD + index))


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def is_less(value: float, promptness: float, other: float, other_promptness: float) -> bool:
    """Whether a score is less than another."""
    return value < other or (value == other and promptness < other_promptness)


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def delayed(context: int, value: float, promptness: float) -> float:
    """The promptness of a child's score, as it counts one ply earlier."""
    if load(context, SOONER) != 0:
        if value > load_float(context, MIDDLE):
            return promptness - 1.0
        if value < load_float(context, MIDDLE):
            return promptness + 1.0
    return promptness


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def hastened(context: int, value: float, promptness: float) -> float:
    """The promptness of a window's edge, as a child sees it."""
    if load(context, SOONER) != 0:
        if value > load_float(context, MIDDLE):
            return promptness + 1.0
        if value < load_float(context, MIDDLE):
            return promptness - 1.0
    return promptness


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def bucket_of(context: int, key: int) -> int:
    """The address of a key's bucket, eight words."""
    mixed = (key ^ shift_right(key, 32)) * -7046029254386353131
    return load(context, TABLE) + 64 * shift_right(mixed, 64 - load(context, TABLE_BITS))


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def depth_of(about: int) -> int:
    """The depth to which an entry's position was searched."""
    return about >> 4 & INFINITE_DEPTH


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def action_of(about: int) -> int:
    """The action that an entry says is best; -1 for none."""
    return (about >> 26) - 1


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def find(context: int, key: int) -> int:
    """The address of the entry kept for a key; 0 if there is none."""
    bucket: int = bucket_of(context, key)
    for number in range(2):
        entry = bucket + 32 * number
        if load(entry, 0) == key and load(entry, 1) != 0:
            store(context, TABLE_HITS, load(context, TABLE_HITS) + 1)
            return entry
    return 0


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def keep(
    context: int, key: int, depth: int, bound: int, value: float, promptness: float, action: int, proven: int
) -> None:
    """Keeps what a search found: in the place of the same position, else of what is older or less deep."""
    bucket = bucket_of(context, key)
    age = load(context, AGE)
    chosen = bucket
    least = 1 << 30
    for number in range(2):
        entry = bucket + 32 * number
        about = load(entry, 1)
        if about == 0 or load(entry, 0) == key:
            chosen = entry
            break
        worth = depth_of(about) + (INFINITE_DEPTH + 1 if about & 1 == age else 0)
        if worth < least:
            least = worth
            chosen = entry
    store(chosen, 0, key)
    store(chosen, 1, (action + 1) << 26 | _USED | min(depth, INFINITE_DEPTH) << 4 | bound << 2 | proven << 1 | age)
    store_float(chosen, 2, value)
    store_float(chosen, 3, promptness)
    store(context, TABLE_STORES, load(context, TABLE_STORES) + 1)


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def serves(context: int, entry: int, depth: int) -> bool:
    """Whether an entry says what a search to that depth would."""
    about = load(entry, 1)
    kept = depth_of(about)
    asked = min(depth, INFINITE_DEPTH)
    if kept == asked:
        return True
    return load(context, PRUNED) != 0 and about >> 1 & 1 != 0 and kept <= asked


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def place_of(context: int, ply: int, rolled: int) -> int:
    """The address of the killers of a ply after an outcome (-1 for none)."""
    return load(context, KILLERS) + 16 * (min(ply, PLACES - 1) * (load(context, ACTIONS) + 1) + rolled + 1)


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def remember(context: int, action: int, mover: int, place: int, depth: int) -> None:
    """An action that was best is tried earlier elsewhere."""
    if load(context, ORDERED) == 0:
        return
    first = load(place, 0)
    if action != first and action != load(place, 1):
        store(place, 1, first)
        store(place, 0, action)
    weight = min(depth, 16)
    history = load(context, HISTORY) + 8 * mover * load(context, ACTIONS)
    store(history, action, load(history, action) + weight * weight)


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def raise_low(context: int, level: int, index: int, value: float, low: float) -> float:
    """The least average, once an outcome is known to be worth at least that."""
    lows = block_of(context, level, 2)
    before = load_float(lows, index)
    if value > before:
        low += load_float(block_of(context, level, 1), index) * (value - before)
        store_float(lows, index, value)
    return low


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def lower_high(context: int, level: int, index: int, value: float, high: float) -> float:
    """The greatest average, once an outcome is known to be worth at most that."""
    highs = block_of(context, level, 3)
    before = load_float(highs, index)
    if value < before:
        high -= load_float(block_of(context, level, 1), index) * (before - value)
        store_float(highs, index, value)
    return high


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def settles(entry: int, alpha: float, alpha_promptness: float, beta: float, beta_promptness: float) -> bool:
    """Whether what an entry keeps answers a search with this window."""
    bound = load(entry, 1) >> 2 & 3
    if bound == LOWER:
        return not is_less(load_float(entry, 2), load_float(entry, 3), beta, beta_promptness)
    if bound == UPPER:
        return not is_less(alpha, alpha_promptness, load_float(entry, 2), load_float(entry, 3))
    return True


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def bound_of(context: int, value: float, promptness: float, above: bool, below: bool) -> int:
    """What a score says, found above alpha, below beta, or both; at the limits of the game it is exact anyway."""
    if load(context, PRUNED) == 0 or (above and below):
        return EXACT
    if not is_less(load_float(context, LOWEST), load_float(context, LOWEST_PROMPTNESS), value, promptness):
        return EXACT
    if not is_less(value, promptness, load_float(context, HIGHEST), load_float(context, HIGHEST_PROMPTNESS)):
        return EXACT
    return LOWER if above else UPPER


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def least_of(context: int, level: int, index: int, alpha: float, high: float) -> float:
    """What an outcome must be worth for the average to reach alpha, where it is ``high`` at most."""
    p = load_float(block_of(context, level, 1), index)
    others = high - p * load_float(block_of(context, level, 3), index)
    return (alpha - load_float(context, SLACK) - others) / p


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def greatest_of(context: int, level: int, index: int, beta: float, low: float) -> float:
    """What an outcome may be worth for the average not to pass beta, where it is ``low`` at least."""
    p = load_float(block_of(context, level, 1), index)
    others = low - p * load_float(block_of(context, level, 2), index)
    return (beta + load_float(context, SLACK) - others) / p


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def outside_of(context: int, low: float, high: float, alpha: float, beta: float) -> int:
    """Which bound of an average lies outside the window: ``UPPER``, ``LOWER``, or 0."""
    slack = load_float(context, SLACK) / 2
    if high < alpha - slack:
        return UPPER
    if low > beta + slack:
        return LOWER
    return 0


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def keep_probe(context: int, level: int, index: int, action: int, value: float) -> None:
    """Writes down what a visit two levels below has found of an action in an outcome."""
    below = row_of(context, level + 2)
    store(block_of(context, level, 4), index, action)
    store_float(block_of(context, level, 5), index, value)
    store_float(block_of(context, level, 6), index, load_float(below, PROMPTNESS))
    store(block_of(context, level, 7), index, load(below, PROVEN))


@register_jitable  # type: ignore[untyped-decorator]  # numba is not typed
def hand_down_probe(context: int, level: int, index: int) -> None:
    """Tells the visit of an outcome, which comes next, what a probe has found there."""
    store(context, KNOWN, load(block_of(context, level, 4), index))
    store_float(context, KNOWN_VALUE, load_float(block_of(context, level, 5), index))
    store_float(context, KNOWN_PROMPTNESS, load_float(block_of(context, level, 6), index))
    store(context, KNOWN_PROVEN, load(block_of(context, level, 7), index))
