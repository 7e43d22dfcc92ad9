"""Self-play of backgammon and Hypergammon, and how networks learn from it: compiled, for ``fit_backgammon``."""

from __future__ import annotations

from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt

from zermelo.envs import CHANCE
from zermelo.envs.games import Backgammon, Hypergammon
from zermelo.envs.games.backgammon import bear_off
from zermelo.envs.games.backgammon import features as parts
from zermelo.envs.games.backgammon import network as networks
from zermelo.envs.games.backgammon.features import BLOCKS, FEATURES, MOST_ENTRIES, RACE
from zermelo.envs.games.backgammon.network import CONTACT, LAST_BIASES, LAST_LAYERS, OUTPUTS, ROWS, UNIT
from zermelo.envs.jit.compiling import Functions, prepare
from zermelo.envs.rules import bits

Floats = npt.NDArray[np.float32]

GAMMA: Final = -7046029254386353131
"""Increment of SplitMix64's state for each number (0x9E3779B97F4A7C15, as a signed integer)."""
LONGEST: Final = 2000
"""Rolls after which a game is given up; hardly any is."""
LARGEST: Final = {
    "spare": 3, "bar": 2, "shut_out": 36, "off": 10, "shots": 15, "at_risk": 15, "home_risk": 40, "trapped": 12,
    "stuck": 60, "hit": 15, "two_hit": 6, "blocked": 20, "contact": 60, "barred": 18, "barrier": 18, "lead": 32,
    "count": 4,
}  # fmt: skip
"""By what features are divided while networks learn, so that they are all about as large; others by 1."""
WINS: Final = len(OUTPUTS)
BATCH: Final = 512
"""Labels for each step of learning."""
TRIES: Final = 4
"""One play in so many is chosen with some points added at random, up to ``SPREAD`` to each play."""
SPREAD: Final = 0.2

for kind in (Backgammon, Hypergammon):
    prepare(kind)  # so that compiled code may call the methods of the rules

compiled = Functions().compiled
features, network_of = compiled(parts.features), compiled(networks.network_of)
is_at_home, chances_at_home = compiled(bear_off.is_at_home), compiled(bear_off.chances_at_home)


def _scales() -> Floats:
    scales = np.ones(FEATURES, np.float32)
    for name, start, size in BLOCKS:
        scales[start : start + size] = 1 / LARGEST.get(name.split()[-1], 1)
    return scales


def by_row(scales: Floats) -> Floats:
    return np.concatenate((scales[:RACE], scales, np.ones(ROWS - LAST_LAYERS, np.float32)))


SCALES: Final = _scales()
LARGEST_WEIGHTS: Final[Floats] = (0.999 * (1 << 15) / UNIT / by_row(SCALES)).astype(np.float32)
"""The largest weights that files can have."""


@numba.njit(fastmath=True, nogil=True)
def forward(position: Any, weights: Any, room: Any) -> tuple[int, int]:
    """Writes hidden units and chances into a room; the network's number, and how many features there are."""
    indices, values, hidden, chances, _ = room
    low, high, other_low, other_high = position
    count = features(low, high, other_low, other_high, 0, indices, values)
    network = network_of(low, high, other_low, other_high, indices[0])
    first = 0 if network == CONTACT else RACE
    hidden[:] = 0
    for entry in range(count):
        value = np.float32(values[entry]) * SCALES[indices[entry]]
        row = first + indices[entry]
        for unit in range(len(hidden)):
            hidden[unit] += weights[row, unit] * value
    for unit in range(len(hidden)):
        hidden[unit] = max(hidden[unit], np.float32(0))
    for output in range(WINS):
        row = LAST_LAYERS + WINS * network + output
        total = weights[LAST_BIASES, WINS * network + output]
        for unit in range(len(hidden)):
            total += weights[row, unit] * hidden[unit]
        chances[output] = 1 / (1 + np.exp(-total))
    if other_low & 15:  # who has borne off a checker cannot lose a gammon
        chances[1:3] = 0
    if low & 15:
        chances[3:5] = 0
    return network, count


