"""Backgammon and Hypergammon: plays against slow rules and OpenSpiel's, forced plays, bearing off, ends."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest

from zermelo.envs import CHANCE, as_game
from zermelo.envs.games import Backgammon, Hypergammon
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.observations import observation

Places = tuple[int, ...]
"""How many checkers a player has off (0), on its points 1 to 24, and on the bar (25)."""


def places(low: int, high: int) -> Places:
    return (*(low >> 4 * p & 15 for p in range(13)), *(high >> 4 * p & 15 for p in range(13)))


def sides(state: BackgammonState) -> tuple[Places, Places]:
    """Both players' checkers, the first player's first."""
    mine, theirs = places(state.low, state.high), places(state.other_low, state.other_high)
    return (mine, theirs) if state.seat == 0 else (theirs, mine)


def position(
    mine: dict[int, int], theirs: dict[int, int], roll: tuple[int, int], seat: int = 0
) -> BackgammonState:
    """A state from the numbers of checkers on places; all others, of 15, are off."""
    words = []
    for side in (mine, theirs):
        counts = {0: 15 - sum(side.values()), **side}
        words += [
            sum(n << 4 * p for p, n in counts.items() if p < 13),
            sum(n << 4 * (p - 13) for p, n in counts.items() if p >= 13),
        ]
    return BackgammonState(words[0], words[1], words[2], words[3], seat, 8 * max(roll) + min(roll))


# -- the rules, slowly --------------------------------------------------------------------------------------------


def single_plays(mine: Places, theirs: Places, die: int) -> list[tuple[Places, Places]]:
    found = []
    for start in [25] if mine[25] else range(1, 25):
        target = start - die
        if not mine[start]:
            continue
        if target >= 1:
            if theirs[25 - target] > 1:
                continue
        elif any(mine[7:]) or (target < 0 and any(mine[start + 1 :])):
            continue
        own, other = list(mine), list(theirs)
        own[start] -= 1
        own[max(target, 0)] += 1
        if target >= 1 and other[25 - target]:
            other[25 - target] -= 1
            other[25] += 1
        found.append((tuple(own), tuple(other)))
    return found


def whole_plays(mine: Places, theirs: Places, high: int, low: int) -> set[tuple[Places, Places]]:
    """The positions after a roll has been played, by trying everything."""
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]
    played: dict[tuple[int, ...], set[tuple[Places, Places]]] = {}
    for order in orders:
        reached = {(mine, theirs)}
        for number, die in enumerate(order, start=1):
            reached = {after for before in reached for after in single_plays(*before, die)}
            if reached:
                played.setdefault(order[:number], set()).update(reached)
    if not played:
        return {(mine, theirs)}
    longest = max(map(len, played))
    best = [dice for dice in played if len(dice) == longest]
    if longest == 1:
        best = [max(best)]
    return set().union(*(played[dice] for dice in best))


def our_plays(game: RulesGame, state: BackgammonState) -> dict[tuple[Places, Places], tuple[int, ...]]:
    """The positions after a roll has been played, first player's side first, with the actions."""
    found: dict[Any, tuple[int, ...]] = {}
    waiting = [(state, ())]
    seen = set()
    while waiting:
        before, path = waiting.pop()
        if before in seen:
            continue
        seen.add(before)
        if game.is_terminal(before) or game.to_move(before) == CHANCE:
            found.setdefault(sides(before), path)
            continue
        assert before.seat == state.seat
        for action in game.legal_actions(before):
            waiting.append((game.result(before, action), (*path, action)))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(("rules", "games"), [(Backgammon(), 6), (Hypergammon(), 40)])
def test_plays_are_the_slow_rules(rules: Backgammon, games: int) -> None:
    game, generator = as_game(rules), random.Random(17)
    for _ in range(games):
        state = game.initial_state()
        while not game.is_terminal(state):
            outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
            state = game.result(state, generator.choices(outcomes, chances)[0])
            found = our_plays(game, state)
            mine, theirs = places(state.low, state.high), places(state.other_low, state.other_high)
            expected = whole_plays(mine, theirs, state.roll >> 3, state.roll & 7)
            assert set(found) == {pair if state.seat == 0 else pair[::-1] for pair in expected}, state
            for action in found[generator.choice(sorted(found))]:
                state = game.result(state, action)


# -- by hand ------------------------------------------------------------------------------------------------------


def written(state: BackgammonState) -> set[str]:
    rules = Backgammon()
    return {rules.action_text(state, action) for action in RulesGame(rules).legal_actions(state)}


def test_the_opening_roll() -> None:
    game = RulesGame(Backgammon())
    start = game.initial_state()
    starters: Counter[int] = Counter()
    for outcome, chance in game.chance_outcomes(start):
        assert chance == pytest.approx(1 / 30)
        first, second = divmod(outcome, 6)
        assert first != second
        state = game.result(start, outcome)
        assert state.seat == (second > first)
        assert (state.roll >> 3, state.roll & 7) == (max(first, second) + 1, min(first, second) + 1)
        starters[state.seat] += 1
    assert starters == {0: 15, 1: 15}


def test_later_rolls() -> None:
    game = RulesGame(Backgammon())
    state = game.result(game.initial_state(), 6 * 2)  # 3-1
    assert game.action_text(state, 26 * 8 + 6) == "8/5 6/5"
    state = game.result(state, 26 * 8 + 6)
    chances = {divmod(outcome, 6): chance for outcome, chance in game.chance_outcomes(state)}
    assert len(chances) == 21
    thrown = Counter(tuple(sorted(dice, reverse=True)) for dice in itertools.product(range(6), repeat=2))
    assert chances == pytest.approx({dice: ways / 36 for dice, ways in thrown.items()})


