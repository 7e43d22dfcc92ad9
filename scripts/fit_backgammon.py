"""Fits the weights of the evaluation of backgammon by self-play, and writes them to a file.

Each round, the weights of the round before play thousands of games against themselves, each side looking one
action ahead; then, for each outcome (a win, a gammon won, a gammon lost) and for contact and race apart, a
logistic regression on the features of all positions before a roll gives the next weights. What is regressed on is
the lambda-return: a mixture of how the game ended and of what the last weights said on the way there (Sutton and
Barto, 2nd ed., chapter 12). The first round knows little more than who is ahead in pips.

python scripts/fit_backgammon.py --help
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import typer

from zermelo.agents.evaluators.fitted.observed import Entries
from zermelo.agents.learning.tuning.fitting import regress
from zermelo.envs import CHANCE
from zermelo.envs.games import Backgammon, Hypergammon
from zermelo.envs.games.backgammon import features as parts
from zermelo.envs.games.backgammon.features import BLOCKS, FEATURES, LOGIT, MOST_ENTRIES, OUTCOMES, as_text
from zermelo.envs.jit.compiling import Functions, prepare
from zermelo.envs.rules import bits

Weights = npt.NDArray[np.int64]

GAMMA: Final = -7046029254386353131
"""Increment of SplitMix64's state for each number (0x9E3779B97F4A7C15, as a signed integer)."""
CHUNK: Final = 250
"""Games that are played with one seed."""
LONGEST: Final = 1000
"""Rolls after which a game is given up; hardly any is."""
RIDGE: Final = 10.0
"""Strength with which weights are held near those before, in positions."""
RACE: Final = next(start for name, start, _ in BLOCKS if name.startswith("race"))
FIRST: Final = {"lead": 145, "race, lead": 145, "other's shots": 60, "other's home_risk": 20}
"""Weights of the first round: pips decide as the normal distribution of rolls says, and blots are minded."""

# -- compiled self-play -------------------------------------------------------------------------------------------

for kind in (Backgammon, Hypergammon):
    prepare(kind)  # so that compiled code may call the methods of the rules

compiled = Functions().compiled
features, chance_of, weighted = compiled(parts.features), compiled(parts.chance), compiled(parts.weighted)


@numba.njit
def seen(rules: Any, state: Any, seat: int, weights: Any) -> int:
    """Value of a state for a seat under some weights, in 1024ths."""
    if rules.is_terminal(state):
        return 1024 * rules.utility(state, seat)
    worth = rules.estimate(state, weights)
    return worth if state.seat == seat else -worth


@numba.njit
def roll(rules: Any, state: Any, buffers: Any) -> Any:
    """The state after a roll, drawn by SplitMix64; the generator's state is the first of ``dice``."""
    _, outcomes, chances, dice = buffers
    count = rules.chance_outcomes(state, outcomes, chances)
    dice[0] += GAMMA
    drawn, index = bits.shift_right(bits.mix(dice[0]), 11) / (1 << 53), 0
    while index < count - 1 and drawn >= chances[index]:
        drawn -= chances[index]
        index += 1
    return rules.result(state, outcomes[index])


@numba.njit
def best(rules: Any, state: Any, weights: Any, actions: Any) -> Any:
    """The state after the action that looks best one move ahead."""
    count = rules.legal_actions(state, actions)
    chosen, most = rules.result(state, actions[0]), -(1 << 40)
    for index in range(count):
        child = rules.result(state, actions[index])
        worth = seen(rules, child, state.seat, weights)
        if worth > most:
            most, chosen = worth, child
    return chosen


