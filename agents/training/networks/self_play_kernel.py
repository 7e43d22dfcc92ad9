"""A game of alpha-beta against itself, compiled: for searches that are over sooner than a call from Python is."""

from __future__ import annotations

from typing import Any

from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.kernels.layout import GOING, OUT_OF_NODES
from zermelo.agents.kernels.random_numbers import random_below, random_uniform
from zermelo.agents.tree_search.alpha_beta.compiled import DEEPEST, EXPLORE
from zermelo.agents.tree_search.compiled.kernel_root import score_of, search_root
from zermelo.agents.tree_search.compiled.record import TwoPlayerRecord
from zermelo.envs.jit.memory import load, store, store_float, store_state, words
from zermelo.envs.rules.protocol import Rules


def best_slot(search: TwoPlayerRecord, maximizing: bool) -> int:
    """The slot of the best action that an iteration has searched."""
    best = search.root_slots
    best_value, best_distance = score_of(search, best)
    for number in range(1, search.root_done):
        slot = search.root_slots + 8 * search.slot_words * number
        value, distance = score_of(search, slot)
        ahead = value > best_value or (value == best_value and distance > best_distance)
        behind = value < best_value or (value == best_value and distance < best_distance)
        if ahead if maximizing else behind:
            best, best_value, best_distance = slot, value, distance
    return best


def think(rules: Rules, state: Any, count: int, nodes: int, search: TwoPlayerRecord) -> tuple[int, float]:
    """The action that a search of so many nodes chooses, of ``count`` legal ones, and the first seat's value.

    ``search.stop`` is then ``GOING``, unless something else than nodes has run out.
    """
    maximizing = rules.to_move(state) == search.root_seat
    search.nodes = search.passed_ply = 0
    search.node_limit = nodes
    search.root_count, search.orders_root = count, 1
    action = load(search.root_actions, 0)
    value = 0.0
    for depth in range(1, DEEPEST + 1):
        search.depth, search.age = depth, depth & 1
        search.stop = search.root_done = 0
        search.deepest = -1
        search.repetition_ply = MAX_PLIES
        search_root(rules, state, search)
        if search.root_done > 0:
            slot = best_slot(search, maximizing)
            action = load(slot, 0)
            value, _ = score_of(search, slot)
        if search.stop != 0:
            break
        place = 0
        while load(search.root_actions, place) != action:
            place += 1
        while place > 0:
            store(search.root_actions, place, load(search.root_actions, place - 1))
            place -= 1
        store(search.root_actions, 0, action)
    if search.stop == OUT_OF_NODES:
        search.stop = GOING
    return action, value


def play_game(
    rules: Rules,
    state: Any,
    planes: int,
    count: int,
    symmetries: int,
    found: int,
    room: int,
    opening: int,
    nodes: int,
    search: TwoPlayerRecord,
) -> int:
    """Plays a game from a state; how many positions were recorded, or -1 of a game that has no end.

    Random moves end at one of the first ``opening`` moves. Of later positions, where no capture and no check
    decides what they are worth, ``planes`` gets those of both seats, each of ``count`` words, through one of the
    symmetries, and of half of them the mirror image; and ``found`` who is to move, and the first seat's value.
    Before these it gets the utilities. There is room for ``room`` moves.
    """
    until = random_below(search, opening + 1)
    recorded = 0
    for move in range(room):
        if rules.is_terminal(state):
            for seat in range(2):
                store_float(found, seat, float(rules.utility(state, seat)))
            return recorded
        legal = rules.legal_actions(state, words(search.root_actions, search.width))
        if move < until and random_uniform(search) < EXPLORE:
            action = load(search.root_actions, random_below(search, legal))
        else:
            action, value = think(rules, state, legal, nodes, search)
            if search.stop != 0:
                return -1
            if move >= until and not rules.is_noisy(state, action) and not rules.is_urgent(state):
                seen = rules.symmetric_state(state, random_below(search, symmetries)) if symmetries > 1 else state
                if random_below(search, 2) == 1:
                    seen = rules.mirror_image(seen)
                place = planes + 16 * count * recorded
                store_state(rules.planes(seen, 0), place)
                store_state(rules.planes(seen, 1), place + 8 * count)
                recorded += 1
                store(found, 2 * recorded, rules.to_move(state))
                store_float(found, 2 * recorded + 1, value)
        state = rules.result(state, action)
    return -1
