"""Many games at once: chance and opponents are played on to the learner's next turn, in compiled code.

Every game has random numbers of its own, so how the games are shared out among threads changes nothing.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.kernels.random_numbers import random_below, random_outcome
from zermelo.agents.monte_carlo.compiled.kernel import simulate
from zermelo.agents.monte_carlo.compiled.kernel_nodes import expected_value
from zermelo.agents.monte_carlo.compiled.record import ACTION, CHILD, COUNT, EDGES, LOWER, MEAN, UPPER, VISITED
from zermelo.agents.training.vectors.games import PARTS, Games, GamesVariant, OpponentVariant
from zermelo.agents.tree_search.alpha_beta.kernel import visit
from zermelo.agents.tree_search.alpha_beta.kernel_scores import to_child, to_parent
from zermelo.agents.tree_search.chance.kernel import visit as visit_general
from zermelo.agents.tree_search.compiled.kernel_nodes import order_moves, score_for_parent
from zermelo.agents.tree_search.compiled.record import TREE
from zermelo.envs.jit.memory import (
    floats,
    int8s,
    load,
    load_float,
    load_state,
    store,
    store_float,
    store_state,
    words,
)
from zermelo.envs.rules.protocol import Rules

GAMES: Final = GamesVariant()
OPPONENT: Final = OpponentVariant()
INFINITY: Final = 1 << 60
FAR: Final = 1 << 20
TRIES: Final = 100


def past_chance(rules: Rules, state: Any, buffer: int, width: int, search: Any) -> Any:
    """The state in which a player is to move, or the game is over: what chance does is drawn."""
    while not rules.is_terminal(state) and rules.to_move(state) < 0:
        probabilities = buffer + 8 * width
        count = rules.chance_outcomes(state, words(buffer, width), floats(probabilities, width))
        state = rules.result(state, load(buffer, random_outcome(search, count, probabilities, 1)))
    return state


def is_over(rules: Rules, state: Any, number: int, games: Games) -> bool:
    """True if a game has ended, or is too long."""
    return bool(rules.is_terminal(state) or load(games.moves, number) >= games.longest)


def state_of(rules: Any, like: Any, number: int, games: Games) -> Any:
    """The state of a game, its past put on the stack."""
    state = load_state(like, games.states + 8 * games.state_words * number)
    if GAMES.history:
        own = games.stacks + 8 * games.stack_words * number
        for place in range(2 * state.length):
            store(rules.stack, place, load(own, place))
    return state


def keep(rules: Any, state: Any, number: int, games: Games) -> None:
    """Writes the state of a game, and what is new on the stack."""
    store_state(state, games.states + 8 * games.state_words * number)
    if GAMES.history:
        own = games.stacks + 8 * games.stack_words * number
        for place in range(2 * state.length):
            store(own, place, load(rules.stack, place))


def random_action(rules: Rules, state: Any, games: Games, search: Any) -> int:
    """A legal action, all as likely."""
    count = rules.legal_actions(state, words(games.scratch, games.width))
    return load(games.scratch, random_below(search, count))


def one_ply_action(rules: Rules, state: Any, games: Games, search: Any) -> int:
    """One of the actions after which the evaluation is best for the player, averaged over what chance does."""
    mover = rules.to_move(state)
    count = rules.legal_actions(state, words(games.scratch, games.width))
    chosen, tied, best = 0, 0, 0.0
    for place in range(count):
        action = load(games.scratch, place)
        value = expected_value(rules, rules.result(state, action), mover, search)
        if tied == 0 or value > best:
            chosen, tied, best = action, 1, value
        elif value == best:
            tied += 1
            if random_below(search, tied) == 0:
                chosen = action
    return chosen


def alpha_beta_score(rules: Rules, child: Any, mover: int, best: int, search: Any) -> int:
    """The score of an action for its player, exact if it is at least the best so far."""
    low, high = to_child(search, best - 1), to_child(search, INFINITY)
    ply = min(search.depth, 1)  # a recursive kernel takes no constants as arguments
    if rules.to_move(child) == mover:
        score = visit(rules, child, search.depth - 1, low, high, ply, search) & -2
    else:
        score = -(visit(rules, child, search.depth - 1, -high, -low, ply, search) & -2)
    return to_parent(search, score)


def searched_action(rules: Rules, state: Any, games: Games, search: Any) -> int:
    """One of the best actions by tree search."""
    mover, actions = rules.to_move(state), games.scratch
    count = rules.legal_actions(state, words(actions, games.width))
    search.deepest, search.stack_start = -1, 0
    if TREE.general:
        search.known = search.chooser = search.minus_one
        search.root_seat = mover
    else:
        search.passed_ply, search.repetition_ply, search.root_seat = 0, FAR, 0
        later = actions + 8 * games.width
        order_moves(rules, state, mover, actions, count, later, search.killers, search.minus_one, True, search)
    ply, depth, record = min(search.depth, 1), search.depth - 1, search.arena
    low, high = (-math.inf, -math.inf), (math.inf, math.inf)
    chosen, tied, most, best = 0, 0, -INFINITY, (0.0, 0.0)
    for place in range(count):
        action = load(actions, place)
        child = rules.result(state, action)
        if TREE.general:
            visit_general(rules, child, depth, low, high, ply, search.minus_one, record, search)
            score = load_float(record, search.own), load_float(record, search.num_values)
            score = score_for_parent(search, score)
        else:
            found = alpha_beta_score(rules, child, mover, most, search)
            most, score = max(most, found), (float(found), 0.0)
        if tied == 0 or best < score:
            chosen, tied, best = action, 1, score
        elif score == best:
            tied += 1
            if random_below(search, tied) == 0:
                chosen = action
    return chosen


def monte_carlo_action(rules: Rules, state: Any, games: Games, search: Any) -> int:
    """The action that most simulations follow, or one that is proven best."""
    search.arena_top = search.arena
    search.stop = 0
    root = simulate(rules, state, 0, 0, search)
    if root == 0:
        return random_action(rules, state, games, search)
    simulate(rules, state, root, games.simulations, search)
    step, edges = 8 * search.edge_words, load(root, EDGES)
    is_proven = search.solves != 0 and load_float(root, LOWER) == load_float(root, UPPER)
    chosen, most, best = load(edges, ACTION), -1, 0.0
    for place in range(load(root, COUNT)):
        edge = edges + step * place
        child = load(edge, CHILD)
        if is_proven:
            if child == 0 or load_float(child, LOWER) != load_float(root, LOWER):
                continue
            if load_float(child, UPPER) != load_float(root, UPPER):
                continue
        visits, mean = load(edge, VISITED), load_float(edge, MEAN)
        if visits > most or (visits == most and mean > best):
            chosen, most, best = load(edge, ACTION), visits, mean
    return chosen


def reply(rules: Rules, state: Any, number: int, games: Games, search: Any) -> int:
    """The action of an opponent, or any legal one in the opening and, with noise, now and then."""
    is_opening = load(games.moves, number) < games.opening
    if is_opening or (games.noise > 0 and random_below(search, PARTS) < games.noise):
        return random_action(rules, state, games, search)
    if OPPONENT.searches:
        return searched_action(rules, state, games, search)
    if OPPONENT.simulates:
        return monte_carlo_action(rules, state, games, search)
    if OPPONENT.looks:
        return one_ply_action(rules, state, games, search)
    return random_action(rules, state, games, search)


def play_on(rules: Rules, state: Any, seat: int, number: int, games: Games, search: Any) -> Any:
    """The state at the learner's next turn, or where the game is over or too long."""
    state = past_chance(rules, state, games.scratch, games.width, search)
    while not is_over(rules, state, number, games):
        if seat < 0 or rules.to_move(state) == seat:
            break
        state = rules.result(state, reply(rules, state, number, games, search))
        store(games.moves, number, load(games.moves, number) + 1)
        state = past_chance(rules, state, games.scratch, games.width, search)
    return state