@numba.njit(nogil=True)
def are_at_home(low: int, high: int, other_low: int, other_high: int) -> bool:
    """Whether the table of bear-offs is what counts."""
    return is_at_home(low, high) and is_at_home(other_low, other_high)


@numba.njit(nogil=True)
def look(position: Any, weights: Any, room: Any) -> Any:
    """A position's chances, by the networks or the table of bear-offs."""
    low, high, other_low, other_high = position
    chances = room[3]
    if not are_at_home(low, high, other_low, other_high):
        forward(position, weights, room)
        return chances
    win, gammon, lost_gammon = chances_at_home(low, other_low)
    chances[:] = 0
    chances[0] = win / (1 << 28)
    chances[1] = gammon / (1 << 28)
    chances[3] = lost_gammon / (1 << 28)
    return chances


@numba.njit(fastmath=True, nogil=True)
def learn(position: Any, targets: Any, weights: Any, rate: Any, into: Any, room: Any) -> float:
    """Adds a step down the log loss, which moves chances towards targets; the squared error of a win.

    It is added to the weights themselves, or to an array of their shape.
    """
    indices, values, hidden, chances, slope = room
    network, count = forward(position, weights, room)
    first = 0 if network == CONTACT else RACE
    slope[:] = 0
    for output in range(WINS):
        if position[2 if output < 3 else 0] & 15 and output > 0:
            continue
        row = LAST_LAYERS + WINS * network + output
        error = targets[output] - chances[output]
        for unit in range(len(hidden)):
            slope[unit] += weights[row, unit] * error
            into[row, unit] += rate * error * hidden[unit]
        into[LAST_BIASES, WINS * network + output] += rate * error
    for unit in range(len(hidden)):
        slope[unit] *= rate if hidden[unit] > 0 else np.float32(0)
    for entry in range(count):
        value = np.float32(values[entry]) * SCALES[indices[entry]]
        row = first + indices[entry]
        for unit in range(len(hidden)):
            into[row, unit] += value * slope[unit]
    return (targets[0] - chances[0]) ** 2


@numba.njit(nogil=True)
def equity(rules: Any, state: Any, seat: int, weights: Any, room: Any) -> float:
    """A seat's expected points after its play."""
    if rules.is_terminal(state):
        return float(rules.utility(state, seat))
    chances = look((state.low, state.high, state.other_low, state.other_high), weights, room)
    worth = 2 * chances[0] - 1
    for points in range(2, rules.most_points + 1):
        worth += chances[points - 1] - chances[points + 1]
    return worth if state.seat == seat else -worth


@numba.njit(nogil=True)
def drawn(dice: Any, number: int) -> int:
    """A number from 0 on, drawn by SplitMix64."""
    dice[0] += GAMMA
    return bits.shift_right(bits.mix(dice[0]), 11) % number


@numba.njit(nogil=True)
def best(
    rules: Any, state: Any, weights: Any, room: Any, actions: Any, halves: Any, dice: Any, spread: float
) -> Any:
    """The state after the play of a roll that looks best, of a double as well.

    To each play up to ``spread`` points are added by dice.
    """
    count = rules.legal_actions(state, actions)
    chosen, most = state, -np.inf
    for index in range(count):
        child = rules.result(state, actions[index])
        again = 1
        half = not rules.is_terminal(child) and rules.to_move(child) != CHANCE
        if half:
            again = rules.legal_actions(child, halves)
        for number in range(again):
            after = rules.result(child, halves[number]) if half else child
            worth = equity(rules, after, state.seat, weights, room)
            if spread > 0:
                worth += spread * drawn(dice, 1 << 20) / (1 << 20)
            if worth > most:
                most, chosen = worth, after
    return chosen


@numba.njit(nogil=True)
def roll(rules: Any, state: Any, dice: Any, outcomes: Any, chances: Any) -> Any:
    """The state after a roll, drawn by SplitMix64."""
    count = rules.chance_outcomes(state, outcomes, chances)
    left, index = drawn(dice, 1 << 53) / (1 << 53), 0
    while index < count - 1 and left >= chances[index]:
        left -= chances[index]
        index += 1
    return rules.result(state, outcomes[index])


