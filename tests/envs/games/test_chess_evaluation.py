"""What searches know of chess: exchanges, the evaluation, and that what is won is won."""

from __future__ import annotations

import random

import chess
import pytest

from zermelo.agents import AlphaBetaAgent
from zermelo.envs.games import Chess
from zermelo.envs.games.chess.evaluation import wins_exchange
from zermelo.envs.games.chess.fen import write_fen
from zermelo.envs.games.chess.notation import algebraic
from zermelo.envs.games.chess.tables import MOVES
from zermelo.envs.rules import RulesGame

VALUES = (1, 3, 3, 5, 9, 99)


def gain(board: chess.Board, square: int) -> int:
    """What the player to move wins on a square, by taking with the least attacker each time; pins are not seen."""
    attackers = board.attackers(board.turn, square)
    taken = board.piece_type_at(square)
    if not attackers or taken is None:
        return 0
    origin = min(attackers, key=lambda s: (VALUES[(board.piece_type_at(s) or 1) - 1], s))
    if board.piece_type_at(origin) == chess.KING and board.attackers(not board.turn, square):
        return 0
    after = board.copy(stack=False)
    after.set_piece_at(square, after.remove_piece_at(origin))
    after.turn = not board.turn
    return max(0, VALUES[taken - 1] - gain(after, square))


@pytest.mark.parametrize("seed", range(3))
def test_exchanges_are_those_of_trying_all_captures(seed: int) -> None:
    draw = random.Random(seed)
    rules = Chess("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    game = RulesGame(rules)
    state = game.initial_state()
    seen = set()
    for _ in range(25):
        board = chess.Board(write_fen(state))
        turned = 56 * state.seat
        actions = game.legal_actions(state)
        for action in actions:
            origin, target = int(MOVES[action]) & 63, int(MOVES[action]) >> 6 & 63
            here, there = origin ^ turned, target ^ turned
            mover, taken = board.piece_type_at(here), board.piece_type_at(there)
            if taken is None or mover is None or (mover == chess.PAWN and target >= 56):
                continue
            after = board.copy(stack=False)
            after.set_piece_at(there, after.remove_piece_at(here))
            after.turn = not board.turn
            wins = VALUES[taken - 1] >= gain(after, there)
            found = wins_exchange(state, origin, target, VALUES[taken - 1], mover - 1)
            assert found == wins, f"seed {seed}, {board.fen()}, {algebraic(state, action)}"
            seen.add(wins)
        state = game.result(state, draw.choice(actions))
        if game.is_terminal(state):
            break
    assert seen == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_colours_are_evaluated_alike(seed: int) -> None:
    draw = random.Random(seed)
    rules = Chess()
    game = RulesGame(rules)
    state = game.initial_state()
    values = set()
    for _ in range(30):
        other = Chess(chess.Board(write_fen(state)).mirror().fen()).initial_state()
        assert rules.evaluation(state, 0) == -rules.evaluation(state, 1) == rules.evaluation(other, 1)
        assert game.evaluation(state)[0] * 1024 == rules.evaluation(state, 0)
        values.add(rules.evaluation(state, 0))
        state = game.result(state, draw.choice(game.legal_actions(state)))
        if game.is_terminal(state):
            break
    assert len(values) > 5


def test_a_queen_is_worth_more_than_a_rook() -> None:
    values = []
    for piece in "QRBNP":
        state = Chess(f"4k3/pppppppp/8/8/3{piece}4/8/PPPPPPP1/4K3 w - - 0 1").initial_state()
        values.append(Chess().evaluation(state, 0))
    assert values[0] > values[1] > max(values[2:4])
    assert min(values[2:4]) > max(values[4], 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "Qxf7#"),
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "Rd8#"),
        ("7k/5Q2/8/8/8/8/8/K7 w - - 0 1", None),
        ("k7/8/8/3q4/8/4N3/8/K7 w - - 0 1", "Nxd5"),
    ],
)
def test_what_is_there_is_found(fen: str, best: str | None) -> None:
    game = RulesGame(Chess(fen))
    state = game.initial_state()
    found = AlphaBetaAgent(depth=5, selective="game").search_state(game, state)
    assert best is None or algebraic(state, found.action) == best
    assert not game.is_terminal(game.result(state, found.action)) or best in ("Qxf7#", "Rd8#", "Nxd5")


def test_moves_that_lose_an_exchange_are_known() -> None:
    rules = Chess("4k3/2p5/8/1n6/8/4P3/8/R2QK3 w - - 0 1")
    game = RulesGame(rules)
    state = game.initial_state()
    losing = {algebraic(state, action) for action in game.legal_actions(state) if rules.is_losing(state, action)}
    assert losing == {"Qd4", "Qd6", "Qd7+", "Qd8+", "Ra3", "Ra7"}


def worth(fen: str) -> int:
    """The evaluation for the player to move, as the compiled and the mirrored position have it too."""
    rules = Chess(fen)
    state = rules.initial_state()
    found = rules.evaluation(state, state.seat)
    mirrored = Chess(chess.Board(fen).mirror().fen())
    assert mirrored.evaluation(mirrored.initial_state(), 1 - state.seat) == found
    return found


def test_draws_in_spite_of_material_are_no_wins() -> None:
    assert worth("7k/8/7P/6K1/8/8/8/2B5 w - - 0 1") > 400, "the bishop guards the corner"
    assert worth("7k/8/7P/6K1/8/8/8/3B4 w - - 0 1") < 100, "a bishop of the wrong colour"
    assert worth("k7/8/P7/1K6/8/8/8/3B4 w - - 0 1") > 400
    assert worth("8/8/4k3/8/8/8/8/KNN5 w - - 0 1") < 100, "two knights"
    assert abs(worth("8/8/4k3/4r3/8/8/1B6/K7 w - - 0 1")) < 100, "a rook against a bishop"
    assert worth("8/8/4k3/4b3/8/8/1Q6/K7 w - - 0 1") > 400
    opposite, same = (worth(f"4k3/3p4/{row}/8/8/3PP3/3PB3/4K3 w - - 0 1") for row in ("3b4", "4b3"))
    assert 0 < opposite < same


def test_a_bare_king_is_driven_into_the_right_corner() -> None:
    middle, edge = worth("8/8/8/3k4/8/8/8/K5Q1 w - - 0 1"), worth("8/8/8/k7/8/8/8/K5Q1 w - - 0 1")
    assert edge > middle
    right, wrong = worth("k7/8/8/8/8/8/8/K2BN3 w - - 0 1"), worth("7k/8/8/8/8/8/8/K2BN3 w - - 0 1")
    assert right > wrong, "the bishop is light, and so is the square a8"


@pytest.mark.parametrize(
    ("fen", "known"),
    [
        ("8/8/8/4k3/8/8/8/K6R w - - 0 1", True),
        ("8/8/8/4k3/8/8/8/K4BN1 b - - 0 1", True),
        ("8/8/8/4k3/8/8/7P/K5N1 w - - 0 1", True),
        ("8/8/8/4k3/8/8/8/K4NN1 w - - 0 1", False),
        ("8/8/8/4k3/8/8/7P/K7 w - - 0 1", False),
        ("7k/8/7P/6K1/8/8/8/5B2 w - - 0 1", False),
        ("8/8/8/4k3/8/8/p7/K6R w - - 0 1", False),
        (chess.STARTING_FEN, False),
    ],
)
def test_whether_a_bare_king_can_be_mated_is_known(fen: str, known: bool) -> None:
    for board in (chess.Board(fen), chess.Board(fen).mirror()):
        rules = Chess(board.fen())
        assert rules.is_known_win(rules.initial_state()) == known
