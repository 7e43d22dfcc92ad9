"""The recursion that proves values to the end of the game, as it is compiled over a game's rules.

Null windows only: ``prove`` asks whether a position's score is at least ``beta``, and ``find_score`` goes on until
nothing is left to ask. Where scores are margins that is MTD(f) (Plaat, Schaeffer, Pijls, de Bruin, "Best-first
fixed-depth minimax algorithms", Artificial Intelligence 87 (1996)). Where they count moves it asks for more and
more of them, first of wins, then of losses, and then goes on from the later ends, a third of what is left at a
time: in Connect Four that takes a twentieth off MTD(f)'s positions. What makes it fast are the rules' hooks
``bounds``, ``safe_actions`` and ``proof_hint``.

Scores are small integers for the player to move (``zermelo.envs.rules.scores``), those that count moves counted
from the root; the table has them counted from the position itself.

The best action is kept as its place among the legal ones, of the first 255; it only says where to look first.

The table has one entry a slot, always replaced, with a lower and an upper bound. Half of the positions are stored:
those with seat 0 to move, and those that the player to move has moved to. The others look at all their children's
entries before they search one (enhanced transposition cut-off). Where the rules' own key has at most 32 bits more
than the table has slots, an entry is one word: a one-to-one product of the key says slot and remainder. Otherwise
it is two, the key exclusive-or the data, and the data; with the default key, a hash, a probe that should miss hits
with a probability of 2 ** -64. Tables of 8 to 16 MiB, which the processor's cache holds, beat larger ones.

Measured and left out: looking for the best child only when it is needed, which made no difference.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.kernels.layout import BUSY_BITS
from zermelo.agents.kernels.memory import MULTIPLIER, enter, row_of
from zermelo.agents.tree_search.exact.prover import ProverRecord
from zermelo.envs.jit.memory import load, prefetch, store, words, wrapped_product
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules
from zermelo.envs.rules.scores import LOSS, WIN

_MAX_MOVE_SCORE: Final = 8000
_FIRST_MOVES: Final = 10
SYMMETRIC_PLIES: Final = 8
"""Symmetric positions share an entry this near to the root; further down looking for them costs more."""
SHARED_PLIES: Final = 12
"""Threads stay out of each other's way this near to the root."""


def lower_from(search: ProverRecord, score: int, plies: int) -> int:
    """A lower bound ``plies`` moves away, as it counts here (negative: the other way).

    One that lies beyond the greatest distance still says who does not win: no more.
    """
    if search.distances == 0:
        return score
    if score > 0:
        return max(score - plies, 0)
    if score < 0:
        return min(score + plies, -1)
    return 0


def upper_from(search: ProverRecord, score: int, plies: int) -> int:
    """The new upper bound."""
    return -lower_from(search, -score, plies)


def scaled(key: int, bits: int) -> int:
    """The key's ``bits`` low bits scrambled, one to one."""
    mixed = wrapped_product(key, MULTIPLIER)
    return mixed if bits >= 64 else mixed & ((1 << bits) - 1)


def slot_of(search: ProverRecord, key: int) -> int:
    """The number of a key's slot."""
    bits = search.key_bits
    return shift_right(scaled(key, bits), bits - search.table_bits)


def probe(search: ProverRecord, key: int) -> int:
    """The 32 bits stored for a key; 0 if there are none."""
    table = search.table
    bits = search.key_bits
    mixed = scaled(key, bits)
    rest = bits - search.table_bits
    slot = shift_right(mixed, rest)
    if rest <= 32:
        entry = load(table, slot)
        return entry & 0xFFFFFFFF if shift_right(entry, 32) == mixed & ((1 << rest) - 1) else 0
    data = load(table, 2 * slot + 1)
    return data if load(table, 2 * slot) ^ data == key else 0


def store_bounds(search: ProverRecord, key: int, data: int) -> None:
    """Stores 32 bits for a key, in the place of whatever was there."""
    table = search.table
    bits = search.key_bits
    mixed = scaled(key, bits)
    rest = bits - search.table_bits
    slot = shift_right(mixed, rest)
    if rest <= 32:
        store(table, slot, (mixed & ((1 << rest) - 1)) << 32 | data)
    else:
        store(table, 2 * slot, key ^ data)
        store(table, 2 * slot + 1, data)


def prefetch_slot(search: ProverRecord, key: int) -> None:
    """Has a key's slot on its way from memory before it is needed."""
    slot = slot_of(search, key)
    if search.key_bits - search.table_bits > 32:
        slot *= 2
    prefetch(search.table, slot)


