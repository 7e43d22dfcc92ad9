"""Self-play of many games at once: all that happens between two answers of the network, in compiled code.

Each game has one leaf that waits. A step takes the network's answer to it up the tree and goes on, through moves
and new games, until the next leaf. Each game depends on its own random numbers alone.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.monte_carlo.kernel import back_up, state_below
from zermelo.agents.compiled.monte_carlo.nodes import (
    ACTION,
    LOWER,
    for_mover,
    make_node,
    random_below,
)
from zermelo.agents.learning.alphazero.tree_kernel import (
    add_noise,
    best_edge,
    considered_edge,
    descend,
    give_edges,
    is_settled,
    order_edges,
    write_policy,
)
from zermelo.agents.learning.layout import ROOT, Batch, Trees
from zermelo.agents.learning.states_kernel import is_over, keep, observe, past_chance, state_of
from zermelo.envs.jit.memory import int8s, load, load_float, load_state, store, store_float, words
from zermelo.envs.rules.protocol import Rules

TRIES: Final = 1_000
"""Games without a decision after which the rules are taken to have none."""


# -- the network's answers


def utility_of(rules: Rules, state: Any, answer: float, search: Search) -> float:
    """The network's answer as the first seat's utility, strictly inside the bounds: it proves nothing."""
    margin = 1e-9 * (search.high - search.low)
    value = search.low + (answer + 1.0) / 2.0 * (search.high - search.low)
    value = min(max(value, search.low + margin), search.high - margin)
    return for_mover(value, rules.to_move(state), search)


def take_answer(rules: Rules, state: Any, number: int, trees: Trees, search: Search) -> None:
    """Gives the leaf that waits what the network says of it, and takes its value up."""
    ply = load(trees.plies, number)
    logits = trees.logits + 8 * trees.choices * number
    answer = load_float(trees.answers, number)
    root = load(trees.roots, number)
    if ply == ROOT:
        give_edges(rules, state, root, logits, search)
        order_edges(root, search)
        add_noise(root, search)
        store_float(trees.values, number, (min(max(answer, -1.0), 1.0) + 1.0) / 2.0)
        return
    leaf = load(search.lines, 2 * ply)
    below = state_below(rules, state, 0, ply, search)
    give_edges(rules, below, leaf, logits, search)
    store_float(search.scratch, 0, utility_of(rules, below, answer, search))
    back_up(leaf, ply, search)
    store(trees.done, number, load(trees.done, number) + 1)


def ask(rules: Rules, state: Any, number: int, trees: Trees) -> None:
    """Shows the network a state, as the player to move sees it."""
    spare = trees.spares + 8 * trees.state_words * number
    observe(rules, state, rules.to_move(state), trees.observations, number, spare, trees)


# -- games


def play_on(rules: Rules, state: Any, number: int, trees: Trees, search: Search) -> Any:
    """The next state with something to decide: the moves before it are random or forced."""
    state = past_chance(rules, state, search.rows, trees.width, search)
    while not is_over(rules, state, number, trees):
        count = rules.legal_actions(state, words(search.rows, trees.width))
        opening = load(trees.openings, number)
        if count > 1 and opening <= 0:
            break
        action = load(search.rows, random_below(search, count) if count > 1 else 0)
        store(trees.openings, number, opening - 1)
        store(trees.moves, number, load(trees.moves, number) + 1)
        state = past_chance(rules, rules.result(state, action), search.rows, trees.width, search)
    return state


def new_game(rules: Rules, start: Any, number: int, trees: Trees, search: Search) -> Any:
    """A new game's first state with something to decide; one that has none is played again."""
    state = start
    for _ in range(TRIES):
        store(trees.moves, number, 0)
        store(trees.openings, number, random_below(search, trees.random_plies + 1))
        state = play_on(rules, start, number, trees, search)
        if not is_over(rules, state, number, trees):
            break
    return state


def begin_search(rules: Rules, state: Any, number: int, trees: Trees, search: Search) -> None:
    """Makes a state the root of a new tree, and asks about it; nothing where there is nothing to decide."""
    if is_over(rules, state, number, trees):
        store(trees.roots, number, 0)
        return
    keep(rules, state, number, trees)
    search.arena_top = search.arena
    store(trees.roots, number, make_node(rules, state, search))
    store(trees.done, number, 0)
    store(trees.plies, number, ROOT)
    ask(rules, state, number, trees)