@numba.njit(nogil=True)
def new_room(hidden: int) -> Any:
    entries = np.empty(MOST_ENTRIES, np.int64), np.empty(MOST_ENTRIES, np.int64)
    units = np.empty(hidden, np.float32), np.empty(WINS, np.float32), np.empty(hidden, np.float32)
    return (*entries, *units)


@numba.njit(nogil=True)
def play(rules: Any, first: Any, second: Any, dice: Any, positions: Any) -> tuple[int, int]:
    """A game between two networks: how many positions before a roll it wrote down, and the first's points."""
    room, other_room = new_room(first.shape[1]), new_room(second.shape[1])
    actions, halves = np.empty(rules.num_actions(), np.int64), np.empty(rules.num_actions(), np.int64)
    outcomes, chances = np.empty(64, np.int64), np.empty(64, np.float64)
    state = rules.initial_state()
    length = 0
    while not rules.is_terminal(state):
        if rules.to_move(state) == CHANCE:
            if length == len(positions):
                return length, 0
            if state.roll == 0:
                row = positions[length]
                row[0], row[1], row[2], row[3] = state.low, state.high, state.other_low, state.other_high
                length += 1
            state = roll(rules, state, dice, outcomes, chances)
        elif state.seat == 0:
            state = best(rules, state, first, room, actions, halves, dice, 0.0)
        else:
            state = best(rules, state, second, other_room, actions, halves, dice, 0.0)
    return length, rules.utility(state, 0)


@numba.njit(nogil=True)
def turn_around(chances: Any, found: Any) -> None:
    """Writes the chances of the other player."""
    found[0] = 1 - chances[0]
    found[1], found[2], found[3], found[4] = chances[3], chances[4], chances[1], chances[2]


@numba.njit(nogil=True)
def self_play(rules: Any, weights: Any, games: int, rate: Any, dice: Any) -> tuple[int, float]:
    """Games from which the networks learn: how many rolls there were, and the sum of squared errors."""
    room = new_room(weights.shape[1])
    positions = np.empty((LONGEST, 4), np.int64)
    targets = np.empty(WINS, np.float32)
    rolls, errors = 0, 0.0
    for _ in range(games):
        length, points = play(rules, weights, weights, dice, positions)
        if points == 0:
            continue
        rolls += length
        for number in range(length - 1, -1, -1):
            one = positions[number]
            if number == length - 1:  # who rolls last wins
                targets[:] = 0
                targets[: abs(points)] = 1
            else:
                after = positions[number + 1]
                turn_around(look((after[0], after[1], after[2], after[3]), weights, room), targets)
            errors += learn((one[0], one[1], one[2], one[3]), targets, weights, rate, weights, room)
    return rolls, errors


@numba.njit(nogil=True)
def chances_after(rules: Any, state: Any, seat: int, weights: Any, room: Any, found: Any) -> None:
    """Writes a seat's chances after its play, which ends the game only if it wins."""
    found[:] = 0
    if rules.is_terminal(state):
        found[: rules.utility(state, seat)] = 1
    else:
        turn_around(look((state.low, state.high, state.other_low, state.other_high), weights, room), found)


