"""The evaluation of backgammon: its features by hand, what it says of plain cases, whether it is calibrated."""

from __future__ import annotations

import importlib
import math
import random
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zermelo.envs import CHANCE
from zermelo.envs.games import Backgammon, Hypergammon
from zermelo.envs.games.backgammon import features as parts
from zermelo.envs.games.backgammon import network as networks
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.envs.rules import EVALUATION_UNIT, RulesGame

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


def words(mine: Mapping[int, int], theirs: Mapping[int, int], checkers: int = 15) -> tuple[int, int, int, int]:
    """A position from the numbers of checkers on places; all others are off."""
    found = []
    for side in (mine, theirs):
        counts = {0: checkers - sum(side.values()), **side}
        found.append(sum(n << 4 * p for p, n in counts.items() if p < 13))
        found.append(sum(n << 4 * (p - 13) for p, n in counts.items() if p >= 13))
    return found[0], found[1], found[2], found[3]


def named(mine: Mapping[int, int], theirs: Mapping[int, int], rolled: int = 0) -> dict[str, int]:
    """The features that are not zero, by name, with the number of the point where there are several."""
    indices, values = np.zeros(parts.MOST_ENTRIES, np.int64), np.zeros(parts.MOST_ENTRIES, np.int64)
    count = parts.features(*words(mine, theirs), rolled, indices, values)
    found = {}
    for index, value in zip(indices[:count].tolist(), values[:count].tolist(), strict=True):
        name, start, size = next(block for block in parts.BLOCKS if block[1] <= index < block[1] + block[2])
        found[f"{name} {index - start + 1}" if size > 1 else name] = value
    return found


def value(
    mine: Mapping[int, int], theirs: Mapping[int, int], most_points: int = 1, roll: int = 0, seat: int = 0
) -> float:
    """The evaluation of a position for the player to move, in points."""
    state = BackgammonState(*words(mine, theirs), seat, roll)
    return Backgammon(most_points).evaluation(state, seat) / EVALUATION_UNIT


def test_shots_are_the_known_ones() -> None:
    """How many of 36 rolls hit a blot 1 to 12 away, nothing being in the way (Magriel, Backgammon, 1976)."""
    alone = [int(parts.SHOTS[1 << distance]) for distance in range(12)]
    assert alone == [11, 12, 14, 15, 15, 17, 6, 6, 5, 3, 2, 3]
    assert parts.SHOTS[0b100001] == 24  # a six or a one: 20 rolls; 5-1 among them; 4-2, 3-3, 2-2 come to six
    assert parts.SHOTS[0] == 0


def test_what_stops_a_checker() -> None:
    assert parts.STOPS[0] == 0
    assert parts.STOPS[0b111111] == 36  # a full prime
    assert parts.STOPS[1 << 5] == 5 + 1  # six away: 5-1, 4-2 (two each) and 3-3; 6-6 does not start


def test_the_logistic_function() -> None:
    for odds in (-20, -9.99, -3, -0.01, 0, 0.3, 1, 5, 9.99, 20):
        expected = 1 / (1 + math.exp(-min(max(odds, -10), 10)))
        assert networks.chance(round(odds * networks.UNIT)) / networks.CERTAIN == pytest.approx(expected, abs=2e-4)


def test_which_network_evaluates_a_position() -> None:
    start = Backgammon(3).initial_state()
    contact = start.low, start.high, start.other_low, start.other_high
    assert networks.network_of(*contact, first_feature=0) == networks.CONTACT
    few = words({24: 1, 8: 2, 6: 3, 2: 5, 1: 4}, {13: 5, 8: 5, 6: 5})
    assert networks.network_of(*few, first_feature=0) == networks.CRASHED_CONTACT
    assert networks.network_of(*words({24: 1, 8: 2, 6: 4, 2: 4, 1: 4}, {13: 5, 8: 5, 6: 5}), 0) == networks.CONTACT
    assert networks.network_of(*words({6: 15}, {6: 15}), parts.RACE) == networks.RACES


def test_a_network_by_hand() -> None:
    """Two units of one feature each, one of them cut off at 0: log odds 3 * (2 * 2 + 0) + 1 of a win."""
    weights = np.zeros((networks.ROWS, 15), np.int16)
    to_move = parts.FEATURES - 1
    weights[parts.RACE + to_move, :2] = 2 * networks.UNIT, -2 * networks.UNIT
    row = networks.LAST_LAYERS + len(networks.OUTPUTS) * networks.RACES
    weights[row, :2] = networks.UNIT // 2, 7 * networks.UNIT
    weights[networks.LAST_BIASES, len(networks.OUTPUTS) * networks.RACES] = networks.UNIT // 4
    expected = 2 / (1 + math.exp(-(2 * 0.5 + 0.25))) - 1
    found = networks.expected(*words({7: 2}, {2: 2}), 0, 1, weights.ravel()) / 1024
    assert found == pytest.approx(expected, abs=2e-3)


