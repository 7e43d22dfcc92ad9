"""All games of ``zermelo.envs.games``: contract, slow rules beside the fast ones, settings, text and notation."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from doubles.checked import assert_keeps_contract
from oracles.slow_rules import (
    SlowChomp,
    SlowDomineering,
    SlowDotsAndBoxes,
    SlowIsolation,
    SlowKalah,
    SlowMNK,
    SlowNim,
    SlowOthello,
    SlowPawns,
    SlowPentago,
)

from zermelo.envs import InvalidSettingError, as_game, games
from zermelo.envs.games import (
    MNK,
    Amazons,
    Backgammon,
    Breakthrough,
    Chess,
    Chomp,
    Clobber,
    ConnectFour,
    Domineering,
    DotsAndBoxes,
    EinStein,
    Game2048,
    Go,
    Goofspiel,
    Hex,
    Hexapawn,
    Hypergammon,
    Isolation,
    Kalah,
    Kuhn,
    Leduc,
    LiarsDice,
    Nim,
    Othello,
    Oware,
    Pentago,
    Pig,
)
from zermelo.envs.rules import RulesGame

QUICK = [
    *[
        Othello(4, 4),
        Kalah(2, 3, True, True),
        Hexapawn(),
        Nim(),
        DotsAndBoxes(2, 2, 3),
        Isolation(4, 4),
        Pentago(),
    ],
    *[EinStein(), EinStein(size=4, random_start=True), Game2048(2, 2)],
    *[Pig(target=10, dice=2, snake_eyes=True, players=3), Oware(2, 3)],
]
SLOW = [
    *[Breakthrough(4, 3, 1), Chomp(3, 3), DotsAndBoxes(2, 2), Domineering(4, 4), MNK(3, 3, 3, 3)],
    *[Othello(5, 4, True), Othello(), Kalah(), Kalah(8, 7), Breakthrough(5, 6), Breakthrough()],
    *[Hexapawn(4, 5), Hexapawn(8, 8), DotsAndBoxes(1, 1, margin=True), DotsAndBoxes(2, 3, 2, True)],
    *[MNK(), MNK(5, 4, 4, 4), Domineering(5, 3), Domineering(), Nim((3, 2, 2), True, 3), Chomp(2, 5)],
    *[
        DotsAndBoxes(7, 7),
        DotsAndBoxes(1, 31),
        DotsAndBoxes(4, 5, 10, True),
        Domineering(2, 32),
        Domineering(64, 1),
    ],
    *[Breakthrough(2, 32, 1), Breakthrough(32, 2, 16), Hexapawn(3, 21), Nim((255,) * 7), Nim((3,) * 28, True, 16)],
    *[Chomp(1, 62), Chomp(7, 8), Othello(7, 8, True), Othello(8, 7), Kalah(1, 63), Kalah(6, 10, True, True)],
    *[Hex(), Hex(3, 4), Hex(1, 1), Hex(124, 1), Hex(2, 62), Clobber(), Clobber(8, 8), Clobber(3, 4)],
    *[Oware(), Oware(8, 7), Amazons(), Amazons(4), Amazons(8), Amazons(11), Go(3), Go(3, superko=0)],
    *[Kuhn(), Kuhn(4), Leduc(), Leduc(blinds=True), Leduc(5), LiarsDice(), LiarsDice(2, 3), Goofspiel(4)],
    *[Goofspiel(5, shuffled=False, hidden=True, difference=True), EinStein(4), EinStein(7, random_start=True)],
    *[Backgammon(3), Hypergammon(2), Game2048(), Game2048(1, 2), Game2048(3, 5), Pig(), Pig(target=12, sides=2)],
    *[Pig(target=40, dice=3, sides=4, players=5), Pig(target=1, players=31), Chess()],
    *[Chess("3r1r2/4P3/8/8/8/k7/4p3/3R1RK1 w - - 0 1"), Chess("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1")],
    *[Chess("7k/r7/8/8/8/8/R6P/K7 w - - 97 90"), Chess("r3k2r/8/8/1b6/1B6/8/8/R3K2R w KQkq - 0 1")],
]
LONGEST = {"Backgammon": 20, "Hypergammon": 20, "Chess": 60, "Game2048": 40, "Go": 25, "Pig": 100}


def test_every_game_is_checked() -> None:
    kinds = {type(rules).__name__ for rules in (*QUICK, *SLOW, ConnectFour())}
    assert kinds == {name for name in vars(games) if name[0].isupper()}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "rules", [*QUICK, *(pytest.param(rules, marks=pytest.mark.slow) for rules in SLOW)], ids=repr
)
def test_keeps_the_contract(rules: Any) -> None:
    assert_keeps_contract(rules, games=2, longest=LONGEST.get(type(rules).__name__, 2000))


SlowHexapawn = functools.partial(SlowPawns, hexapawn=True)
SIZES: dict[tuple[Any, Any], list[tuple[Any, ...]]] = {
    (Othello, SlowOthello): [(4, 4), (4, 4, True), (6, 6), (8, 8), (5, 7, True), (8, 4)],
    (Kalah, SlowKalah): [
        *[(6, 4), (1, 1), (1, 9), (2, 3), (3, 12, True), (8, 7, True, True)],
        *[(4, 2, False, True), (2, 31), (6, 10, True), (5, 6, True, True)],
    ],
    (Breakthrough, SlowPawns): [(8, 8, 2), (4, 3, 1), (2, 5, 1), (10, 6, 3), (32, 2, 4)],
    (Hexapawn, SlowHexapawn): [(3, 3), (3, 1), (4, 5), (8, 8), (16, 4)],
    (DotsAndBoxes, SlowDotsAndBoxes): [
        *[(1, 1, 2, True), (2, 3), (3, 3, 3), (7, 7, 2, True), (1, 31, 5), (31, 1, 10, True), (2, 2, 4)],
    ],
    (Domineering, SlowDomineering): [(8, 8), (1, 2), (5, 1), (4, 7), (2, 32), (3, 3)],
    (Nim, SlowNim): [(), ((1,),), ((4, 4), True), ((255,) * 7,), ((3,) * 28, True, 5)],
    (MNK, SlowMNK): [(3, 3, 3), (4, 3, 3, 3), (5, 4, 3, 4), (7, 7, 5), (1, 1, 1, 3), (6, 8, 4, 3)],
    (Chomp, SlowChomp): [(), (1, 1), (3, 3), (2, 31), (62, 1)],
    (Isolation, SlowIsolation): [(6, 8), (8, 8), (2, 1), (3, 3), (4, 2), (2, 32)],
    (Pentago, SlowPentago): [()],
}


@pytest.mark.parametrize(
    ("rules", "slow", "sizes"),
    [(rules, slow, size) for (rules, slow), sizes in SIZES.items() for size in sizes],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_plays_as_the_slow_rules_do(rules: Any, slow: Any, sizes: tuple[Any, ...]) -> None:
    game, generator = as_game(rules(*sizes)), random.Random(0)
    for _ in range(4):
        state, other = game.initial_state(), slow(*sizes)
        while not other.over():
            assert not game.is_terminal(state)
            assert game.to_move(state) == other.seat
            assert game.legal_actions(state) == other.legal()
            action = generator.choice(other.legal())
            state = game.result(state, action)
            other.play(action)
        assert game.is_terminal(state)
        assert game.utility(state) == tuple(other.utilities())


@pytest.mark.parametrize(
    ("rules", "parameters", "says"),
    [
        *[(Othello, (3, 4), "rows=3"), (Othello, (8, 9), "columns=9"), (Othello, (8, 8, 2), "margin=2")],
        *[(Kalah, (0, 4), "houses=0"), (Kalah, (9, 1), "houses=9"), (Kalah, (6, 11), "seeds=11")],
        *[(Kalah, (6, 0), "seeds=0"), (Breakthrough, (8, 1), "columns=1"), (Breakthrough, (3, 4), "rows=3")],
        *[
            (Breakthrough, (9, 8), "rows=9"),
            (Breakthrough, (8, 8, 0), "pawn_rows=0"),
            (Hexapawn, (2, 3), "rows=2"),
        ],
        *[(Hexapawn, (9, 8), "rows=9"), (DotsAndBoxes, (0, 3), "rows=0"), (DotsAndBoxes, (7, 8), "columns=8")],
        *[(DotsAndBoxes, (2, 2, 1), "players=1"), (DotsAndBoxes, (2, 2, 11), "players=11")],
        *[(Domineering, (1, 1), "rows=1"), (Domineering, (8, 9), "columns=9"), (MNK, (3, 3, 3, 1), "players=1")],
        *[
            (MNK, (3, 3, 3, 5), "players=5"),
            (MNK, (8, 7), "m=8"),
            (MNK, (3, 3, 0), "k=0"),
            (ConnectFour, (8, 7), "rows=8"),
            (ConnectFour, (6, 0), "columns=0"),
            (Chomp, (0, 2), "rows=0"),
            (Chomp, (8, 8), "rows=8"),
        ],
        *[(Nim, ((),), r"heaps=\(\)"), (Nim, (5,), "heaps=5"), (Nim, ((1, 0),), r"heaps=\(1, 0\)")],
        *[(Nim, ((256,),), "heaps=.256,"), (Nim, ((1, "2"),), "heaps="), (Nim, ((255,) * 8,), "heaps=")],
        *[(Nim, ((1,), 3), "misere=3"), (Nim, ((1,), False, 1), "players=1"), (Hex, (0, 3), "rows=0")],
        *[(Hex, (25, 5), "rows=25"), (Clobber, (9, 8), "rows=9"), (Clobber, (0, 8), "rows=0")],
        *[(Oware, (9, 1), "houses=9"), (Oware, (6, 11), "houses=6, seeds=11"), (Amazons, (3,), "size=3")],
        *[(Amazons, (12,), "size=12"), (Isolation, (9, 8), "rows=9, columns=8"), (EinStein, (3,), "size=3")],
        *[
            (EinStein, (8,), "size=8"),
            (EinStein, (5, 2), "size=5, random_start=2"),
            (Backgammon, (4,), "most_points=4"),
        ],
        *[
            (Hypergammon, (0,), "most_points=0"),
            (Game2048, (9, 9), "rows=9, columns=9"),
            (Kuhn, (1,), "players=1"),
        ],
        *[(Leduc, (14,), "ranks=14"), (LiarsDice, (6, 6), "dice=6"), (Goofspiel, (14,), "cards=14")],
        *[(Go, (0,), "size=0"), (Go, (9, 7.5, 2), "superko=2"), (Pig, (0,), "target=0"), (Pig, (9, 0), "dice=0")],
        *[(Pig, (9, 1, 1), "sides=1"), (Pig, (9, 30), "dice=30"), (Pig, (100, 1, 6, 1), "players=1")],
        *[(Pig, (100, 1, 6, 9), "players=9"), (Pig, (9, 1, 6, 2, True), "snake_eyes=True")],
        (Pig, (9, 2, 6, 2, 2), "snake_eyes=2"),
    ],
)
def test_settings_that_do_not_fit(rules: Any, parameters: tuple[Any, ...], says: str) -> None:
    with pytest.raises(InvalidSettingError, match=rf"{rules.__name__} needs .* not .*{says}"):
        RulesGame(rules(*parameters))


@pytest.mark.parametrize(
    ("rules", "moves", "text"),
    [
        (Othello(4, 4), [(1, "b1")], ". X . .\n. X X .\n. X O .\n. . . ."),
        (Kalah(3, 2), [(1, "B"), (0, "A")], "     2  2  2\n  0           1\n     0  1  4"),
        (Breakthrough(4, 2, 1), [(0, None), (1, "a1-a2")], "O O\n. .\nX .\n. X"),
        (Hexapawn(3, 3), [(1, "a1-a2"), (18 + 3, "b3xa2")], "O . O\nO . .\n. X X"),
        (DotsAndBoxes(1, 2), [(0, "h1,1"), (4, "v1,1")], "+---+   +\n|        \n+   +   +\nboxes: 0, 0"),
        (Domineering(2, 3), [(0, "a1a2"), (3 + 1, "b1c1")], "# # #\n# . ."),
        (MNK(3, 2, 2, 3), [(0, "a2"), (1, "b2"), (5, "c1"), (2, "c2")], "X O X\n. . Y"),
        (Nim((1, 3)), [(3 + 1, "2 from heap 2")], "1 1"),
        (Chomp(2, 3), [(4, "(2,2)")], "P # #\n# . ."),
        (Isolation(3, 4), [(5, "b2"), (3, "xd1")], ". . . #\n. X . .\n. O . ."),
    ],
    ids=lambda part: type(part).__name__,
)
def test_text_and_notation(rules: Any, moves: list[tuple[int, str | None]], text: str) -> None:
    game = RulesGame(rules)
    state = game.initial_state()
    for action, name in moves:
        if name is not None:
            assert action in game.legal_actions(state)
            assert rules.action_text(state, action) == name
            state = game.result(state, action)
    assert rules.text(state) == text
