"""Positions and what their moves lead to, listed at native speed for retrograde analysis."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.agents.knowledge_building.retrograde import NO_EXIT, UNUSED
from zermelo.envs.jit.memory import load, load_state, store, store_state, words
from zermelo.envs.rules.scores import LOSS, WIN


class MovesVariant(NamedTuple):
    """The record of the kernel that lists moves."""

    history: bool = True  # rules depend on the past, which tables leave out
    indexed: bool = True  # the rules number positions; otherwise positions are given, and their children written
    gains: bool = True  # an exit is what the mover gains, not how soon it wins
    leads: bool = True  # the rules say what the mover is ahead by
    repeats: bool = True  # the rules say so where repetition ends the game, too


WITH: Final = MovesVariant()

STATES, EXITS, COUNTS, REPEATED, CHILDREN, SCRATCH, ROOM, WIDTH, SIZE, DONE = range(10)
"""The words of the block of memory: addresses, then the room for children, their width in words, the length of a
state, the words of children written."""
HEAD: Final = 2  # words before a child's index or state: part or key; if its mover moves again, and what it gained


def expand(rules: Any, state: Any, part: int, first: int, count: int, memory: int) -> int:
    """Lists the moves of ``count`` positions, until the room for children is used up; how many it has done.

    ``part`` is the part whose positions are listed, where the rules number them, ``first`` the first number or
    state, and ``memory`` the address of the block.
    """
    if WITH.history:
        game = rules.rules
        like = state.position
    else:
        game = rules
        like = state
    states, exits, counts = load(memory, STATES), load(memory, EXITS), load(memory, COUNTS)
    size = load(memory, SIZE)
    width = game.max_legal_actions()
    actions = words(load(memory, SCRATCH), width)
    child_words = load(memory, WIDTH)
    out = load(memory, CHILDREN)
    last = out + 8 * (load(memory, ROOM) - width * child_words)
    done = 0
    while done < count and out <= last:
        number = first + done
        if WITH.indexed:
            here = game.table_state(part, number)
            is_position = game.table_part(here) == part
            is_position = is_position and game.table_index(here) == number
        else:
            here = load_state(like, states + 8 * size * number)
            is_position = True
        best = UNUSED
        count_here = 0
        repeated = 0
        if is_position and not game.is_terminal(here):
            best = NO_EXIT
            mover = game.to_move(here)
            if WITH.repeats:
                repeated = game.table_repetition(here)
            for index in range(game.legal_actions(here, actions)):
                child = game.result(here, actions[index])
                again = 1 if game.to_move(child) == mover else 0
                lead = 0
                if WITH.gains:
                    lead = game.table_lead(child) if again else -game.table_lead(child)
                if game.is_terminal(child):
                    best = max(best, exit_score(game, child, mover, lead))
                    continue
                store(out, 1, again | lead << 1)
                write_child(game, child, out)
                out += 8 * child_words
                count_here += 1
        store(exits, done, best)
        store(counts, done, count_here)
        store(load(memory, REPEATED), done, repeated)
        done += 1
    store(memory, DONE, (out - load(memory, CHILDREN)) >> 3)
    return done


def exit_score(game: Any, child: Any, mover: int, lead: int) -> int:
    """The score for its mover of a move that ends the game."""
    score = game.utility(child, mover)
    if WITH.gains:
        return lead if WITH.leads else score
    if score > 0:
        return WIN - 1
    return LOSS + 1 if score < 0 else 0


def write_child(game: Any, child: Any, out: int) -> None:
    """Writes the part and the index of a child, or its key and its state."""
    if WITH.indexed:
        store(out, 0, game.table_part(child))
        store(out, 2, game.table_index(child))
    else:
        key = game.key(child)
        for symmetry in range(1, game.symmetries()):
            key = min(key, game.key(game.symmetric_state(child, symmetry)))
        store(out, 0, key)
        store_state(child, out + 8 * HEAD)
