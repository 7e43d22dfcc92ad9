"""Chess: counts of moves that are known, python-chess, and PettingZoo's environment, which it is a twin of."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import chess
import pytest
from pettingzoo.classic.chess import chess_utils

from zermelo.envs import as_game, make, perft
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Chess
from zermelo.envs.games.chess.fen import START, write_fen
from zermelo.envs.games.chess.notation import algebraic, coordinates
from zermelo.envs.games.chess.state import key_of
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.history import RulesWithHistory, keys_of

# https://www.chessprogramming.org/Perft_Results
COUNTS = {
    START: (20, 400, 8902, 197281, 4865609, 119060324),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (48, 2039, 97862, 4085603, 193690690),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2812, 43238, 674624, 11030083, 178633661),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (6, 264, 9467, 422333, 15833292),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1486, 62379, 2103487, 89941194),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (
        46, 2079, 89890, 3894594, 164075551,
    ),
}  # fmt: skip
SPECIAL = {
    "promotions to all pieces": "3r1r2/4P3/8/8/8/k7/4p3/3R1RK1 w - - 0 1",
    "a stalemate next": "7k/8/6Q1/8/8/8/8/K7 w - - 0 1",
    "pawns that are pinned in passing": "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "fifty moves next": "7k/r7/8/8/8/8/R6P/K7 w - - 97 90",
    "few pieces": "8/2k5/8/3n4/8/4P3/2K5/8 b - - 0 1",
    "bishops of one colour": "8/2k1b3/8/8/8/4P3/2KB4/8 b - - 0 1",
    "castling under attack": "r3k2r/8/8/1b6/1B6/8/8/R3K2R w KQkq - 0 1",
}


def players_moves(board: chess.Board) -> dict[int, chess.Move]:
    """PettingZoo's action numbers of the legal moves."""
    player = int(board.turn == chess.BLACK)
    return {a: chess_utils.action_to_move(board, a, player) for a in chess_utils.legal_moves(board)}


class FastBoard:
    """PettingZoo's rules, without its observations: python-chess, with positions counted on the way."""

    def __init__(self, fen: str) -> None:
        self.board = chess.Board(fen)
        self.counts = [Counter([self.board._transposition_key()])]

    def play(self, move: chess.Move) -> None:
        counts = Counter() if self.board.is_irreversible(move) else self.counts[-1].copy()
        self.board.push(move)
        counts[self.board._transposition_key()] += 1
        self.counts.append(counts)

    def utility(self) -> int | None:
        """What white gets, if the game is over."""
        board = self.board
        claim = board.can_claim_fifty_moves() if board.halfmove_clock >= 99 else False
        if not claim and max(self.counts[-1].values()) >= 2:
            claim = board.can_claim_threefold_repetition()
        if claim or board.is_insufficient_material() or not any(board.generate_legal_moves()):
            return chess_utils.result_to_int(board.result(claim_draw=claim))
        return None


def play_beside_python_chess(rules: Any, fen: str, draw: random.Random) -> None:
    """One random game on both."""
    game, fast = RulesWithHistory(rules), FastBoard(fen)
    state = game.initial_state()
    actions = [0] * 218
    while True:
        where = fast.board.fen()
        utility = fast.utility()
        assert game.is_terminal(state) == (utility is not None), where
        if utility is not None:
            assert (game.utility(state, 0), game.utility(state, 1)) == (utility, -utility), where
            return
        legal = actions[: game.legal_actions(state, actions)]
        moves = players_moves(fast.board)
        assert legal == sorted(moves), where
        action = draw.choice(legal)
        fast.play(moves[action])
        state = game.result(state, action)


@pytest.mark.parametrize("fen", COUNTS)
def test_the_first_counts(fen: str) -> None:
    rules = Chess(fen)
    game = RulesGame(rules)
    state, buffer = game.initial_state(), [0] * 218
    actions = game.legal_actions(state)
    replies = [rules.count_legal(rules.result(state, action), buffer) for action in actions]
    assert (len(actions), sum(replies)) == COUNTS[fen][:2]


@pytest.mark.slow
@pytest.mark.parametrize("fen", COUNTS)
def test_the_counts(fen: str) -> None:
    for depth, leaves in enumerate(COUNTS[fen], 1):
        if depth >= 4:
            assert perft(RulesGame(Chess(fen)), depth) == leaves