def test_features_of_contact() -> None:
    mine = {24: 1, 13: 3, 8: 1, 7: 2, 6: 3, 5: 2, 4: 2}
    theirs = {25: 1, 20: 1, 6: 5, 3: 2, 13: 2}
    found = named(mine, theirs)
    pips, others = 24 + 39 + 8 + 14 + 18 + 10 + 8, 25 + 20 + 30 + 6 + 26
    expected = {
        **dict.fromkeys([f"own point {place}" for place in (4, 5, 6, 7, 13)], 1),
        **dict.fromkeys(["own blot 8", "own blot 24", "own spare 6", "own spare 13", "own off"], 1),
        "own prime 2": 1,  # four points, 4 to 7
        "own trapped": 4,  # only the checker on the bar is behind them
        "other's bar": 1,
        "other's shut_out": 9,  # three points made at home: 4, 5 and 6
        "other's off": 4,
        "lead": int(32 * (others - pips + 4) / math.sqrt(others + pips + 8)),
        "to_move": 1,
    }
    of_chance = ("shots", "at_risk", "home_risk", "hit", "stuck", "blocked", "contact", "barred")
    of_points = ("other's point", "other's blot", "other's spare")
    rest = {
        name: n
        for name, n in found.items()
        if not name.endswith(of_chance) and not name.startswith(of_points) and "barrier" not in name
    }
    assert rest == expected
    assert named(mine, theirs, rolled=6)["lead"] > found["lead"]


def test_the_other_player_has_the_same_features() -> None:
    one, two = {24: 2, 13: 4, 8: 3, 6: 5, 2: 1}, {25: 1, 22: 1, 13: 5, 8: 2, 6: 4}
    there, back, other = named(one, two), named(two, one), {"own": "other's", "other's": "own"}
    for name, number in there.items():
        side, _, rest = name.partition(" ")
        if rest:
            assert back[f"{other[side]} {rest}"] == number


def test_shots_at_blots() -> None:
    found = named({10: 1, 6: 2}, {20: 1, 6: 2})  # the other checker on its 20 is on 5: five before the blot on 10
    assert found["own shots"] == 15
    assert found["own at_risk"] == 15 * 15 >> 4
    assert found["own home_risk"] == 15  # one point made at home
    assert named({10: 2, 6: 2}, {20: 1, 6: 2}).get("own shots") is None


@pytest.mark.slow
def test_shots_are_what_the_rules_allow() -> None:
    """Rolls that hit, against all plays of all rolls; the rule to play both numbers forbids a few."""
    game, generator = RulesGame(Backgammon()), random.Random(5)
    state, seen, same = game.initial_state(), 0, 0
    while seen < 300:
        if game.is_terminal(state):
            state = game.initial_state()
        if game.to_move(state) != CHANCE:
            state = game.result(state, generator.choice(game.legal_actions(state)))
            continue
        rolls = dict(game.chance_outcomes(state))
        if state.roll == 0:
            position = state.low, state.high, state.other_low, state.other_high
            indices, values = np.zeros(parts.MOST_ENTRIES, np.int64), np.zeros(parts.MOST_ENTRIES, np.int64)
            count = parts.features(*position, 0, indices, values)
            found = dict(zip(indices[:count].tolist(), values[:count].tolist(), strict=True))
            starts = {name: start for name, start, _ in parts.BLOCKS}
            if min(found) < parts.RACE:
                hits = [hit_by(game, game.result(state, roll)) for roll in rolls]
                times = [round(36 * chance) for chance in rolls.values()]
                expected = [
                    sum(t for t, hit in zip(times, hits, strict=True) if len(hit) >= least) for least in (1, 2)
                ]
                got = [found.get(starts[f"other's {name}"], 0) for name in ("hit", "two_hit")]
                assert got[0] >= expected[0]
                same += got == expected
                seen += 1
        state = game.result(state, generator.choices(list(rolls), list(rolls.values()))[0])
    assert same / seen > 0.9


def hit_by(game: Any, state: BackgammonState) -> set[int]:
    """The points of the other player's blots that some play of a roll hits."""
    before, found = [parts.count_at(state.other_low, state.other_high, place) for place in range(26)], set()
    waiting = [state]
    while waiting:
        one = waiting.pop()
        for action in game.legal_actions(one):
            after = game.result(one, action)
            if not game.is_terminal(after) and after.seat == state.seat:
                waiting.append(after)  # half of a double
            sides = (after.low, after.high), (after.other_low, after.other_high)
            theirs = sides[after.seat == state.seat]
            found |= {place for place in range(1, 25) if before[place] == 1 and not parts.count_at(*theirs, place)}
    return found