@numba.njit
def play(rules: Any, weights: Any, positions: Any, buffers: Any) -> tuple[int, int]:
    """One game, the positions before each roll written down: their number, and the first player's points.

    The points are 0 if the game was given up.
    """
    state = rules.initial_state()
    length = 0
    while not rules.is_terminal(state):
        if rules.to_move(state) == CHANCE:
            if length == positions.shape[0]:
                return length, 0
            if state.roll == 0:
                row = positions[length]
                row[0], row[1], row[2], row[3], row[4] = (
                    state.low, state.high, state.other_low, state.other_high, state.seat,
                )  # fmt: skip
                length += 1
            state = roll(rules, state, buffers)
        else:
            state = best(rules, state, weights, buffers[0])
    return length, rules.utility(state, 0)


@numba.njit
def returns(positions: Any, length: int, points: int, weights: Any, mixed: float, targets: Any) -> None:
    """The lambda-returns of a game's positions, for the player to move: a win, a gammon won, a gammon lost."""
    indices, values = np.empty(MOST_ENTRIES, np.int64), np.empty(MOST_ENTRIES, np.int64)
    for number in range(length - 1, -1, -1):
        if number == length - 1:
            mine = points if positions[number, 4] == 0 else -points
            targets[number, 0] = 1.0 if mine > 0 else 0.0
            targets[number, 1] = 1.0 if mine > 1 else 0.0
            targets[number, 2] = 1.0 if mine < -1 else 0.0
            continue
        after = positions[number + 1]
        count = features(after[0], after[1], after[2], after[3], 0, indices, values)
        for outcome in range(3):
            other = 0 if outcome == 0 else 3 - outcome
            looks = chance_of(weighted(indices, values, count, weights, other)) / parts.CERTAIN
            if (other == 1 and after[2] & 15) or (other == 2 and after[0] & 15):
                looks = 0.0  # who has borne off a checker cannot lose a gammon
            told = mixed * targets[number + 1, other] + (1.0 - mixed) * looks
            targets[number, outcome] = 1.0 - told if outcome == 0 else told


@numba.njit
def new_buffers(rules: Any, seed: int) -> Any:
    """Room for actions, for rolls and their chances, and the dice."""
    dice = np.full(1, bits.mix(seed), np.int64)
    return np.empty(rules.num_actions(), np.int64), np.empty(64, np.int64), np.empty(64, np.float64), dice


@numba.njit
def play_many(rules: Any, weights: Any, games: int, mixed: float, seed: int, longest: int) -> Any:
    buffers = new_buffers(rules, seed)
    positions, targets = np.empty((games * longest, 5), np.int64), np.empty((games * longest, 3))
    one, aims = np.empty((longest, 5), np.int64), np.empty((longest, 3))
    lengths = np.empty(games, np.int64)
    filled = gammons = backgammons = 0
    for game in range(games):
        points = 0
        while points == 0:
            length, points = play(rules, weights, one, buffers)
        gammons += abs(points) > 1
        backgammons += abs(points) > 2
        returns(one, length, points, weights, mixed, aims)
        positions[filled : filled + length] = one[:length]
        targets[filled : filled + length] = aims[:length]
        filled += length
        lengths[game] = length
    return positions[:filled].copy(), targets[:filled].copy(), lengths, gammons, backgammons


# -- features -----------------------------------------------------------------------------------------------------


@numba.njit
def entries_of(positions: Any) -> Any:
    """The features of positions: which are not zero, their values, and how many, a row each."""
    number = len(positions)
    indices, values = np.zeros((number, MOST_ENTRIES), np.int16), np.zeros((number, MOST_ENTRIES), np.int32)
    counts = np.empty(number, np.int64)
    some, their = np.empty(MOST_ENTRIES, np.int64), np.empty(MOST_ENTRIES, np.int64)
    for row in range(number):
        low, high, other_low, other_high, _ = positions[row]
        counts[row] = features(low, high, other_low, other_high, 0, some, their)
        indices[row], values[row] = some, their
    return indices, values, counts


def as_entries(entries: Any) -> Entries:
    """The same, one position after another."""
    indices, values, counts = entries
    used = np.arange(MOST_ENTRIES) < counts[:, None]
    starts = np.concatenate(([0], np.cumsum(counts)))
    seats = np.zeros(len(counts), np.int64)
    return Entries(indices[used].astype(np.int64), values[used].astype(np.float64), starts, seats)