def decide(rules: Rules, start: Any, state: Any, number: int, trees: Trees, search: Search) -> None:
    """Plays the move that the search has found, and begins the search of the next one."""
    root = load(trees.roots, number)
    int8s(trees.decided, number + 1)[number] = 1
    write_policy(root, number, trees, search)
    own, sample = trees.states + 8 * trees.state_words * number, trees.sample_states
    for place in range(trees.state_words):
        store(sample, trees.state_words * number + place, load(own, place))
    state = rules.result(state, load(best_edge(root, number, trees, search), ACTION))
    store(trees.moves, number, load(trees.moves, number) + 1)
    state = play_on(rules, state, number, trees, search)
    if is_over(rules, state, number, trees):
        int8s(trees.ended, number + 1)[number] = 1
        outcome = 0.0
        if rules.is_terminal(state):
            outcome = 2.0 * (float(rules.utility(state, 0)) - search.low) * search.unit - 1.0
        store_float(trees.outcomes, number, outcome)
        state = new_game(rules, start, number, trees, search)
    begin_search(rules, state, number, trees, search)


def step_one(rules: Rules, start: Any, number: int, trees: Trees, search: Search) -> None:
    """Takes the network's answer to a game's leaf, and goes on to the next one."""
    state = state_of(rules, start, number, trees)
    take_answer(rules, state, number, trees, search)
    root = load(trees.roots, number)
    while True:
        done = load(trees.done, number)
        if done >= trees.simulations or is_settled(root, search):
            decide(rules, start, state, number, trees, search)
            return
        first = considered_edge(root, number, done, trees, search)
        ply = descend(rules, state, root, first, search)
        leaf = load(search.lines, 2 * ply)
        if leaf != 0 and is_settled(leaf, search):
            store_float(search.scratch, 0, load_float(leaf, LOWER))
        else:
            below = state_below(rules, state, 0, ply, search)
            if leaf != 0 and rules.to_move(below) >= 0:
                store(trees.plies, number, ply)
                ask(rules, below, number, trees)
                return
            store_float(search.scratch, 0, search.expected)  # memory is out
        back_up(leaf, ply, search)
        store(trees.done, number, done + 1)


def play(rules: Rules, state: Any, first: int, last: int, begin: int, trees: Trees, search: Search) -> int:
    """A step of the games from ``first`` up to ``last``, which is excluded; counts those with no decision.

    ``begin`` is 0 for a step, 1 to begin the searches of all games' moves anew, 2 to begin all games anew.
    """
    empty = 0
    for number in range(first, last):
        search.random = load(trees.random, number)
        search.arena = trees.arenas + 8 * trees.arena_words * number
        search.arena_end = search.arena + 8 * trees.arena_words
        search.arena_top = load(trees.tops, number)
        search.lines = trees.paths + 8 * trees.path_words * number
        int8s(trees.decided, number + 1)[number] = 0
        int8s(trees.ended, number + 1)[number] = 0
        if begin == 2:
            begin_search(rules, new_game(rules, state, number, trees, search), number, trees, search)
        elif begin == 1:
            begin_search(rules, state_of(rules, state, number, trees), number, trees, search)
        else:
            step_one(rules, state, number, trees, search)
        if load(trees.roots, number) == 0:
            empty += 1
        store(trees.random, number, search.random)
        store(trees.tops, number, search.arena_top)
    return empty


def present(rules: Rules, state: Any, first: int, last: int, batch: Batch) -> int:
    """Writes positions as the network sees them, each through a symmetry, with the policies to learn."""
    for number in range(first, last):
        symmetry = load(batch.symmetries, number)
        kept = load_state(state, batch.states + 8 * batch.state_words * number)
        seen = rules.symmetric_state(kept, symmetry)
        spare = batch.states + 8 * batch.state_words * number
        observe(rules, seen, rules.to_move(seen), batch.observations, number, spare, batch)
        targets = batch.targets + 8 * batch.choices * number
        for action in range(batch.choices):
            store_float(targets, action, -1.0)
        for place in range(batch.width):
            action = load(batch.actions, batch.width * number + place)
            if action >= 0:
                share = load_float(batch.policies, batch.width * number + place)
                store_float(targets, rules.symmetric_action(action, symmetry), share)
    return 0
