"""Best reply, compiled: what the opponents can choose together, as ``RepliesGame`` has it."""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.kernels.layout import TOO_DEEP
from zermelo.agents.tree_search.compiled.record import GeneralRecord
from zermelo.envs.jit.memory import load, store, words
from zermelo.envs.rules.protocol import Rules

_CHANCE: Final = -1


def codes_of(top: int, search: GeneralRecord) -> int:
    """The address of the opponents' choices, behind room for their numbers and move scores."""
    return top + 16 * search.width


def is_settled(rules: Rules, state: Any, search: GeneralRecord) -> bool:
    """Whether no opponent is to move."""
    if rules.is_terminal(state):
        return True
    mover = rules.to_move(state)
    return mover == search.root_seat or mover == _CHANCE


def usual_action(rules: Rules, state: Any, search: GeneralRecord) -> int:
    """The action of an opponent that does not choose."""
    actions = search.scratch
    count = rules.legal_actions(state, words(actions, search.width))
    usual = load(actions, 0)
    most = rules.ordering_hint(state, usual)
    for index in range(1, count):
        hint = rules.ordering_hint(state, load(actions, index))
        if hint > most:
            most = hint
            usual = load(actions, index)
    return usual


def step(rules: Rules, state: Any, search: GeneralRecord) -> Any:
    """One opponent that does not choose moves as usual, or skips its turn."""
    if search.passes != 0:
        return rules.pass_turn(state)
    return rules.result(state, usual_action(rules, state, search))


def play_on(rules: Rules, state: Any, chooser: int, search: GeneralRecord) -> tuple[Any, int]:
    """The state after opponents that do not choose, and who chooses there: -1 if the seat moves, or nobody."""
    steps = 0
    while not is_settled(rules, state, search):
        mover = rules.to_move(state)
        if chooser < 0 or mover == chooser:
            return state, chooser
        if search.passes != 0 and steps == search.seats:  # everybody has: somebody must move
            return state, mover
        state = step(rules, state, search)
        steps += 1
        if steps > MAX_PLIES:
            search.stop = TOO_DEEP
            break
    if rules.is_terminal(state) or rules.to_move(state) == search.root_seat:
        return state, -1
    return state, chooser


def list_replies(rules: Rules, state: Any, chooser: int, codes: int, search: GeneralRecord) -> int:
    """Writes what the opponents can choose; how many choices there are.

    A choice is written as the steps before it times ``actions + 1``, plus the action; with ``actions`` itself in
    its place nobody chooses until chance moves.
    """
    radix = search.actions + 1
    legal = codes + 8 * search.width
    passing = search.passes != 0
    count = steps = passed = as_usual = 0
    while not is_settled(rules, state, search) and steps <= MAX_PLIES:
        mover = rules.to_move(state)
        if passed >> mover & 1 != 0:
            if passing:
                break  # everybody has skipped a turn
        else:
            number = rules.legal_actions(state, words(legal, search.width))
            skipped = -1 if passing else usual_action(rules, state, search)
            for index in range(number):
                action = load(legal, index)
                # Once all of them could have played as usual, that of the next ones is the same choice.
                if action == skipped and chooser < 0 and search.seats > 2:
                    after = play_on(rules, rules.result(state, action), mover, search)
                    if after[1] < 0:
                        as_usual += 1
                        if as_usual > 1:
                            continue
                store(codes, count, steps * radix + action)
                count += 1
            if chooser >= 0:
                return count
            passed |= 1 << mover
        state = step(rules, state, search)
        steps += 1
    if steps > MAX_PLIES:
        search.stop = TOO_DEEP
    elif search.seats > 2 and not rules.is_terminal(state) and rules.to_move(state) == _CHANCE:
        store(codes, count, steps * radix + search.actions)
        count += 1
    return count


def choose_reply(rules: Rules, state: Any, code: int, search: GeneralRecord) -> tuple[Any, int]:
    """The state after a choice, and who chooses there."""
    radix = search.actions + 1
    for _ in range(code // radix):
        state = step(rules, state, search)
    action = code % radix
    if action == search.actions:
        return state, -1
    mover = rules.to_move(state)
    return play_on(rules, rules.result(state, action), mover, search)
