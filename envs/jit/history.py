"""Repetition and superko in compiled code: rules over states that know the keys on the path to them.

Kernels search depth first, so the keys of the path can lie on one stack. A state knows how many of them are its
own: ``result`` puts the next one there, in the place of what another branch has left. The kernels know nothing of
it: they are compiled for ``PathRules`` in the place of rules with ``repetition_key``, and for other rules as they
are. In plain Python the same is ``zermelo.envs.rules.history``.

A table's key of a state is the rules' own, exclusive-or a signature: a hash of the positions that can come again,
and how often each has been, whatever their order. So it is as in plain Python, where it is no hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zermelo.envs.jit.memory import load, store, words
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.history import has_history, keys_of, without_past
from zermelo.envs.rules.protocol import Rules


class PathState(NamedTuple):
    """A state and its path.

    Attributes:
        position: The rules' own state.
        length: How many keys of the stack are on the path, its own included.
        occurrences: How often the position has been on it, this time included.
        signature: Of those before it that can come again; 0 where tables are to ignore them.
        since: One more than how many states ago there was a position that can come again, and then reaches the
            limit; 0 if there was none.
    """

    position: Any
    length: int
    occurrences: int
    signature: int
    since: int


class PathRules(NamedTuple):
    """Rules over ``PathState``, as kernels call them.

    Methods that are not here are the defaults: kernels do not ask them of a path, or they are right on it.

    Attributes:
        rules: The rules.
        stack: The address of two words for each state on the path: its key, and all marks (``mark_of``) up to it.
            The word before them is 0; that before it is ``back_to_illegal``. Behind them is room for the actions
            of a state.
        room: How many states the stack has room for.
        shares: Whether tables take a position for the same whatever was before it.
    """

    rules: Rules
    stack: int
    room: int
    shares: int

    def initial_state(self) -> PathState:
        """The initial state, with nothing on the stack. Never compiled."""
        return PathState(self.rules.initial_state(), 0, 1, 0, 0)

    def legal_actions(self, state: PathState, actions: Any) -> int:
        """Without those that reach the limit, where that is illegal."""
        rules = self.rules
        count = rules.legal_actions(state.position, actions)
        if not rules.repetition_is_illegal():
            return count
        kept = 0
        farthest = 0
        for index in range(count):
            position = rules.result(state.position, actions[index])
            key = rules.repetition_key(position)
            first = max(state.length - rules.reversible_plies(position), 0)
            if occurrences_of(self, key, first, state.length) < rules.repetition_limit():
                actions[kept] = actions[index]
                kept += 1
            else:
                farthest = max(farthest, state.length - 1 - place_of(self, key, first, state.length))
        if kept == 0:
            raise ValueError("every action repeats a position, which is illegal")
        store(self.stack, -2, farthest)
        return kept

    def result(self, state: PathState, action: int) -> PathState:
        return follow(self, state, self.rules.result(state.position, action))

    def pass_turn(self, state: PathState) -> PathState:
        return follow(self, state, self.rules.pass_turn(state.position))

    def mirror_image(self, state: PathState) -> PathState:
        """Of the position; the path stays as it is."""
        position = self.rules.mirror_image(state.position)
        return PathState(position, state.length, state.occurrences, state.signature, state.since)

    def is_terminal(self, state: PathState) -> bool:
        rules = self.rules
        if not rules.repetition_is_illegal() and state.occurrences >= rules.repetition_limit():
            return True
        if rules.is_terminal(state.position):
            return True
        return rules.repetition_is_claimed() and state.since != 0 and back_of_claim(self, state) != 0

    def utility(self, state: PathState, seat: int) -> int:
        if self.rules.is_terminal(state.position):
            return self.rules.utility(state.position, seat)
        return self.rules.repetition_utility(state.position, seat)

    def count_legal(self, state: PathState, actions: Any) -> int:
        """The number of actions that ``legal_actions`` writes."""
        if self.rules.repetition_is_illegal():
            return self.legal_actions(state, actions)
        return self.rules.count_legal(state.position, actions)

    def key(self, state: PathState) -> int:
        return self.rules.key(state.position) ^ state.signature

    def table_horizon(self, state: PathState) -> int:
        """Not at all where a position of the past that can come again would end the game."""
        is_first = state.occurrences == 1 and self.rules.reversible_plies(state.position) == 0
        return self.rules.table_horizon(state.position) if is_first or state.since == 0 else 0

    def noisy_actions(self, state: PathState, actions: Any) -> int:
        """Of those that ``legal_actions`` writes."""
        if not self.rules.repetition_is_illegal():
            return self.rules.noisy_actions(state.position, actions)
        count = 0
        for index in range(self.legal_actions(state, actions)):
            action = actions[index]
            if self.rules.is_noisy(state.position, action):
                actions[count] = action
                count += 1
        return count

    # -- the rules' own, at the position; a playout may repeat one where that is illegal

    def to_move(self, state: PathState) -> int:
        return self.rules.to_move(state.position)

    def chance_outcomes(self, state: PathState, outcomes: Any, probabilities: Any) -> int:
        return self.rules.chance_outcomes(state.position, outcomes, probabilities)

    def evaluation(self, state: PathState, seat: int) -> int:
        return self.rules.evaluation(state.position, seat)

    def continues_move(self, state: PathState) -> bool:
        return self.rules.continues_move(state.position)

    def ordering_hint(self, state: PathState, action: int) -> int:
        return self.rules.ordering_hint(state.position, action)

    def is_noisy(self, state: PathState, action: int) -> bool:
        return self.rules.is_noisy(state.position, action)

    def is_urgent(self, state: PathState) -> bool:
        return self.rules.is_urgent(state.position)

    def is_losing(self, state: PathState, action: int) -> bool:
        return self.rules.is_losing(state.position, action)

    def is_known_win(self, state: PathState) -> bool:
        return self.rules.is_known_win(state.position)

    def playout_action(self, state: PathState, random: int) -> int:
        return self.rules.playout_action(state.position, random)

    def action_priors(self, state: PathState, actions: Any, count: int, priors: Any) -> int:
        return self.rules.action_priors(state.position, actions, count, priors)

    def bounds(self, state: PathState) -> tuple[int, int]:
        return self.rules.bounds(state.position)

    def proof_hint(self, state: PathState, action: int) -> int:
        return self.rules.proof_hint(state.position, action)

    def table_part(self, state: PathState) -> int:
        return self.rules.table_part(state.position)

    def table_index(self, state: PathState) -> int:
        return self.rules.table_index(state.position)

    def table_lead(self, state: PathState) -> int:
        return self.rules.table_lead(state.position)

    def table_repetition(self, state: PathState) -> int:
        return self.rules.table_repetition(state.position)

    def planes(self, state: PathState, seat: int) -> tuple[Any, ...]:
        return self.rules.planes(state.position, seat)

    def write_observation(self, state: PathState, seat: int, numbers: Any) -> None:
        self.rules.write_observation(state.position, seat, numbers)


def occurrences_of(path: PathRules, key: int, first: int, length: int) -> int:
    """How often a position would have been on the path, from number ``first`` on, if it came next."""
    count = 1
    if key != 0:
        for place in range(first, length):
            if load(path.stack, 2 * place) == key:
                count += 1
    return count


def place_of(path: PathRules, key: int, first: int, length: int) -> int:
    """The index of a position's first occurrence on the path, from ``first`` on."""
    place = first
    while place < length and load(path.stack, 2 * place) != key:
        place += 1
    return place