def position_key(rules: Rules, state: Any, ply: int, search: ProverRecord) -> int:
    """The key of the position; near the root, the least among those of its symmetric ones."""
    key = rules.key(state)
    if ply < SYMMETRIC_PLIES:
        for symmetry in range(1, search.symmetries):
            key = min(key, rules.key(rules.symmetric_state(state, symmetry)))
    return key


def ending(rules: Rules, state: Any, seat: int, ply: int, search: ProverRecord) -> int:
    """The score of a finished state for a seat, as it counts at the root."""
    utility = rules.utility(state, seat)
    if search.distances == 0:
        return 2 * utility - search.total
    if utility > 0:
        return WIN - ply
    if utility < 0:
        return ply - WIN
    return 0


def list_children(
    rules: Rules, state: Any, beta: int, ply: int, table_place: int, actions: int, search: ProverRecord
) -> tuple[int, int, int]:
    """Writes the children whose bounds leave the question open, best first, each in one word.

    Returns the best score that the others have for certain, which answers the question if it is at least ``beta``;
    how many are left; and whether the table stores any, which is 1 or 0.
    """
    size = search.width
    waiting = actions + 8 * size
    keys = waiting + 8 * size
    mover = rules.to_move(state)
    legal = rules.safe_actions(state, words(actions, size))
    best = LOSS
    count = 0
    stores = 0
    for index in range(legal):
        action = load(actions, index)
        child = rules.result(state, action)
        child_mover = rules.to_move(child)
        if child_mover == 0 or child_mover == mover:
            child_key = position_key(rules, child, ply + 1, search)
            prefetch_slot(search, child_key)
            store(keys, index, child_key)
            stores = 1
        if rules.is_terminal(child):
            low = ending(rules, child, mover, ply + 1, search)
            high = low
        else:
            low, high = rules.bounds(child)
            low = lower_from(search, low, ply + 1)
            high = upper_from(search, high, ply + 1)
            if child_mover != mover:
                low, high = -high, -low
        if low >= beta:
            return low, 0, 0
        if high < beta:
            best = max(best, high)
            continue
        move_score = min(max(rules.proof_hint(state, action), -_MAX_MOVE_SCORE), _MAX_MOVE_SCORE)
        if index == table_place:
            move_score = 2 * _MAX_MOVE_SCORE
        place = count
        while place > 0 and load(waiting, place - 1) >> 48 < move_score:
            store(waiting, place, load(waiting, place - 1))
            place -= 1
        store(waiting, place, (move_score << 16 | index) << 32 | (low - LOSS) << 16 | (high - LOSS))
        count += 1
    return best, count, stores


def probe_children(
    rules: Rules, state: Any, beta: int, ply: int, best: int, count: int, actions: int, search: ProverRecord
) -> tuple[int, int]:
    """Takes out the children whose entries in the table answer the question; as ``list_children``."""
    waiting = actions + 8 * search.width
    keys = waiting + 8 * search.width
    mover = rules.to_move(state)
    left = 0
    for index in range(count):
        entry = load(waiting, index)
        place = entry >> 32 & 0xFFFF
        child_mover = rules.to_move(rules.result(state, load(actions, place)))
        data = 0
        if child_mover == 0 or child_mover == mover:
            data = probe(search, load(keys, place))
        if data != 0:
            low = lower_from(search, (data >> 20) + LOSS, ply + 1)
            high = upper_from(search, (data >> 8 & 4095) + LOSS, ply + 1)
            if child_mover != mover:
                low, high = -high, -low
            if low >= beta:
                return low, 0
            if high < beta:
                best = max(best, high)
                continue
        store(waiting, left, entry)
        left += 1
    return best, left