@numba.njit(nogil=True)
def label(rules: Any, weights: Any, share: float, dice: Any, positions: Any, targets: Any) -> int:
    """Plays games until there is no room, and labels their positions before a roll; how many there are.

    A position's label is what all rolls make of it, and ``share`` of how the label of the next position differs
    from what the networks said of that one. Where another play than the best was tried, the rest of the
    game says nothing. A game ends where all are at home, as the table of bear-offs knows the rest. A third of the
    games begin with up to 13 random plays, which are not labelled.
    """
    room = new_room(weights.shape[1])
    actions, halves = np.empty(rules.num_actions(), np.int64), np.empty(rules.num_actions(), np.int64)
    outcomes, chances = np.empty(64, np.int64), np.empty(64, np.float64)
    said = np.empty((LONGEST, WINS), np.float32)
    goes_on = np.empty(LONGEST, np.bool_)
    after, turned = np.empty(WINS, np.float32), np.empty(WINS, np.float32)
    begin = count = 0
    while True:
        state = rules.initial_state()
        random_plays = drawn(dice, 14) if drawn(dice, 3) == 0 else 0
        while not rules.is_terminal(state):
            if rules.to_move(state) != CHANCE:
                if random_plays > 0:
                    seat = state.seat
                    while not rules.is_terminal(state) and rules.to_move(state) != CHANCE and state.seat == seat:
                        legal = rules.legal_actions(state, actions)
                        state = rules.result(state, actions[drawn(dice, legal)])
                    random_plays -= 1
                else:
                    state = best(rules, state, weights, room, actions, halves, dice, 0.0)
                continue
            if state.roll != 0 or random_plays > 0:
                state = roll(rules, state, dice, outcomes, chances)
                continue
            if are_at_home(state.low, state.high, state.other_low, state.other_high):
                break
            if count == len(positions) or count - begin == LONGEST:
                return begin
            one = positions[count]
            one[0], one[1], one[2], one[3] = state.low, state.high, state.other_low, state.other_high
            rolls = rules.chance_outcomes(state, outcomes, chances)
            left, played, start = drawn(dice, 36), False, state
            tries = drawn(dice, TRIES) == 0
            for index in range(rolls):
                rolled = rules.result(start, outcomes[index])
                found = best(rules, rolled, weights, room, actions, halves, dice, 0.0)
                chances_after(rules, found, start.seat, weights, room, after)
                targets[count] += np.float32(chances[index]) * after
                left -= int(36 * chances[index] + 0.5)
                if left < 0 and not played:
                    state, played = found, True
                    said[count - begin] = after
                    if tries:
                        state = best(rules, rolled, weights, room, actions, halves, dice, SPREAD)
                    goes_on[count - begin] = state == found
            count += 1
        for index in range(count - 2, begin - 1, -1):
            if goes_on[index - begin]:
                turn_around(targets[index + 1], turned)
                targets[index] += share * (turned - said[index - begin])
        begin = count


@numba.njit(fastmath=True, nogil=True)
def teach(positions: Any, targets: Any, order: Any, weights: Any, moments: Any, rate: Any) -> float:
    """Moves chances towards labels, a batch at a time, by Adam; the mean squared error of a win.

    ``moments`` are the means of the steps and of their squares, each of the weights' shape.
    """
    room = new_room(weights.shape[1])
    means, squares = moments
    step = np.zeros_like(weights)
    errors = 0.0
    for place in range(0, len(order), BATCH):
        for index in order[place : place + BATCH]:
            one = positions[index]
            errors += learn(
                (one[0], one[1], one[2], one[3]), targets[index], weights, np.float32(1 / BATCH), step, room
            )
        for row in range(len(weights)):
            for unit in range(weights.shape[1]):
                new = step[row, unit]
                means[row, unit] += np.float32(0.1) * (new - means[row, unit])
                squares[row, unit] += np.float32(0.001) * (new * new - squares[row, unit])
                move = rate * means[row, unit] / (np.sqrt(squares[row, unit]) + np.float32(1e-8))
                most = LARGEST_WEIGHTS[row]
                weights[row, unit] = min(max(weights[row, unit] + move, -most), most)
                step[row, unit] = 0
    return errors / len(order)


@numba.njit(nogil=True)
def match(rules: Any, ours: Any, theirs: Any, games: int, seed: int) -> tuple[float, float]:
    """Mean points of the first networks against the second, and half the width of the 95 % interval."""
    dice = np.full(1, bits.mix(seed), np.int64)
    positions = np.empty((LONGEST, 4), np.int64)
    total, squares = 0.0, 0.0
    for game in range(games):
        if game % 2 == 0:
            points = play(rules, ours, theirs, dice, positions)[1]
        else:
            points = -play(rules, theirs, ours, dice, positions)[1]
        total += points
        squares += points * points
    mean = total / games
    return mean, 1.96 * np.sqrt((squares / games - mean * mean) / games)
