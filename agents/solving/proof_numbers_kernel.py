"""Depth-first proof-number search, as it is compiled over a game's rules: can the attacker reach its goal?

A. Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", PhD thesis, University of Tokyo, 2002.
A state's proof number is a lower bound of the states that must be proven to prove it; its disproof number is the
same for disproving it. A child is searched until another is more promising by a quarter (J. Pawlewicz and L. Lew,
"Improving depth-first PN-search: 1 + epsilon trick", Computers and Games 2006).

Positions are searched without their past, and a position that comes again on the path counts as disproven there.
That says nothing of other paths to it ("graph history interaction": A. Kishimoto and M. Mueller, "A solution to
the GHI problem for depth-first proof-number search", 2005): a disproof that rests on a state above it is not
stored.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.kernels.memory import MULTIPLIER, enter, row_of
from zermelo.agents.solving.proof_numbers import NumbersRecord, NumbersVariant
from zermelo.envs.jit.history import PathState
from zermelo.envs.jit.memory import load, store, words, wrapped_product
from zermelo.envs.rules.bits import shift_right

INFINITE: Final = 1 << 30
MOST: Final = 1 << 24
"""No sum is more than this, as states are counted again where lines meet; only what is decided is infinite."""
NEVER: Final = 1 << 20
"""In place of the ply of a state that a disproof rests on."""
HEAD: Final = 1
"""Words of a row before the actions, their proof and disproof numbers, and what their disproofs rest on."""
ENTRY: Final = 4
"""Words of an entry of the table: the key, the numbers, the nodes that they took; entries come in pairs."""

WITH: Final = NumbersVariant()


def after(rules: Any, state: Any, action: int) -> Any:
    """The state after an action, without its past."""
    if WITH.history:
        return PathState(rules.rules.result(state.position, action), 1, 1, 0, 0)
    return rules.result(state, action)


def bucket(search: NumbersRecord, key: int) -> int:
    """The address of the two entries where a key may be."""
    slot = shift_right(wrapped_product(key, MULTIPLIER), 64 - search.table_bits)
    return search.table + 16 * ENTRY * slot


def probe_numbers(search: NumbersRecord, key: int) -> int:
    """The numbers of a key, as ``pack``; both 1 where the table has none."""
    entry = bucket(search, key)
    for _ in range(2):
        if load(entry, 0) == key and load(entry, 2) != 0:
            return load(entry, 1)
        entry += 8 * ENTRY
    return pack(1, 1)


def store_numbers(search: NumbersRecord, key: int, numbers: int, nodes: int) -> None:
    """Stores the numbers of a key, in the place of those that took fewer nodes."""
    entry = bucket(search, key)
    other = entry + 8 * ENTRY
    if load(entry, 0) != key and (load(other, 0) == key or load(other, 2) < load(entry, 2)):
        entry = other
    store(entry, 0, key)
    store(entry, 1, numbers)
    store(entry, 2, max(nodes, 1))


def pack(proof: int, disproof: int) -> int:
    """Two numbers in one word."""
    return proof << 31 | disproof


def numbers(rules: Any, state: Any, most_proof: int, most_disproof: int, ply: int, search: NumbersRecord) -> int:
    """Searches a state until one of its numbers reaches its limit, and returns both.

    ``search.own`` is the attacker, ``search.lower_utility`` its goal. What a disproof rests on is left in
    ``search.repetition_ply``.
    """
    search.repetition_ply = NEVER
    if not enter(search, ply):
        return 0
    before = search.nodes
    size = search.width
    actions = row_of(search, ply) + 8 * HEAD
    proofs = actions + 8 * size
    disproofs = proofs + 8 * size
    rests = disproofs + 8 * size
    attacks = rules.to_move(state) == search.own
    salt = search.own + 1
    key = rules.key(state) ^ wrapped_product(salt, MULTIPLIER)
    if WITH.history:
        store(row_of(search, ply), 0, rules.rules.repetition_key(state.position))
    count = rules.legal_actions(state, words(actions, size))
    # 1. What is known of the children.
    for index in range(count):
        child = after(rules, state, load(actions, index))
        packed = 0
        rest = NEVER
        if rules.is_terminal(child):
            utility = rules.utility(child, search.own)
            search.draws += 1 if utility == search.total - utility else 0
            packed = pack(0, INFINITE) if utility >= search.lower_utility else pack(INFINITE, 0)
        else:
            if WITH.history:
                again = rules.rules.repetition_key(child.position)
                above = ply
                last = max(ply + 1 - rules.rules.reversible_plies(child.position), 0)
                while above >= last and again != 0:
                    if load(row_of(search, above), 0) == again:
                        rest = above
                        search.draws += 1
                        break
                    above -= 1
            if rest == NEVER:
                packed = probe_numbers(search, rules.key(child) ^ wrapped_product(salt, MULTIPLIER))
            else:
                packed = pack(INFINITE, 0)
        store(proofs, index, packed >> 31)
        store(disproofs, index, packed & (1 << 31) - 1)
        store(rests, index, rest)
    # 2. The most promising child, again and again.
    proof, disproof = 0, 0
    while True:
        best = 0
        first, second, total, most = INFINITE, INFINITE, 0, 0
        minimized = proofs if attacks else disproofs
        added = disproofs if attacks else proofs
        for index in range(count):
            number = load(minimized, index)
            if number < first:
                second = first
                first = number
                best = index
            elif number < second:
                second = number
            total = min(total + load(added, index), MOST)
            most = max(most, load(added, index))
        total = max(total, most)
        proof = first if attacks else total
        disproof = total if attacks else first
        if proof == 0:
            disproof = INFINITE
        if disproof == 0:
            proof = INFINITE
        if proof >= most_proof or disproof >= most_disproof:
            break
        child = after(rules, state, load(actions, best))
        limit = min(most_proof if attacks else most_disproof, second + (second >> 2) + 1)
        other = (most_disproof if attacks else most_proof) - total + load(added, best)
        child_proof = limit if attacks else other
        child_disproof = other if attacks else limit
        packed = numbers(rules, child, child_proof, child_disproof, ply + 1, search)
        if search.stop != 0:
            return 0
        store(proofs, best, packed >> 31)
        store(disproofs, best, packed & (1 << 31) - 1)
        store(rests, best, search.repetition_ply)
    # 3. What a disproof rests on: for the attacker any child's, for the defender that of the move it chooses.
    rest = NEVER
    if disproof == 0:
        rest = NEVER if attacks else 0
        for index in range(count):
            if attacks:
                rest = min(rest, load(rests, index))
            elif load(disproofs, index) == 0:
                rest = max(rest, load(rests, index))
    if rest >= ply:
        rest = NEVER
    search.repetition_ply = rest
    if rest == NEVER:
        store_numbers(search, key, pack(proof, disproof), search.nodes - before)
    return pack(proof, disproof)