def begin(rules: Rules, start: Any, number: int, games: Games, search: Any) -> Any:
    """A new game's state at the learner's first turn; one that it has no turn in is played again."""
    state = start
    for _ in range(TRIES):
        episode = load(games.episodes, number)
        store(games.episodes, number, episode + 1)
        seat = games.seat_rule
        if seat == -1:
            seat = episode % games.seat_count
        elif seat == -2:
            seat = random_below(search, games.seat_count)
        elif seat == -3:
            seat = -1
        store(games.seats, number, seat)
        store(games.moves, number, 0)
        state = play_on(rules, start, seat, number, games, search)
        if not is_over(rules, state, number, games):
            break
    return state


def show(rules: Rules, state: Any, number: int, observations: int, games: Games, search: Any) -> None:
    """Writes what the learner sees of a state: observation, mask, and who is to move."""
    over = is_over(rules, state, number, games)
    seat = load(games.seats, number)
    mover = rules.to_move(state)
    store(games.movers, number, mover)
    mask = int8s(games.masks + number * games.choices, games.choices)
    mask[:] = 0
    if not over:
        count = rules.legal_actions(state, words(games.scratch, games.width))
        for place in range(count):
            mask[load(games.scratch, place)] = 1
    observer = seat if seat >= 0 else max(mover, 0)
    own = games.states + 8 * games.state_words * number
    observe(rules, state, observer, observations, number, own, games)