def test_barriers() -> None:
    found = named({24: 1, 13: 14}, {9: 2, 8: 2, 7: 2, 6: 2, 5: 2, 4: 2, 3: 3})  # a full prime
    assert found["own barred"] == found["own stuck"] == 36
    assert [found[f"own barrier {number}"] for number in (1, 2, 3)] == [36, 18, 9]
    assert found["own blocked"] == 36 >> 3
    assert found["own contact"] == 24 - (25 - 9)
    assert found["other's contact"] == 2 * (8 + 7 + 6 + 5 + 4 + 3) + 3 * 2  # the checker on 24 is on the other's 1


def test_features_of_a_race() -> None:
    found = named({6: 3, 2: 1}, {5: 2})
    assert {name: n for name, n in found.items() if "count" in name} == {
        "race, own count 6": 3,
        "race, own count 2": 1,
        "race, other's count 5": 2,
    }
    assert not [name for name in found if not name.startswith("race")]


def test_plain_cases() -> None:
    home = {6: 5, 5: 5, 4: 5}
    assert value({1: 1}, home) > 0.98
    assert value(home, {1: 1}) < -0.98
    assert value({1: 2}, home, 3) > 1.8  # a gammon: they have borne off none
    assert value({1: 2}, {1: 2, 2: 3}, 3) <= 1
    assert -1.5 < value(home, {1: 2}, 3) < -1  # 27 of 36 rolls bear one off
    assert value({13: 15}, {1: 2}, 3) < -1.8
    ahead = value({6: 5, 5: 5, 4: 3}, {6: 5, 5: 5, 4: 5})
    assert 0 < value({6: 5, 5: 5, 4: 5}, {6: 5, 5: 5, 4: 5}) < ahead < 1  # who is to roll is ahead
    # closed out, with fourteen at home; a blot within reach; a prime
    shut = {6: 2, 5: 2, 4: 2, 3: 3, 2: 3, 1: 2}
    assert value(shut, {25: 1, 6: 5, 5: 5, 4: 4}) > 0.5
    safe, open_ = {13: 2, 8: 2, 6: 6, 5: 5}, {13: 3, 8: 1, 6: 6, 5: 5}
    other = {24: 2, 13: 5, 8: 3, 6: 5}
    assert value(other, safe) < value(other, open_)


def test_a_roll_that_is_known_counts() -> None:
    mine, theirs = {6: 5, 5: 5, 4: 5}, {6: 5, 5: 5, 4: 4, 3: 1}
    rolls = {
        (high, low): value(mine, theirs, roll=8 * high + low) for high in range(1, 7) for low in range(1, high + 1)
    }
    assert max(rolls, key=rolls.__getitem__) == (6, 6)
    assert min(rolls, key=rolls.__getitem__) == (2, 1)
    average = sum(worth * (1 if high == low else 2) for (high, low), worth in rolls.items()) / 36
    assert average == pytest.approx(value(mine, theirs), abs=0.05)


@pytest.mark.parametrize("most_points", [1, 3])
def test_half_a_double_is_worth_what_the_other_half_makes_of_it(most_points: int) -> None:
    rules = Backgammon(most_points)
    game, generator = RulesGame(rules), random.Random(11)
    halves = 0
    for _ in range(6):
        state = game.initial_state()
        while not game.is_terminal(state):
            if game.to_move(state) == CHANCE:
                outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
                state = game.result(state, generator.choices(outcomes, chances)[0])
                continue
            if state.roll >= 64:
                after = [game.result(state, action) for action in game.legal_actions(state)]
                worth = [
                    game.utility(child)[state.seat]
                    if game.is_terminal(child)
                    else game.evaluation(child)[state.seat]
                    for child in after
                ]
                certain = most_points - 1 / EVALUATION_UNIT
                assert game.evaluation(state)[state.seat] == min(max(worth), certain)
                halves += 1
            state = game.result(state, generator.choice(game.legal_actions(state)))
    assert halves > 20


def test_half_a_double_before_the_end() -> None:
    state = BackgammonState(*words({1: 2}, {1: 15}), 0, 64 * 1 + 8 * 1 + 1)
    assert Backgammon(1).evaluation(state, 0) == EVALUATION_UNIT - 1
    assert Backgammon(3).evaluation(state, 1) == -2 * EVALUATION_UNIT


@pytest.fixture(scope="module")
def fit() -> Any:
    """What the script and its compiled part define."""
    pytest.importorskip("numba")
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(SCRIPTS))
        script, self_play = map(importlib.import_module, ("fit_backgammon", "backgammon_self_play"))
    return SimpleNamespace(**vars(self_play) | vars(script))