def prove(
    rules: Rules, state: Any, lower: int, upper: int, beta: int, ply: int, stored: int, search: ProverRecord
) -> int:
    """A bound on a score between ``lower`` and ``upper``: below ``beta`` an upper one, else a lower one.

    The state is not finished, and ``lower < beta <= upper``; ``stored`` says whether the table has the position.
    """
    # 1. Count the node, and look whether to stop.
    if not enter(search, ply):
        return 0
    # 2. The table.
    key = 0
    data = 0
    table_place = -1
    if stored != 0:
        key = position_key(rules, state, ply, search)
        data = probe(search, key)
    if data != 0:
        table_place = (data & 255) - 1
        known = lower_from(search, (data >> 20) + LOSS, ply)
        if known > lower:
            lower = known
        known = upper_from(search, (data >> 8 & 4095) + LOSS, ply)
        if known < upper:
            upper = known
        if lower >= beta:
            return lower
        if upper < beta:
            return upper
    # 3. Children whose bounds, or entries in the table, answer the question need no search.
    actions = row_of(search, ply)
    waiting = actions + 8 * search.width
    put_off_marks = waiting + 8 * search.width
    mover = rules.to_move(state)
    best, count, stores = list_children(rules, state, beta, ply, table_place, actions, search)
    if stores != 0 and count > 1:
        best, count = probe_children(rules, state, beta, ply, best, count, actions, search)
    if best >= beta:
        return best
    # 4. ProverRecord the others.
    busy = search.in_search if ply < SHARED_PLIES else 0
    put_off = 0
    for turn in range(1 if busy == 0 else 2):
        for index in range(count):
            entry = load(waiting, index)
            at = entry >> 32 & 0xFFFF
            action = load(actions, at)
            low = (entry >> 16 & 0xFFFF) + LOSS
            high = (entry & 0xFFFF) + LOSS
            child = rules.result(state, action)
            child_mover = rules.to_move(child)
            child_stored = 1 if child_mover == 0 or child_mover == mover else 0
            place = 0
            if busy != 0:
                # Another thread is in there: it will have left its result in the table when we come back.
                if turn == 1 and load(put_off_marks, index) == 0:
                    continue
                mark = rules.key(child) | 1
                place = shift_right(wrapped_product(mark, MULTIPLIER), 64 - BUSY_BITS)
                if turn == 0 and index > 0 and load(busy, place) == mark:
                    store(put_off_marks, index, 1)
                    put_off += 1
                    continue
                store(put_off_marks, index, 0)
                store(busy, place, mark)
            if child_mover == mover:
                score = prove(rules, child, low, high, beta, ply + 1, child_stored, search)
            else:
                score = -prove(rules, child, -high, -low, 1 - beta, ply + 1, child_stored, search)
            if busy != 0:
                store(busy, place, 0)
            if search.stop != 0:
                return 0
            if score > best:
                best = score
                if score >= beta:
                    table_place = at
                    break
        if best >= beta or put_off == 0:
            break
    # 5. The table.
    if best >= beta:
        lower = best
    else:
        upper = min(upper, best)
        best = upper
    if stored == 0:
        return best
    low = lower_from(search, lower, -ply) - LOSS
    high = upper_from(search, upper, -ply) - LOSS
    if table_place > 254:
        table_place = -1
    store_bounds(search, key, max(low, 0) << 20 | min(high, 4095) << 8 | table_place + 1)
    return best


def find_score(rules: Rules, state: Any, lower: int, upper: int, guess: int, search: ProverRecord) -> int:
    """The score of an unfinished state, if it lies between ``lower`` and ``upper``, or the one it is beyond.

    What is asked first is whether it is at least ``guess``; there is none if that is below ``LOSS``. What is known
    when a limit stops the search is left in the record.
    """
    low, high = rules.bounds(state)
    low, high = low + 0, high + 0  # no constants: see zermelo.envs.jit.build
    floor = max(low, lower)
    ceiling = max(min(high, upper), floor)
    threshold = min(max(guess, floor + 1), ceiling) if guess >= LOSS else guess
    moves = _FIRST_MOVES
    ply, stored = search.minus_one + 1, search.minus_one + 2  # a recursive kernel takes no constants as arguments
    while floor < ceiling:
        search.root_lower = floor
        search.root_upper = ceiling
        if threshold <= floor or threshold > ceiling:
            if search.distances == 0:
                threshold = floor + 1 if threshold <= floor else ceiling
            elif floor > 0:
                threshold = floor + 1 + (ceiling - floor) // 3
            elif ceiling < 0:
                threshold = ceiling - (ceiling - floor) // 3
            else:
                while (threshold <= floor or threshold > ceiling) and moves < WIN:
                    if threshold > 0:
                        threshold = LOSS + moves + 1
                        moves *= 2
                    else:
                        threshold = WIN - moves
                threshold = min(max(threshold, floor + 1), ceiling)
        score = prove(rules, state, low, high, threshold, ply, stored, search)
        if search.stop != 0:
            return 0
        if score < threshold:
            ceiling = max(score, floor)
        else:
            floor = min(score, ceiling)
    search.root_lower = floor
    search.root_upper = ceiling
    return floor
