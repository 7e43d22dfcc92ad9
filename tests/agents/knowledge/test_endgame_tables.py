"""Endgame tables: plain backward induction and python-chess as oracles, published results."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pytest

from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.base.playouts import random_game
from zermelo.agents.knowledge.endgame_tables import read_table
from zermelo.agents.knowledge_building.build_table import build_table
from zermelo.envs.games import MNK, Chess, ConnectFour, DotsAndBoxes, Kalah, Othello, Oware
from zermelo.envs.rules import RulesGame, with_past
from zermelo.envs.rules.history import without_past
from zermelo.evaluation import GameRecord
from zermelo.evaluation.analysis.judge import judge
from zermelo.evaluation.match.record import EndReason, Move

TICTACTOE = MNK(3, 3, 3)
KALAH = Kalah(3, 3)


@functools.cache
def perfect(rules: Any, state: Any) -> tuple[int, int]:
    """The utility for the player to move, and the moves until then, by plain backward induction."""
    mover = rules.to_move(state)
    if rules.is_terminal(state):
        return rules.utility(state, mover), 0
    found = []
    for action in RulesGame(rules).legal_actions(state):
        child = rules.result(state, action)
        value, plies = perfect(rules, child)
        found.append((value if rules.to_move(child) == mover else -value, plies + 1))
    best = max(value for value, _ in found)
    lengths = [plies for value, plies in found if value == best]
    return best, min(lengths) if best > 0 else max(lengths)


def reached(rules: Any, games: int, seed: int) -> list[Any]:
    """States of random games that are not over."""
    generator, game = np.random.default_rng(seed), RulesGame(rules)
    return [state for _ in range(games) for state in random_game(game, game.initial_state(), generator, 999)]


def test_every_position_of_tictactoe(tictactoe):
    table = read_table(tictactoe)
    assert len(table) == 627  # of the 765 different positions 138 are over
    for state in reached(TICTACTOE, 200, seed=1):
        value, plies = perfect(TICTACTOE, state)
        assert table.probe(TICTACTOE, state) == (value, plies if value else None), state


@pytest.mark.parametrize(
    ("rules", "empty"),
    [(ConnectFour(4, 4), 6), (DotsAndBoxes(2, 2), 7), (Othello(4, 4, margin=True), 5), (TICTACTOE, 5)],
)
def test_positions_with_few_empty_squares(tmp_path, rules, empty):
    table = build_table(rules, tmp_path / "table.ztable", empty=empty).table
    assert len(np.unique(table.keys)) == len(table.keys)
    seen = {True: 0, False: 0}
    for state in reached(rules, 40, seed=6):
        found, is_near = table.probe(rules, state), rules.table_part(state) <= empty
        assert (found is not None) == is_near
        seen[is_near] += 1
        if is_near:
            assert found.value == perfect(rules, state)[0]
    assert min(seen.values()) > 0


def test_kalah_gains_what_backward_induction_says(kalah):
    rules, table, known = Kalah(3, 3, margin=True), read_table(kalah), 0
    for state in reached(rules, 200, seed=2):
        found = table.probe(rules, state)
        if found is not None:
            known += 1
            assert found.value == perfect(rules, state)[0], state
    assert known > 500
    entries = [entry for state in reached(KALAH, 20, seed=3) if (entry := table.probe(KALAH, state))]
    assert {entry.value for entry in entries} == {-1, 0, 1}


def test_oware_is_known_where_no_repetition_can_change_it(tmp_path):
    """Every position of up to four seeds, with every lead, beside a search that knows the past."""
    rules = Oware(2, 3)
    game, table = RulesGame(rules), build_table(rules, tmp_path / "oware.ztable", stones=4).table
    known = {-1: 0, 0: 0, 1: 0, None: 0}
    numbers = [(part, index) for part in range(1, 5) for index in range(rules.table_size(part))]
    for seeds, index in numbers:
        houses = rules.table_state(seeds, index)
        if rules.table_part(houses) != seeds:
            continue
        for store in range(6 - seeds, 7):
            state = with_past(rules, houses._replace(mover_store=store, other_store=12 - seeds - store), ())
            found = table.probe(rules, state)
            known[found and found.value] += 1
            assert found is None or found.value == solve(game, state, compile="never").value, state
    assert all(known.values())
    later = with_past(rules, houses._replace(quiet=1), [1])
    assert table.probe(rules, later) is None


@pytest.mark.slow
def test_a_search_of_oware_reads_its_table_after_captures(tmp_path):
    rules, path = Oware(3, 2), str(tmp_path / "oware.ztable")
    build_table(rules, path, stones=6)
    assert solve(rules, nodes=100_000).value == 1
    without = AlphaBetaAgent(depth=7, memory_mb=0, quiescence=0).search(rules)
    ways = [
        AlphaBetaAgent(depth=7, memory_mb=0, quiescence=0, tables=path, compile=compile).search(rules)
        for compile in ("wait", "never")  # noqa: A001
    ]
    assert not without.proven
    assert {(found.value, found.proven, found.nodes) for found in ways} == {(1, True, ways[0].nodes)}


def test_positions_with_so_many_seeds_are_counted_as_published(tmp_path):
    """C(n + 11, 11) with twelve houses (Bal and Romein, "Solving awari with retrograde analysis", 2003)."""
    rules = Kalah()
    assert [rules.table_size(seeds) for seeds in range(1, 9)] == [12, 78, 364, 1365, 4368, 12376, 31824, 75582]


def test_queen_against_king_mates_in_ten(kqk):
    assert {part.part: part.longest for part in kqk.figures} == {"KQvK": 10, "KvKQ": 0}
    assert kqk.figures[0].lost == kqk.figures[1].won == 0


def chess_positions(count: int, seed: int, pieces: str) -> list[Any]:
    """Random positions of python-chess with these pieces."""
    chess = pytest.importorskip("chess")
    generator, boards = random.Random(seed), []
    while len(boards) < count:
        board = chess.Board(None)
        for piece, square in zip(pieces, generator.sample(range(64), len(pieces)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        board.turn = generator.random() < 0.5
        if board.is_valid() and not board.is_game_over():
            boards.append(board)
    return boards


def test_entries_follow_from_the_moves_of_python_chess(kqk):
    def entry(board: Any) -> tuple[int, int]:
        if board.is_checkmate():
            return -1, 0
        if board.is_game_over():
            return 0, 0
        rules = Chess(fen=board.fen())
        value, plies = kqk.table.probe(rules, rules.initial_state())
        return value, plies or 0

    for board in chess_positions(150, seed=4, pieces="KQk"):
        found = []
        for move in board.legal_moves:
            board.push(move)
            value, plies = entry(board)
            board.pop()
            found.append((-value, plies + 1))
        best = max(value for value, _ in found)
        lengths = [plies for value, plies in found if value == best]
        assert entry(board) == (best, (min if best > 0 else max)(lengths) if best else 0), board.fen()


@pytest.mark.parametrize("pieces", ["KPkp", "KPPkp", "KPkpp", "KQPkp"])
def test_pawns_on_both_sides_are_numbered_as_python_chess_moves_them(pieces):
    """Each move leads to a number that stands for the same position, taking in passing included."""
    chess = pytest.importorskip("chess")
    rules = Chess()
    game = RulesGame(rules)

    def number(board: Any) -> tuple[int, int]:
        state = Chess(fen=board.fen(en_passant="legal")).initial_state()
        return rules.table_part(state), rules.table_index(state)

    boards, passing = chess_positions(100, seed=5, pieces=pieces), list[Any]()
    for board in chess_positions(4000, seed=6, pieces=pieces):
        [square, *_], row = board.pieces(chess.PAWN, not board.turn), 4 if board.turn else 3
        board.remove_piece_at(square)
        board.set_piece_at(chess.square(square % 8, row), chess.Piece(chess.PAWN, not board.turn))
        board.ep_square = chess.square(square % 8, 5 if board.turn else 2)
        if len(board.piece_map()) == len(pieces) and board.is_valid() and board.has_legal_en_passant():
            passing.append(board)
    assert len(passing) > 30
    for board in boards + passing:
        part, index = number(board)
        assert 0 <= index < rules.table_size(part)
        state = rules.table_state(part, index)
        assert (rules.table_part(state), rules.table_index(state)) == (part, index), board.fen()
        children = []
        for move in board.legal_moves:
            board.push(move)
            children.append(number(board))
            board.pop()
        after = [without_past(game.result(state, action)) for action in game.legal_actions(state)]
        assert sorted((rules.table_part(each), rules.table_index(each)) for each in after) == sorted(children)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pieces", "part", "longest", "won"),
    [("KRK", "KRvK", 16, None), ("KBBK", "KBBvK", 19, None), ("KBNK", "KBNvK", 33, None),
     ("KRKN", "KRvKN", 40, None), ("KPK", "KPvK", 28, 124_960 // 2)],
)  # fmt: skip
def test_published_endings(tmp_path, pieces, part, longest, won):
    """Pawns mirrored, half of KPK's 124,960 won positions with the pawn's side to move are in the table."""
    made = build_table(Chess(), tmp_path / "table.ztable", pieces=pieces)
    [found] = [each for each in made.figures if each.part == part]
    assert found.longest == longest
    assert won is None or found.won == won


@pytest.mark.slow
def test_connect_four_on_five_columns_is_drawn(tmp_path):
    rules = ConnectFour(4, 5)
    made = build_table(rules, tmp_path / "four.ztable", states=3_000_000)
    assert made.table.probe(rules, rules.initial_state()) == (0, None)
    for state in reached(rules, 4, seed=5)[-20:]:
        assert made.table.probe(rules, state).value == solve(rules, state).value


# -- searches ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compile", ["wait", "never"])
def test_a_search_takes_what_a_table_knows_for_proven(kqk, compile):  # noqa: A002
    rules = Chess(fen="8/8/8/3k4/8/8/8/KQ6 w - - 0 1")
    value, plies = kqk.table.probe(rules, rules.initial_state())
    found = AlphaBetaAgent(depth="full", tables=kqk.table.path, compile=compile).search(rules)
    assert (found.value, found.plies, found.proven) == (value, plies, True)


@pytest.mark.parametrize("compile", ["wait", "never"])
def test_solve_reads_a_table(kalah, compile):  # noqa: A002
    without, found = solve(KALAH), solve(KALAH, tables=kalah, compile=compile)
    assert found.action_values == without.action_values
    assert found.proven
    assert found.nodes < without.nodes


@pytest.mark.parametrize("compile", ["wait", "never"])
def test_a_win_that_fifty_moves_undo_is_none(kqk, compile):  # noqa: A002
    fen = "8/8/8/3k4/8/8/8/KQ6 w - - {} 1"
    rules = Chess(fen=fen.format(90))
    assert kqk.table.probe(rules, rules.initial_state()) is None
    found = AlphaBetaAgent(depth=1, tables=kqk.table.path, compile=compile).search(rules)
    assert not (found.proven and found.value)


def test_a_win_through_positions_of_the_past_is_none(kqk):
    rules = Chess(fen="8/8/8/3k4/8/8/8/KQ6 w - - 8 1")
    state = rules.initial_state()
    assert kqk.table.probe(rules, with_past(rules, state, [7, 8, 9, 8])) is None
    assert kqk.table.probe(rules, with_past(rules, state, [7, 8, 9, 10])).value == 1


@pytest.mark.slow
def test_the_judge_takes_a_table_for_proven(kqk):
    """The queen is given away: a win thrown away, and one move that takes it."""
    fen = "8/8/8/3k4/8/8/8/KQ6 w - - 0 1"
    rules, actions = Chess(fen=fen), []
    state = rules.initial_state()
    for move in ("b1e4", "d5e4"):
        legal = RulesGame(rules).legal_actions(state)
        actions.append(next(action for action in legal if move in rules.action_aliases(state, action)))
        state = rules.result(state, actions[-1])
    played = GameRecord(
        env=f"zermelo/Chess-v0(fen={fen!r})",
        agents=("white", "black"),
        seat_names=("white", "black"),
        seed=0,
        rewards=(0.0, 0.0),
        end=EndReason.TERMINATED,
        moves=tuple(Move(seat, action) for seat, action in enumerate(actions)),
    )
    found = {each.agent: each for each in judge([played], nodes=200, tables=kqk.table.path).agents}
    white, black = found["white"].total, found["black"].total
    assert (white.judged, white.optimal, white.wins_thrown_away) == (1, 0, 1)
    assert (black.judged, black.optimal) == (1, 1)


# -- files and bad input -----------------------------------------------------------------------------------------
