"""Known values and counts of the games of ``zermelo.envs.rules``, found by plain search of the uncompiled rules.

Sources: Domineering, E. R. Berlekamp, "Blockbusting and domineering", Journal of Combinatorial Theory A 49
(1988), D. M. Breuker, J. W. H. M. Uiterwijk and H. J. van den Herik, "Solving 8 x 8 Domineering", Theoretical
Computer Science 230 (2000), and M. Lachmann, C. Moore and I. Rapaport, "Who wins Domineering on rectangular
boards?", More Games of No Chance (2002); Chomp, D. Gale, "A curious Nim-type game", American Mathematical
Monthly 81 (1974); Nim, C. L. Bouton, "Nim, a game with a complete mathematical theory", Annals of Mathematics 3
(1901). The others were worked out with other programs.
"""

from __future__ import annotations

from typing import Any

import pytest
from oracles.plain_minimax import Values, value

from zermelo.envs import as_game, perft
from zermelo.envs import games as g


def best_actions(rules: Any) -> list[str]:
    """What the first player can do without losing anything."""
    values, state = Values(rules), rules.initial_state()
    best = values.of(state)
    return [
        rules.action_text(state, action)
        for action in values.game.legal_actions(state)
        if values.of(values.game.result(state, action)) == best
    ]


OTHELLO = [4, 12, 56, 244, 1396, 8200, 55092]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "depth", [1, 2, 3, 4, 5, 6, pytest.param(7, marks=pytest.mark.slow)], ids=lambda depth: f"depth {depth}"
)
def test_othello_perft(depth):
    assert perft(as_game(g.Othello()), depth) == OTHELLO[depth - 1]


@pytest.mark.slow
def test_othello_4x4_is_won_by_the_second_player_by_8():
    assert value(g.Othello(4, 4, margin=True)) == -8


KALAH = {1: [0, -2, 6, -2, 2, 0], 2: [2, -2, -2, -10, 6, 8], 3: [0, 4, 2, 2, 6, -8]}


@pytest.mark.parametrize(
    ("houses", "seeds"),
    [
        pytest.param(houses, seeds, marks=[pytest.mark.slow] if houses == 3 and seeds > 3 else [])
        for houses in KALAH
        for seeds in range(1, 7)
    ],
)
def test_kalah_margins(houses, seeds):
    assert value(g.Kalah(houses, seeds, margin=True)) == KALAH[houses][seeds - 1]


@pytest.mark.parametrize(("houses", "seeds"), [(1, 3), (2, 1), (2, 4), (3, 2)])
def test_kalah_without_margin_is_the_sign(houses, seeds):
    margin = KALAH[houses][seeds - 1]
    assert value(g.Kalah(houses, seeds)) == (margin > 0) - (margin < 0)


@pytest.mark.parametrize(
    ("rows", "columns", "margin"),
    [(1, 1, -1), (1, 2, 0), (2, 1, 0), (1, 3, -1), (2, 2, 2), pytest.param(1, 5, -1, marks=pytest.mark.slow)],
)
def test_dots_and_boxes(rows, columns, margin):
    assert value(g.DotsAndBoxes(rows, columns, margin=True)) == margin
    assert value(g.DotsAndBoxes(rows, columns)) == (margin > 0) - (margin < 0)


@pytest.mark.parametrize(("rows", "columns", "winner"), [(3, 3, -1), (3, 4, 1), (4, 4, 1)])
def test_hexapawn(rows, columns, winner):
    assert value(g.Hexapawn(rows, columns)) == winner


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rows", "columns", "length", "winner"),
    [(2, 2, 2, 1), (2, 3, 3, -1), (1, 4, 3, -1), (1, 5, 3, 1), (1, 6, 3, -1)],
)
def test_order_and_chaos(rows, columns, length, winner):
    assert value(g.OrderAndChaos(rows, columns, length)) == winner


@pytest.mark.parametrize(("rows", "columns", "winner"), [(4, 3, 1), (5, 3, 1), (4, 2, -1)])
def test_breakthrough_with_one_row_of_pawns(rows, columns, winner):
    assert value(g.Breakthrough(rows, columns, 1)) == winner


# Who wins: upright dominoes (V), lying ones (H), the first player (1) or the second (2).
DOMINEERING = {
    **{(2, columns): who for columns, who in enumerate("V11HV11HV11H", start=1)},
    **{(3, columns): who for columns, who in enumerate("V11HHHHH", start=1)},
    (4, 4): "1",
    (4, 5): "V",
    (5, 5): "2",
}
SLOW_DOMINEERING = [(2, 10), (2, 11), (2, 12), (4, 5), (3, 7), (3, 8), (5, 5)]


@pytest.mark.parametrize(
    "size",
    [pytest.param(size, marks=[pytest.mark.slow] if size in SLOW_DOMINEERING else []) for size in DOMINEERING],
    ids=str,
)
def test_domineering(size):
    rows, columns = size
    upright_first = value(g.Domineering(rows, columns)) == 1
    lying_first = value(g.Domineering(columns, rows)) == 1  # the board turned, and the players with it
    winner = {(True, True): "1", (False, False): "2", (True, False): "V", (False, True): "H"}
    assert winner[upright_first, lying_first] == DOMINEERING[size]


@pytest.mark.parametrize("heaps", [(1, 3, 5, 7), (1, 2, 3), (2, 2), (3,), (1, 1, 1), (1, 1), (2, 3, 4), (1,)])
@pytest.mark.parametrize("misere", [False, True])
def test_nim_is_decided_by_the_nim_sum(heaps, misere):
    """Bouton: the mover loses where it is zero; misère, where all heaps are one, it is the other way round."""
    total = 0
    for heap in heaps:
        total ^= heap
    wins = total != 0
    if misere and max(heaps) == 1:
        wins = not wins
    assert value(g.Nim(heaps, misere)) == (1 if wins else -1)


@pytest.mark.parametrize(
    ("rows", "columns", "bites"),
    [(3, 3, ["(2,2)"]), (4, 4, ["(2,2)"]), (2, 5, ["(2,5)"]), (1, 4, ["(1,2)"]), (1, 1, ["(1,1)"])],
)
def test_the_only_winning_bites_of_chomp(rows, columns, bites):
    """Squares: leave an L and mirror. Two rows: leave the lower one square shorter. A lone poison is lost."""
    assert value(g.Chomp(rows, columns)) == (1 if rows * columns > 1 else -1)
    assert best_actions(g.Chomp(rows, columns)) == bites


@pytest.mark.parametrize(("sizes", "winner"), [((2, 1), -1), ((3, 1), 1), ((2, 2), -1)])
def test_isolation_on_small_boards(sizes, winner):
    assert value(g.Isolation(*sizes)) == winner
