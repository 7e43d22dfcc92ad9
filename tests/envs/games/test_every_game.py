"""All games of ``zermelo.envs.games``: contract, slow rules beside the fast ones, settings, text and notation."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from doubles.checked import assert_keeps_contract
from oracles import slow_rules

from zermelo.envs import as_game
from zermelo.envs import games as g
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules import RulesGame

QUICK = {
    g.Othello: [(4, 4)],
    g.Kalah: [(2, 3, True, True)],
    g.Hexapawn: [()],
    g.Nim: [()],
    g.DotsAndBoxes: [(2, 2, 3)],
    g.Isolation: [(4, 4)],
    g.OrderAndChaos: [(3, 4, 3)],
    g.Pentago: [()],
    g.EinStein: [(), (4, True)],
    g.Game2048: [(2, 2)],
    g.Pig: [(10, 2, 6, 3, True)],
    g.Oware: [(2, 3)],
}
SLOW = {
    g.Breakthrough: [(4, 3, 1), (5, 6), (), (2, 32, 1), (32, 2, 16)],
    g.Chomp: [(3, 3), (2, 5), (1, 62), (7, 8)],
    g.DotsAndBoxes: [(2, 2), (1, 1, 2, True), (2, 3, 2, True), (7, 7), (1, 31), (4, 5, 10, True)],
    g.Domineering: [(4, 4), (5, 3), (), (2, 32), (64, 1)],
    g.MNK: [(3, 3, 3, 3), (), (5, 4, 4, 4)],
    g.Othello: [(5, 4, True), (), (7, 8, True), (8, 7)],
    g.Kalah: [(), (8, 7), (1, 63), (6, 10, True, True)],
    g.Hexapawn: [(4, 5), (8, 8), (3, 21)],
    g.Nim: [((3, 2, 2), True, 3), ((255,) * 7,), ((3,) * 28, True, 16)],
    g.Hex: [(), (3, 4), (1, 1), (124, 1), (2, 62)],
    g.Clobber: [(), (8, 8), (3, 4)],
    g.Oware: [(), (8, 7)],
    g.Amazons: [(), (4,), (8,), (11,)],
    g.Go: [(3,), (3, 7.5, 0)],
    g.Kuhn: [(), (4,)],
    g.Leduc: [(), (3, True), (5,)],
    g.LiarsDice: [(), (2, 3)],
    g.Goofspiel: [(4,), (5, False, True, True)],
    g.EinStein: [(4,), (7, True)],
    g.Backgammon: [(3,)],
    g.Hypergammon: [(2,)],
    g.Game2048: [(), (1, 2), (3, 5)],
    g.Pig: [(), (12, 1, 2), (40, 3, 4, 5), (1, 1, 6, 31)],
    g.Chess: [
        (),
        ("3r1r2/4P3/8/8/8/k7/4p3/3R1RK1 w - - 0 1",),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",),
        ("7k/r7/8/8/8/8/R6P/K7 w - - 97 90",),
        ("r3k2r/8/8/1b6/1B6/8/8/R3K2R w KQkq - 0 1",),
    ],
}
LONGEST = {"Backgammon": 20, "Hypergammon": 20, "Chess": 60, "Game2048": 40, "Go": 25, "Pig": 100}


def test_every_game_is_checked() -> None:
    kinds = {kind.__name__ for kind in (*QUICK, *SLOW, g.ConnectFour)}
    assert kinds == set(g.__all__)


def made(table: dict[Any, list[Any]]) -> list[Any]:
    return [kind(*parameters) for kind, sizes in table.items() for parameters in sizes]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "rules", [*made(QUICK), *(pytest.param(rules, marks=pytest.mark.slow) for rules in made(SLOW))], ids=repr
)
def test_keeps_the_contract(rules: Any) -> None:
    assert_keeps_contract(rules, games=2, longest=LONGEST.get(type(rules).__name__, 2000))


SlowHexapawn = functools.partial(slow_rules.SlowPawns, hexapawn=True)
SIZES: dict[tuple[Any, Any], list[tuple[Any, ...]]] = {
    (g.Othello, slow_rules.SlowOthello): [(4, 4), (4, 4, True), (6, 6), (8, 8), (5, 7, True), (8, 4)],
    (g.Kalah, slow_rules.SlowKalah): [
        *[(6, 4), (1, 1), (1, 9), (2, 3), (3, 12, True), (8, 7, True, True)],
        *[(4, 2, False, True), (2, 31), (6, 10, True), (5, 6, True, True)],
    ],
    (g.Breakthrough, slow_rules.SlowPawns): [(8, 8, 2), (4, 3, 1), (2, 5, 1), (10, 6, 3), (32, 2, 4)],
    (g.Hexapawn, SlowHexapawn): [(3, 3), (3, 1), (4, 5), (8, 8), (16, 4)],
    (g.DotsAndBoxes, slow_rules.SlowDotsAndBoxes): [
        *[(1, 1, 2, True), (2, 3), (3, 3, 3), (7, 7, 2, True), (1, 31, 5), (31, 1, 10, True), (2, 2, 4)],
    ],
    (g.Domineering, slow_rules.SlowDomineering): [(8, 8), (1, 2), (5, 1), (4, 7), (2, 32), (3, 3)],
    (g.Nim, slow_rules.SlowNim): [(), ((1,),), ((4, 4), True), ((255,) * 7,), ((3,) * 28, True, 5)],
    (g.MNK, slow_rules.SlowMNK): [(3, 3, 3), (4, 3, 3, 3), (5, 4, 3, 4), (7, 7, 5), (1, 1, 1, 3), (6, 8, 4, 3)],
    (g.Chomp, slow_rules.SlowChomp): [(), (1, 1), (3, 3), (2, 31), (62, 1)],
    (g.OrderAndChaos, slow_rules.SlowOrderAndChaos): [(), (3, 3, 3), (2, 5, 2), (1, 4, 3), (31, 1, 4), (7, 7, 4)],
    (g.Isolation, slow_rules.SlowIsolation): [(6, 8), (8, 8), (2, 1), (3, 3), (4, 2), (2, 32)],
    (g.Pentago, slow_rules.SlowPentago): [()],
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


REFUSED: dict[Any, list[tuple[tuple[Any, ...], str]]] = {
    g.Othello: [((3, 4), "rows=3"), ((8, 9), "columns=9"), ((8, 8, 2), "margin=2")],
    g.Kalah: [((0, 4), "houses=0"), ((9, 1), "houses=9"), ((6, 11), "seeds=11"), ((6, 0), "seeds=0")],
    g.Breakthrough: [((8, 1), "columns=1"), ((3, 4), "rows=3"), ((9, 8), "rows=9"), ((8, 8, 0), "pawn_rows=0")],
    g.Hexapawn: [((2, 3), "rows=2"), ((9, 8), "rows=9")],
    g.DotsAndBoxes: [
        *[((0, 3), "rows=0"), ((7, 8), "columns=8"), ((2, 2, 1), "players=1"), ((2, 2, 11), "players=11")]
    ],
    g.Domineering: [((1, 1), "rows=1"), ((8, 9), "columns=9")],
    g.MNK: [((3, 3, 3, 1), "players=1"), ((3, 3, 3, 5), "players=5"), ((8, 7), "m=8"), ((3, 3, 0), "k=0")],
    g.ConnectFour: [((8, 7), "rows=8"), ((6, 0), "columns=0")],
    g.Chomp: [((0, 2), "rows=0"), ((8, 8), "rows=8")],
    g.Nim: [
        *[(((),), r"heaps=\(\)"), ((5,), "heaps=5"), (((1, 0),), r"heaps=\(1, 0\)"), (((256,),), "heaps=.256,")],
        *[(((1, "2"),), "heaps="), (((255,) * 8,), "heaps="), (((1,), 3), "misere=3")],
        (((1,), False, 1), "players=1"),
    ],
    g.Hex: [((0, 3), "rows=0"), ((25, 5), "rows=25")],
    g.Clobber: [((9, 8), "rows=9"), ((0, 8), "rows=0")],
    g.Oware: [((9, 1), "houses=9"), ((6, 11), "houses=6, seeds=11")],
    g.Amazons: [((3,), "size=3"), ((12,), "size=12")],
    g.Isolation: [((9, 8), "rows=9, columns=8")],
    g.OrderAndChaos: [((8, 7), "rows=8"), ((6, 6, 1), "length=1")],
    g.EinStein: [((3,), "size=3"), ((8,), "size=8"), ((5, 2), "random_start=2")],
    g.Backgammon: [((4,), "most_points=4")],
    g.Hypergammon: [((0,), "most_points=0")],
    g.Game2048: [((9, 9), "rows=9, columns=9")],
    g.Kuhn: [((1,), "players=1")],
    g.Leduc: [((14,), "ranks=14")],
    g.LiarsDice: [((6, 6), "dice=6")],
    g.Goofspiel: [((14,), "cards=14")],
    g.Go: [((0,), "size=0"), ((9, 7.5, 2), "superko=2")],
    g.Pig: [
        *[((0,), "target=0"), ((9, 0), "dice=0"), ((9, 1, 1), "sides=1"), ((9, 30), "dice=30")],
        *[((100, 1, 6, 1), "players=1"), ((100, 1, 6, 9), "players=9"), ((9, 1, 6, 2, True), "snake_eyes=True")],
        ((9, 2, 6, 2, 2), "snake_eyes=2"),
    ],
}


@pytest.mark.parametrize(
    ("rules", "parameters", "says"), [(rules, *each) for rules, refused in REFUSED.items() for each in refused]
)
def test_settings_that_do_not_fit(rules: Any, parameters: tuple[Any, ...], says: str) -> None:
    with pytest.raises(InvalidSettingError, match=rf"{rules.__name__} needs .* not .*{says}"):
        RulesGame(rules(*parameters))


@pytest.mark.parametrize(
    ("rules", "moves", "text"),
    [
        (g.Othello(4, 4), [(1, "b1")], ". X . .\n. X X .\n. X O .\n. . . ."),
        (g.Kalah(3, 2), [(1, "B"), (0, "A")], "     2  2  2\n  0           1\n     0  1  4"),
        (g.Breakthrough(4, 2, 1), [(0, None), (1, "a1-a2")], "O O\n. .\nX .\n. X"),
        (g.Hexapawn(3, 3), [(1, "a1-a2"), (18 + 3, "b3xa2")], "O . O\nO . .\n. X X"),
        (g.DotsAndBoxes(1, 2), [(0, "h1,1"), (4, "v1,1")], "+---+   +\n|        \n+   +   +\nboxes: 0, 0"),
        (g.Domineering(2, 3), [(0, "a1a2"), (3 + 1, "b1c1")], "# # #\n# . ."),
        (g.MNK(3, 2, 2, 3), [(0, "a2"), (1, "b2"), (5, "c1"), (2, "c2")], "X O X\n. . Y"),
        (g.Nim((1, 3)), [(3 + 1, "2 from heap 2")], "1 1"),
        (g.Chomp(2, 3), [(4, "(2,2)")], "P # #\n# . ."),
        (g.Isolation(3, 4), [(5, "b2"), (3, "xd1")], ". . . #\n. X . .\n. O . ."),
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
