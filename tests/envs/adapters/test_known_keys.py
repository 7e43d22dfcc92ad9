"""The fast keys of known environments: equal keys, same future; different futures, different keys."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pettingzoo
import pytest

from zermelo.envs import as_game
from zermelo.envs.adapters.aec.game import AECGame


def game_of(name: str, **parameters: Any) -> tuple[AECGame, Any]:
    env = pettingzoo.make("aec", f"classic/{name}", **parameters)
    env.reset(seed=0)
    game = as_game(env, backend="clone")
    return game, game.snapshot(env)


def play(game: AECGame, state: Any, *actions: int) -> Any:
    for action in actions:
        state = game.result(state, action)
    return state


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("tictactoe-v3", [(0, 4, 8), (8, 4, 0)]),
        ("connect_four-v3", [(0, 3, 1), (1, 3, 0)]),
    ],
)
def test_move_orders_meet(name: str, orders: list[tuple[int, ...]]) -> None:
    game, start = game_of(name)
    one, other = (play(game, start, *order) for order in orders)
    assert game.key(one) == game.key(other)
    assert game.key(one) != game.key(start)


@pytest.mark.parametrize("name", ["tictactoe-v3", "connect_four-v3"])
@pytest.mark.parametrize("seed", range(3))
def test_equal_keys_mean_the_same_future(name: str, seed: int) -> None:
    game, start = game_of(name)
    draw = random.Random(seed)
    first: dict[Any, Any] = {}
    met = 0
    for _ in range(150):
        state = start
        for _ in range(4):
            if game.is_terminal(state):
                break
            state = game.result(state, draw.choice(game.legal_actions(state)))
        other = first.setdefault(game.key(state), state)
        if other is not state:
            met += 1
            line = random.Random(met)
            while not game.is_terminal(state):
                assert game.legal_actions(state) == game.legal_actions(other)
                action = line.choice(game.legal_actions(state))
                state, other = game.result(state, action), game.result(other, action)
            assert game.is_terminal(other)
            assert game.utility(state) == game.utility(other)
    assert met > 0


def test_go_knows_passes_and_kos() -> None:
    game, start = game_of("go-v5", board_size=5)
    stone = play(game, start, 12)
    passed = play(game, start, 25)
    assert game.key(passed) != game.key(start)
    # After a pass the stones are the same, but another pass ends the game.
    again = play(game, stone, 25, 25)
    assert game.is_terminal(again)
    assert game.key(play(game, stone, 25)) != game.key(stone)
    # A ko: the same stones with and without the forbidden point.
    #   . B W .       Black 1, 5, 11; White 2, 8, 12, 6 is captured by 7
    before = play(game, start, 1, 2, 5, 8, 11, 12, 24, 6, 7)
    assert before.env._go.ko == (1, 1)
    assert 6 not in game.legal_actions(before)
    waited = play(game, before, 25, 25) if not game.is_terminal(before) else before
    assert game.key(waited) != game.key(before)


def chess_moves(game: AECGame, state: Any, *moves: str) -> Any:
    import chess
    from pettingzoo.classic.chess import chess_utils

    for text in moves:
        board = state.env.board
        player = 0 if board.turn == chess.WHITE else 1
        wanted = chess.Move.from_uci(text)
        action = next(
            a for a in game.legal_actions(state) if chess_utils.action_to_move(board, a, player) == wanted
        )
        state = game.result(state, action)
    return state


def test_chess_keys_know_repetitions_and_counters() -> None:
    game, start = game_of("chess-v6")
    shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
    once = chess_moves(game, start, *shuffle)
    assert once.env.board.board_fen() == start.env.board.board_fen()
    assert game.key(once) != game.key(start)
    # Twice would be a third occurrence: the environment ends the game one move before it can be claimed.
    nearly = chess_moves(game, once, *shuffle[:3])
    assert game.is_terminal(nearly)
    assert not game.is_terminal(chess_moves(game, start, *shuffle[:3]))


def test_chess_move_orders_meet_after_a_pawn_move() -> None:
    game, start = game_of("chess-v6")
    one = chess_moves(game, start, "e2e3", "e7e6", "d2d3", "d7d6")
    other = chess_moves(game, start, "d2d3", "d7d6", "e2e3", "e7e6")
    assert one.env.board.halfmove_clock == 0
    knights = chess_moves(game, start, "g1f3", "g8f6", "b1c3", "b8c6")
    swapped = chess_moves(game, start, "b1c3", "b8c6", "g1f3", "g8f6")
    assert game.key(one) == game.key(other)
    # Here the positions on the way differ, and each could still be repeated.
    assert game.key(knights) != game.key(swapped)


def test_chess_keys_know_castling_and_en_passant() -> None:
    game, start = game_of("chess-v6")
    rook = chess_moves(game, start, "h2h4", "a7a6", "h1h2", "a6a5", "h2h1", "a5a4", "g2g3")
    plain = chess_moves(game, start, "h2h4", "a7a6", "g2g3", "a6a5", "b1c3", "a5a4", "c3b1")
    assert rook.env.board.board_fen() == plain.env.board.board_fen()
    assert game.key(rook) != game.key(plain)
    # A double step that nobody can take is no different from two single ones.
    double = chess_moves(game, start, "e2e3", "a7a6", "d2d3", "a6a5")
    assert game.key(chess_moves(game, start, "e2e3", "a7a5", "d2d3")) == game.key(
        chess_moves(game, start, "d2d3", "a7a5", "e2e3")
    )
    assert not game.is_terminal(double)
    ready = chess_moves(game, start, "e2e4", "a7a6", "e4e5")
    step = chess_moves(game, ready, "d7d5")
    assert step.env.board.has_legal_en_passant()
    late = chess_moves(game, chess_moves(game, start, "e2e4", "d7d5", "e4e5"), "a7a6")
    assert step.env.board.board_fen() == late.env.board.board_fen()
    assert game.key(step) != game.key(late)


@pytest.mark.parametrize("seed", [0, 1])
def test_chess_key_parts_are_those_of_the_repetition_rule(seed: int) -> None:
    """Positions with equal keys have equal counts of earlier positions, as python-chess counts them."""
    game, state = game_of("chess-v6")
    generator = np.random.default_rng(seed)
    seen: dict[Any, Any] = {}
    for _ in range(120):
        if game.is_terminal(state):
            break
        board = state.env.board
        claims = board.can_claim_threefold_repetition(), board.is_repetition(2), board.halfmove_clock
        assert seen.setdefault(game.key(state), claims) == claims
        actions = game.legal_actions(state)
        state = game.result(state, actions[int(generator.integers(len(actions)))])