# -- rounds -------------------------------------------------------------------------------------------------------


def first_weights() -> Weights:
    weights = np.zeros((len(OUTCOMES), FEATURES + 1), np.int64)
    for name, start, _ in BLOCKS:
        weights[0, start] = FIRST.get(name, 0)
    for outcome in (1, 2):
        weights[outcome, [start for name, start, _ in BLOCKS if name.endswith("to_move")]] = -2 * LOGIT
    return weights


class Games(NamedTuple):
    """Games of self-play: positions, lambda-returns, positions of each game, and how many gammons."""

    positions: Any
    targets: Any
    lengths: Any
    gammons: int
    backgammons: int


def self_play(rules: Any, weights: Weights, games: int, mixed: float, seed: int) -> Games:
    sizes = [(start, min(CHUNK, games - start)) for start in range(0, games, CHUNK)]
    chunks = [play_many(rules, weights, size, mixed, seed + start, LONGEST) for start, size in sizes]
    *arrays, gammons, backgammons = zip(*chunks, strict=True)
    return Games(*map(np.concatenate, arrays), sum(gammons), sum(backgammons))


def fitted(before: Weights, games: Games) -> Weights:
    """The next weights, sought from those before; prints the quality of each regression."""
    entries = entries_of(games.positions)
    told, race = as_entries(entries), entries[0][:, 0] >= RACE
    in_races = np.arange(FEATURES) >= RACE
    kept_apart = np.arange(len(games.positions)) >= games.lengths[: len(games.lengths) * 9 // 10 + 1].sum()
    weights = np.zeros((len(OUTCOMES), FEATURES + 1), np.int64)
    for where, here in (("contact", ~race), ("race", race)):
        for outcome, name in enumerate(OUTCOMES):
            possible = here
            if outcome:  # who has borne off a checker cannot lose a gammon
                possible = here & (games.positions[:, 2 if outcome == 1 else 0] & 15 == 0)
            aims = games.targets[:, outcome]
            train, test = np.flatnonzero(possible & ~kept_apart), np.flatnonzero(possible & kept_apart)
            begin = np.where(in_races == (where == "race"), before[outcome, :FEATURES] / LOGIT, 0.0)
            fit = regress(told, aims, train, test, begin, ridge=RIDGE)
            weights[outcome, :FEATURES] += np.rint(fit.weights * LOGIT).astype(np.int64)
            print(f"{where:7} {name:12} {len(train):9,} positions  loss {fit.loss:.4f} of {fit.average:.4f}")
    weights[0, FEATURES] = round(1024 * games.backgammons / max(games.gammons, 1))
    return weights


def main(
    games: Annotated[int, typer.Option(min=20, help="Games of self-play in each round.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="How often to play and fit.")] = 4,
    mixed: Annotated[
        float,
        typer.Option("--lambda", min=0.0, max=1.0, help="1: how games end; 0: what the next position is worth."),
    ] = 0.9,
    seed: Annotated[int, typer.Option(min=0, help="Of all dice.")] = 1,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("weights.json"),
) -> None:
    """Fits the weights of the evaluation of backgammon and Hypergammon, and writes them to a file.

    Log losses are on a tenth of the games that is kept apart, beside those of always answering the average.

    Example: python scripts/fit_backgammon.py --games 10000 --rounds 4 --seed 1 --out weights.json
    """
    found = {}
    for rules in (Backgammon(3), Hypergammon(3)):
        weights = first_weights()
        for number in range(1, rounds + 1):
            print(f"{type(rules).__name__}, round {number}")
            played = self_play(rules, weights, games, mixed, (100 * seed + number) << 32)
            weights = fitted(weights, played)
        found[type(rules).__name__] = weights
    out.write_text(as_text(found))


if __name__ == "__main__":
    typer.run(main)