@pytest.mark.parametrize("fen", SPECIAL.values(), ids=SPECIAL)
def test_special_positions_are_played_as_python_chess_does(fen: str) -> None:
    state = Chess(fen).initial_state()
    for _ in range(2 if state.clock < 50 else 1):
        moves = players_moves(chess.Board(write_fen(state)))
        actions = RulesGame(Chess(fen)).legal_actions(state)
        assert actions == sorted(moves)
        for action, move in moves.items():
            board = chess.Board(write_fen(state))
            assert coordinates(state, action) == move.uci()
            assert algebraic(state, action) == board.san(move)
            board.push(move)
            after = Chess(fen).result(state, action)
            assert write_fen(after, board.fullmove_number) == board.fen()
            assert after.key == key_of(after)
            assert Chess(fen).is_terminal(after) == (FastBoard(board.fen()).utility() is not None)
        state = Chess(fen).result(state, actions[-1])


@pytest.mark.parametrize("fen", [START, *SPECIAL.values()], ids=["start", *SPECIAL])
def test_games_are_played_as_python_chess_does(fen: str) -> None:
    play_beside_python_chess(Chess(fen), fen, random.Random(3))


def moves_in(env: Any, *moves: str) -> None:
    for text in moves:
        wanted = chess.Move.from_uci(text)
        env.step(next(a for a, move in players_moves(env.unwrapped.board).items() if move == wanted))


def test_a_repetition_that_is_one_move_away_ends_the_game() -> None:
    env = make("classic/chess-v6")
    env.reset()
    game = as_game(env)
    moves_in(env, "g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6")
    state = game.snapshot(env)
    assert not game.is_terminal(state)
    assert len(keys_of(state)) == 7
    moves_in(env, "f3g1")
    state = game.snapshot(env)
    assert all(env.terminations.values())
    assert game.is_terminal(state)
    assert game.utility(state) == (0.0, 0.0)
    assert game.reach(state) == 7


def test_boards_that_rules_cannot_have_are_left_to_copies() -> None:
    env = make("classic/chess-v6")
    env.reset()
    env.unwrapped.board.remove_piece_at(chess.E1)
    assert not hasattr(as_game(env), "rules")


@pytest.mark.parametrize(
    ("fen", "says"),
    [
        ("", "two to six words"),
        ("8/8/8/8/8/8/8/8 w", "each player has one king"),
        ("k7/8/8/8/8/8/8/KK6 w", "each player has one king"),
        ("k7/8/8/8/8/8/8/K8 w", "no row of eight squares"),
        ("k7/8/8/8/8/8/K7 w", "it has 7 rows"),
        ("k7/8/8/8/8/8/8/K6P w", "a pawn stands on a last row"),
        ("k7/8/8/8/8/8/8/K6X w", "'X' is no piece"),
        ("k7/8/8/8/8/8/8/K7 x", "neither w nor b"),
        ("k7/8/8/8/8/8/8/K7 w X", "no rights to castle"),
        ("k7/8/8/8/8/8/8/K7 w - e9", "'e9' is no square"),
        ("k7/8/8/8/8/8/8/K7 w - - x 1", "must be whole numbers"),
        ("k7/8/8/8/8/8/8/K6R b - - 101 1", "of at most 100"),
        ("k6R/8/8/8/8/8/8/K7 w - - 0 1", "could take the king"),
        (None, "two to six words"),
    ],
)
def test_texts_that_are_no_positions(fen: Any, says: str) -> None:
    with pytest.raises(InvalidSettingError, match=rf"Chess needs fen as .* not .*{says}"):
        Chess(fen)


@pytest.mark.parametrize(
    ("fen", "shown"),
    [
        ("k7/8/8/8/8/8/8/K7 b", "k7/8/8/8/8/8/8/K7 b - - 0 1"),
        ("r3k2r/8/8/8/8/8/8/4K2R w KQkq - 5 20", "r3k2r/8/8/8/8/8/8/4K2R w Kkq - 5 20"),
        ("4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 9", "4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 9"),
        ("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 9", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 9"),
    ],
)
def test_texts_of_positions(fen: str, shown: str) -> None:
    rules = Chess(fen)
    assert rules.fen == shown
    assert repr(rules) == f"Chess(fen={shown!r})"
    assert Chess(**rules._asdict()) == rules
    env = make("zermelo/Chess-v0", fen=fen)
    env.reset()
    assert env.unwrapped.position == RulesGame(rules).initial_state()


def test_mirror_images_are_python_chess_s() -> None:
    rules, draw, seen = Chess(), random.Random(5), Counter[bool]()
    for _ in range(6):
        board, state = chess.Board(), rules.initial_state()
        while not rules.is_terminal(state) and board.ply() < 120:
            image, may_castle = rules.mirror_image(state), bool(board.castling_rights)
            expected = board if may_castle else board.transform(chess.flip_horizontal)
            seen[may_castle] += 1
            assert write_fen(image).split()[:4] == expected.fen(en_passant="legal").split()[:4]
            assert image.clock == state.clock
            moves = players_moves(board)
            action = draw.choice(sorted(moves))
            board.push(moves[action])
            state = rules.result(state, action)
    assert min(seen[False], seen[True]) > 20