def games(fit: Any, rules: Any, weights: Any, number: int) -> Any:
    """Positions of games that a network plays against itself, and the points for who is to roll in each."""
    dice = np.full(1, 987_654_321, np.int64)
    room = np.empty((fit.LONGEST, 4), np.int64)
    for _ in range(number):
        length, points = fit.play(rules, weights, weights, dice, room)
        for index in range(length):  # who rolls last wins
            yield room[index].tolist(), abs(points) * (-1) ** (length - 1 - index)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [Backgammon(3), Hypergammon(3)])
def test_chances_are_what_happens(fit: Any, rules: Any) -> None:
    """Positions said to be worth so much bring about so much; with whole numbers as with those that learned."""
    weights = networks.load_weights(networks.FILE)[type(rules).__name__]
    floats = fit.as_floats(weights)
    assert (fit.as_weights(floats) == weights).all()
    room = fit.new_room(weights.shape[1])
    told, happened = [], []
    for index, (position, points) in enumerate(games(fit, rules, floats, 16_000)):
        if index % 10:
            continue
        told.append(networks.expected(*position, 0, 3, weights.ravel()) / 1024)
        happened.append(points)
        if index % 500 == 0:
            state = BackgammonState(*position, 0, 0)
            assert fit.equity(rules, state, 0, floats, room) == pytest.approx(told[-1], abs=5e-3)
    said, came = np.array(told), np.array(happened)
    for least in np.arange(-1, 1, 0.2):
        here = (said >= least) & (said < least + 0.2)
        assert here.sum() > 200
        assert came[here].mean() == pytest.approx(said[here].mean(), abs=0.15), least


@pytest.mark.slow
def test_the_script_learns_and_goes_on(fit: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = tmp_path / "first.npz", tmp_path / "again.npz"
    for out in (first, again):
        fit.main(out, games=3000, rounds=0, hidden=20, rate=0.02, last_rate=0.02, seed=2)
    learned = networks.load_weights(first)
    assert learned.keys() == {"Backgammon", "Hypergammon"}
    for name, weights in networks.load_weights(again).items():
        assert (weights == learned[name]).all()
    rules = Backgammon(3)
    started = fit.first_floats(20, 2)
    points, half = fit.match(rules, fit.as_floats(learned["Backgammon"]), started, 400, 3)
    assert points - half > 0.5
    fit.main(first, games=0, rounds=2, labels=20_000, threads=2, seed=2)
    taught = networks.load_weights(first)["Backgammon"]
    points, half = fit.match(rules, fit.as_floats(taught), fit.as_floats(learned["Backgammon"]), 2000, 3)
    assert points - half > 0
    assert "points a game" in capsys.readouterr().out


@pytest.mark.slow
def test_labels_are_what_all_rolls_make_of_positions(fit: Any) -> None:
    rules, weights = Backgammon(3), fit.first_floats(20, 5)
    game, room = RulesGame(rules), fit.new_room(20)

    def points(chances: Any) -> float:
        return float(2 * chances[0] - 1 + chances[1] + chances[2] - chances[3] - chances[4])

    def worth(state: BackgammonState) -> float:
        """The expected points of seat 0 once its play, or its roll and the play after it, are over."""
        if game.is_terminal(state) or (game.to_move(state) == CHANCE and state.seat == 1):
            return float(fit.equity(rules, state, 0, weights, room))
        if game.to_move(state) == CHANCE:
            return sum(chance * worth(game.result(state, roll)) for roll, chance in game.chance_outcomes(state))
        return max(worth(game.result(state, action)) for action in game.legal_actions(state))

    found = []
    for share in (0.0, 0.7):
        positions, labels = np.zeros((2000, 4), np.int64), np.zeros((2000, 5), np.float32)
        count = fit.label(rules, weights, np.float32(share), np.full(1, 11, np.int64), positions, labels)
        found.append((positions[:count], labels[:count]))
    (positions, plain), (again, mixed) = found
    assert (positions == again).all()
    for index in range(0, len(positions), 40):
        state = BackgammonState(*positions[index].tolist(), 0, 0)
        assert points(plain[index]) == pytest.approx(worth(state), abs=1e-4), index
    # What the next label changes counts by its share, with the players exchanged.
    # Where another play was tried than the best, it does not.
    went_on = 0
    for index in range(40):
        said = -fit.equity(rules, BackgammonState(*positions[index + 1].tolist(), 0, 0), 0, weights, room)
        difference = -points(mixed[index + 1]) - said
        change = points(mixed[index]) - points(plain[index])
        went_on += change != pytest.approx(0, abs=1e-4)
        assert change == pytest.approx(0, abs=1e-4) or change == pytest.approx(0.7 * difference, abs=1e-4)
    assert 25 < went_on < 40