def mark_of(key: int, occurrence: int) -> int:
    """The term that the first, second, ... occurrence of a position adds to signatures."""
    return mix(key ^ mix(occurrence)) if key != 0 else 0


def follow(path: PathRules, state: PathState, position: Any) -> PathState:
    """The state of a position that comes after another state, its key put on the stack."""
    length = state.length
    if length >= path.room:
        raise OverflowError("the path is too long")
    key = path.rules.repetition_key(position)
    first = max(length - path.rules.reversible_plies(position), 0)
    occurrences = occurrences_of(path, key, first, length)
    marks = load(path.stack, 2 * length - 1)
    store(path.stack, 2 * length, key)
    store(path.stack, 2 * length + 1, marks ^ mark_of(key, occurrences))
    signature = 0 if path.shares != 0 else marks ^ load(path.stack, 2 * first - 1)
    since = state.since + 1 if 0 < state.since <= length - first else 0
    if key != 0 and occurrences >= path.rules.repetition_limit() - 1:
        since = 1
    return PathState(position, length + 1, occurrences, signature, since)


def back_of_claim(path: PathRules, state: PathState) -> int:
    """Plies since the first occurrence of a position that an action would repeat too often; 0 if none."""
    rules = path.rules
    actions = words(path.stack + 16 * path.room, rules.max_legal_actions())
    count = rules.legal_actions(state.position, actions)
    farthest = 0
    for index in range(count):
        position = rules.result(state.position, actions[index])
        key = rules.repetition_key(position)
        first = max(state.length - rules.reversible_plies(position), 0)
        if occurrences_of(path, key, first, state.length) >= rules.repetition_limit():
            farthest = max(farthest, state.length - 1 - place_of(path, key, first, state.length))
    return farthest