@pytest.mark.parametrize(
    ("mine", "theirs", "roll", "expected"),
    [
        # the bar comes first, and may be blocked
        ({25: 1, 6: 2}, {6: 2, 24: 1}, (6, 2), {"bar/23 23/17"}),
        ({25: 2, 6: 2}, {6: 2, 24: 1}, (6, 2), {"bar/23"}),
        ({25: 1}, {6: 2, 3: 2}, (6, 3), {"pass"}),
        # either number can be played, not both: the higher; or only the lower
        ({10: 1}, {23: 2, 24: 1}, (6, 2), {"10/4"}),
        ({10: 1}, {21: 2, 17: 1, 23: 2}, (6, 2), {"10/8"}),
        # bearing off: exact, or from the highest point by a higher number
        ({6: 1, 3: 1}, {1: 1}, (6, 3), {"6/off 3/off", "6/3 3/off"}),
        ({4: 1, 2: 2}, {1: 1}, (6, 5), {"4/off 2/off"}),
        ({7: 1, 2: 1}, {1: 1}, (6, 1), {"7/1 2/1", "7/1 1/off"}),
        # one checker that goes all the way: once, unless it hits on one of the ways
        ({24: 1}, {15: 2, 11: 1, 12: 1}, (6, 4), {"24/18 18/14"}),
        ({24: 1}, {7: 1, 3: 1}, (6, 2), {"24/18 18/16", "24/22 22/16"}),
        # a double: from the higher points first, so that as much as can be is played
        ({20: 1, 8: 1}, {11: 2}, (3, 3), {"20/17 8/5"}),
        ({9: 1, 8: 1}, {22: 2, 20: 2}, (3, 3), {"9/6"}),
    ],
)
def test_plays_by_hand(mine: Any, theirs: Any, roll: Any, expected: set[str]) -> None:
    assert written(position(mine, theirs, roll)) == expected


def test_a_double_is_two_actions() -> None:
    rules = Backgammon()
    game = RulesGame(rules)
    state = position({24: 2, 13: 2}, {1: 4}, (2, 2), seat=1)
    half = game.result(state, 26 * 13 + 11)
    assert (half.seat, game.to_move(half)) == (1, 1)
    assert written(half) == {"9/7 7/5"}  # 24 and 13 are above 11: plays with them start with them
    assert rules.text(half).endswith("O 2-2, second half")
    done = game.result(half, game.legal_actions(half)[0])
    assert (done.seat, game.to_move(done), done.roll) == (0, CHANCE, 0)


@pytest.mark.parametrize(
    ("theirs", "points"),
    [
        ({3: 14}, 1),
        ({3: 15}, 2),
        ({18: 1, 3: 14}, 2),
        ({19: 1, 3: 14}, 3),
        ({25: 1, 3: 14}, 3),
        ({25: 1, 3: 13}, 1),
    ],
)
def test_points(theirs: dict[int, int], points: int) -> None:
    for most, seat in itertools.product((1, 2, 3), (0, 1)):
        game = RulesGame(Backgammon(most))
        end = game.result(position({1: 2}, theirs, (3, 1), seat), 26 * 1 + 1)
        assert game.is_terminal(end)
        assert game.utility(end)[seat] == -game.utility(end)[1 - seat] == min(points, most)


def test_numbers_mean_the_same_everywhere() -> None:
    """Where a number is legal, it takes its checkers from where it says."""
    game, generator = as_game(Backgammon()), random.Random(23)
    for _ in range(5):
        state = game.initial_state()
        while not game.is_terminal(state):
            if game.to_move(state) == CHANCE:
                state = game.result(state, generator.choice(game.chance_outcomes(state))[0])
                continue
            mine = places(state.low, state.high)
            for action in game.legal_actions(state):
                order, (first, second) = action // 676, divmod(action % 676, 26)
                after = game.result(state, action)
                own = sides(after)[state.seat]
                dice = [state.roll >> 3 & 7, state.roll & 7][:: -1 if order else 1]
                expected = list(mine)
                for start, die in zip((first, second), dice, strict=True):
                    if start:
                        expected[start] -= 1
                        expected[max(start - die, 0)] += 1
                assert own == tuple(expected), (state, action)
            state = game.result(state, generator.choice(game.legal_actions(state)))


def test_what_is_seen() -> None:
    rules = Backgammon()
    state = position({25: 1, 6: 2}, {6: 2, 24: 1}, (6, 2), seat=1)
    assert rules.text(state) == "\n".join(
        [
            " 13 14 15 16 17 18  | 19 20 21 22 23 24",
            "  .  .  .  .  .  .  | O2  .  .  .  . X1",
            "  .  .  .  .  .  .  | X2  .  .  .  .  .",
            " 12 11 10  9  8  7  |  6  5  4  3  2  1",
            "X: bar 0, off 12",
            "O: bar 1, off 12",
            "O 6-2",
        ]
    )
    own, other = observation(rules, state, 1).tolist()
    assert (own[0], own[6], own[25], own[26:]) == (12, 2, 1, [6, 2])
    assert (other[0], other[6], other[24], other[26:]) == (12, 2, 1, [0, 0])
    assert observation(rules, state, 0).tolist() == [other, own]
    assert rules.evaluation(state, 1) == -rules.evaluation(state, 0) != 0