def step_one(rules: Rules, start: Any, number: int, games: Games, search: Any) -> None:
    """One game's step."""
    over = int8s(games.over, number + 1)
    ends = int8s(games.terminated, number + 1)
    cuts = int8s(games.truncated, number + 1)
    wrongs = int8s(games.illegal, number + 1)
    ends[number], cuts[number], wrongs[number] = 0, 0, 0
    rewards = games.rewards + 8 * number * games.seat_count
    for seat in range(games.seat_count):
        store_float(rewards, seat, 0.0)
    if over[number] != 0:
        if games.rounds == 0 or load(games.episodes, number) < games.rounds:
            restart(rules, start, number, games, search)
        return
    state = state_of(rules, start, number, games)
    action = load(games.actions, number)
    mover = rules.to_move(state)
    mask = int8s(games.masks + number * games.choices, games.choices)
    if action < 0 or action >= games.choices or mask[action] == 0:
        wrongs[number], ends[number], over[number] = 1, 1, 1
        store_float(rewards, mover, games.illegal_reward)
    else:
        state = rules.result(state, action)
        store(games.moves, number, load(games.moves, number) + 1)
        state = play_on(rules, state, load(games.seats, number), number, games, search)
        keep(rules, state, number, games)
        if rules.is_terminal(state):
            ends[number], over[number] = 1, 1
            for seat in range(games.seat_count):
                store_float(rewards, seat, float(rules.utility(state, seat)))
        elif load(games.moves, number) >= games.longest:
            cuts[number], over[number] = 1, 1
    if over[number] != 0 and games.same_step != 0:
        show(rules, state, number, games.final, games, search)
        restart(rules, start, number, games, search)
    else:
        show(rules, state, number, games.observations, games, search)
        if over[number] != 0:
            mask[:] = 0


def restart(rules: Rules, start: Any, number: int, games: Games, search: Any) -> None:
    """Begins a game anew."""
    state = begin(rules, start, number, games, search)
    keep(rules, state, number, games)
    int8s(games.over, number + 1)[number] = 0
    show(rules, state, number, games.observations, games, search)


def play(rules: Rules, state: Any, first: int, last: int, anew: int, games: Games, search: Any) -> int:
    """A step of the games from ``first`` to before ``last``, or with ``anew`` their beginning."""
    for number in range(first, last):
        search.random = load(games.random, number)
        if anew != 0:
            restart(rules, state, number, games, search)
        else:
            step_one(rules, state, number, games, search)
        store(games.random, number, search.random)
    return 0


def answer(rules: Rules, state: Any, first: int, last: int, anew: int, games: Games, search: Any) -> int:
    """Writes an agent's actions for the learner in all games that go on; how many these are."""
    over, going = int8s(games.over, last), 0
    for number in range(first, last):
        if over[number] == 0:
            search.random = load(games.random, number)
            own = state_of(rules, state, number, games)
            store(games.actions, number, reply(rules, own, number, games, search))
            store(games.random, number, search.random)
            going += 1
    return going


def observe(rules: Rules, state: Any, observer: int, seen: int, number: int, spare: int, form: Any) -> None:
    """Writes what a seat observes of a state: number ``number`` of the observations at address ``seen``.

    At ``spare`` are words for a state that may be written to; ``form`` is a record with ``observed``, how many
    numbers there are, and ``position_words``.
    """
    if GAMES.wide:
        wide = words(seen + 8 * number * form.observed, form.observed)
        wide[:] = 0
        rules.write_observation(state, observer, wide)
        return
    numbers = int8s(seen + number * form.observed, form.observed)
    numbers[:] = 0
    if GAMES.observes:
        rules.write_observation(state, observer, numbers)
    else:
        store_state(state, spare)
        for place in range(form.position_words):
            word = load(spare, place)
            for bit in range(64):
                numbers[64 * place + bit] = word >> bit & 1
        numbers[64 * form.position_words + observer] = 1