def back_to_end(path: Any, state: Any) -> int:
    """Plies since the first occurrence of the final position, if repetition ended the game; otherwise 0."""
    rules = path.rules
    if rules.repetition_is_illegal() or rules.is_terminal(state.position):
        return 0
    if state.occurrences < rules.repetition_limit():
        return back_of_claim(path, state)
    last: int = state.length - 1
    first = max(last - rules.reversible_plies(state.position), 0)
    return last - place_of(path, rules.repetition_key(state.position), first, last)


def has_been_before(path: Any, state: Any) -> bool:
    """Whether a state's position has been on the path to it."""
    return bool(state.occurrences > 1)


def forbids_repetition(path: Any) -> bool:
    """Whether what is legal in a state depends on the path to it."""
    return bool(path.rules.repetition_is_illegal())


def back_to_illegal(path: Any) -> int:
    """Plies since the first state that forbids an action of the state asked for last; otherwise 0."""
    return load(path.stack, -2) if path.rules.repetition_is_illegal() else 0


def path_rules_of(rules: Any) -> Any:
    """The rules that kernels are compiled for: ``PathRules`` for those with ``repetition_key``."""
    return PathRules(rules, 0, 0, 0) if has_history(rules) else rules


def argument_maker(rules: Any, moves: int, *, shares: bool = False) -> Callable[[Any], tuple[Any, Any]]:
    """A function of a state that gives what a kernel is called with: rules and state.

    With ``repetition_key`` they lie on one stack, with room for so many moves from there. ``shares`` says whether
    tables take a position for the same whatever was before it.
    """
    if not has_history(rules):
        return lambda state: (rules, state)
    stack = np.zeros(0, np.int64)
    width = int(method_or_default(rules, "max_legal_actions")())
    is_claimed = bool(method_or_default(rules, "repetition_is_claimed")())

    def start(state: Any) -> tuple[Any, Any]:
        nonlocal stack
        past, begun = _begun(rules, state)
        room = begun.length + moves
        size = 2 + 2 * room + (width if is_claimed else 0)
        if len(stack) < size:
            stack = np.zeros(size, np.int64)
        stack[1 : len(past) + 1] = past
        begun = begun._replace(signature=0) if shares else begun
        return PathRules(rules, stack.ctypes.data + 16, room, int(shares)), begun

    return start


def _begun(rules: Any, state: Any) -> tuple[list[int], PathState]:
    """The words of the stack at a state, and the state on it."""
    keys = keys_of(state) or (rules.repetition_key(state),)
    occurrences: Counter[int] = Counter()
    past = [0]
    for key in keys:
        occurrences[key] += 1
        past += key, past[-1] ^ mark_of(key, occurrences[key])
    count = occurrences[keys[-1]] if keys[-1] else 1
    limit = int(method_or_default(rules, "repetition_limit")())
    often = [place for place, key in enumerate(keys) if key and keys[: place + 1].count(key) >= limit - 1]
    since = len(keys) - often[-1] if often else 0
    return past, PathState(without_past(state), len(keys), count, past[-3], since)


def table_key(rules: Any, state: Any) -> tuple[Any, int]:
    """A state's key by itself, and the signature, exclusive-or which it is the key in compiled tables."""
    key = getattr(rules, "key", tuple)(state)
    return key, _begun(rules, state)[1].signature if has_history(rules) else 0
