"""Chess in PGN and Go in SGF, read back by what others wrote."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Go
from zermelo.envs.games.chess.scores import value_of_mate
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import GameRecord, play_match
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, Move
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.moves import play_moves
from zermelo.evaluation.positions.notation import export_notation, game_text
from zermelo.evaluation.positions.pgn import pgn_games
from zermelo.evaluation.positions.sgf import sgf_games


def record(env: str, *actions: int) -> GameRecord:
    moves = tuple(Move(place % 2, action) for place, action in enumerate(actions))
    agents = ('a "quoted]\\', "b")
    end = EndReason.TERMINATED
    return GameRecord(
        env=env, seed=1, moves=moves, agents=agents, seat_names=("x", "y"), rewards=(1.0, -1.0), end=end
    )


@pytest.mark.parametrize("env", ["classic/chess-v6", "zermelo/Chess-v0"])
def test_pgn_is_read_by_python_chess(env: str, tmp_path: Path) -> None:
    pgn = pytest.importorskip("chess.pgn")
    games = [play_match(env, ("random", "random"), seed=seed, max_moves=60) for seed in (1, 2)]
    path = export_notation(games, tmp_path / "new", ExportFormat.PGN)
    with path.open(encoding="utf-8") as file:
        for game in games:
            read = pgn.read_game(file)
            assert not read.errors
            assert read.headers["White"] == game.agents[0]
            assert len(list(read.mainline_moves())) == len(game.moves)
        assert pgn.read_game(file) is None


def test_a_position_of_ones_own_is_told(tmp_path: Path) -> None:
    pgn = pytest.importorskip("chess.pgn")
    fen = "4k3/P7/8/8/8/8/8/4K3 b - - 0 1"
    game = play_match(f"zermelo/Chess-v0(fen={fen!r})", ("random", "random"), seed=1, max_moves=5)
    text = export_notation([game], tmp_path, ExportFormat.PGN).read_text(encoding="utf-8")
    read = pgn.read_game(io.StringIO(text))
    assert read.headers["FEN"] == fen
    assert not read.errors
    assert "1..." in text
    assert len(list(read.mainline_moves())) == 5


def test_sgf_has_points_passes_and_names(tmp_path: Path) -> None:
    games = [
        record("classic/go-v5(board_size=5)", 0, 6, 25, 25),
        record("zermelo/Go-v0(size=3, komi=0.5)", 8, 9, 9),
    ]
    text = export_notation(games, tmp_path, ExportFormat.SGF).read_text(encoding="utf-8")
    assert text.count("(;GM[1]FF[4]") == 2
    assert "SZ[5]KM[7.5]" in text
    assert "SZ[3]KM[0.5]" in text
    assert "\n;B[aa];W[bb];B[];W[])" in text
    assert "\n;B[cc];W[];B[])" in text
    assert 'PB[a "quoted\\]\\\\]PW[b]' in text
    assert "RE[B+20.5]" not in text  # the rewards, not the count of points, say who has won


def test_illegal_moves_are_left_out(tmp_path: Path) -> None:
    text = export_notation([record("zermelo/Go-v0(size=3)", 4, 4)], tmp_path, ExportFormat.SGF).read_text()
    assert text.endswith("\n;B[bb])\n")


def test_other_games_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingError, match="pgn is for chess"):
        export_notation([record("zermelo/Go-v0", 1)], tmp_path, ExportFormat.PGN)
    with pytest.raises(InvalidSettingError, match="sgf is for Go"):
        export_notation([record("odd (", 1)], tmp_path, ExportFormat.SGF)
    with pytest.raises(StoreError, match="no games"):
        export_notation([], tmp_path, ExportFormat.SGF)
    assert list(tmp_path.iterdir()) == []


# -- results ------------------------------------------------------------------------------------------------------

CHESS = "zermelo/Chess-v0"
GO = "zermelo/Go-v0(size=3, komi=0.5)"


def ended(
    env: str, end: EndReason, rewards: tuple[float, float], kind: FailureKind | None, *actions: int
) -> GameRecord:
    failure = (
        None
        if kind is None
        else Failure(kind, None if kind is FailureKind.ENVIRONMENT_ERROR else 1, "it {is} so]")
    )
    return replace(record(env, *actions), end=end, rewards=rewards, failure=failure, game_id="2.0.1")


FAILED, DONE, LONG = EndReason.FAILURE, EndReason.TERMINATED, EndReason.MOVE_LIMIT


@pytest.mark.parametrize(
    ("end", "rewards", "kind", "result", "termination"),
    [
        (DONE, (1.0, -1.0), None, "1-0", "normal"),
        (DONE, (0.0, 0.0), None, "1/2-1/2", "normal"),
        (EndReason.RESIGNATION, (-1.0, 1.0), None, "0-1", "normal"),
        (LONG, (0.0, 0.0), None, "1/2-1/2", "unterminated"),
        (FAILED, (0.0, 0.0), FailureKind.TIMEOUT, "1-0", "time forfeit"),
        (FAILED, (0.0, 0.0), FailureKind.ILLEGAL_ACTION, "1-0", "illegal move"),
        (FAILED, (0.0, 0.0), FailureKind.CRASH, "1-0", "abandoned"),
        (FAILED, (0.0, 0.0), FailureKind.ENVIRONMENT_ERROR, "*", "abandoned"),
    ],
)
def test_how_a_game_of_chess_ended_is_a_short_tag(
    end: EndReason, rewards: tuple[float, float], kind: FailureKind | None, result: str, termination: str
) -> None:
    pgn = pytest.importorskip("chess.pgn")
    first = play_match(CHESS, ("random", "random"), seed=1, max_moves=1).moves[0].action
    text = game_text(ended(CHESS, end, rewards, kind, first), ExportFormat.PGN, date="2026-03-01")
    read = pgn.read_game(io.StringIO(text))
    assert not read.errors
    assert read.headers["Result"] == result
    assert read.headers["Termination"] == termination
    assert read.headers["Date"] == "2026.03.01"
    assert read.headers["Round"] == "3.1.2"
    assert ("it (is) so" in str(read)) == (kind is not None)


@pytest.mark.parametrize(
    ("end", "rewards", "kind", "actions", "result"),
    [
        (EndReason.RESIGNATION, (-1.0, 1.0), None, (), "W+R"),
        (DONE, (1.0, -1.0), None, (4, 9, 9), "B+8.5"),
        (DONE, (-1.0, 1.0), None, (9, 9), "W+0.5"),
        (DONE, (0.0, 0.0), None, (9, 9), "0"),
        (LONG, (1.0, -1.0), None, (4,), "B+"),
        (FAILED, (0.0, 0.0), FailureKind.TIMEOUT, (4,), "B+T"),
        (FAILED, (0.0, 0.0), FailureKind.CRASH, (4,), "B+F"),
        (FAILED, (0.0, 0.0), FailureKind.ENVIRONMENT_ERROR, (4,), "Void"),
    ],
)
def test_how_a_game_of_go_ended_is_a_margin(
    end: EndReason, rewards: tuple[float, float], kind: FailureKind | None, actions: tuple[int, ...], result: str
) -> None:
    text = game_text(ended(GO, end, rewards, kind, *actions), ExportFormat.SGF, date="2026-03-01")
    assert f"RE[{result}]" in text
    assert "RO[3.1.2]DT[2026-03-01]" in text
    assert [game.moves for game in sgf_games(text, 3)] == [actions]


@pytest.mark.parametrize("env", ["classic/go-v5(board_size=5)", "zermelo/Go-v0(size=5)"])
def test_games_of_go_are_read_back(env: str, tmp_path: Path) -> None:
    games = [play_match(env, ("random", "random"), seed=seed, max_moves=80) for seed in range(4)]
    text = export_notation(games, tmp_path, ExportFormat.SGF).read_text(encoding="utf-8")
    assert [game.moves for game in sgf_games(text, 5)] == [game.actions for game in games]


def test_names_clocks_and_scores_are_those_that_readers_know() -> None:
    pgn = pytest.importorskip("chess.pgn")
    actions = tuple(play_moves(drive_env(make(CHESS), 0), "e4 c5 Nf3 d6"))
    values = (0.2, 0.2, value_of_mate(3), value_of_mate(-2))
    moves = tuple(Move(ply % 2, action, 1.25, 10, 7, values[ply]) for ply, action in enumerate(actions))
    names = ("uci(path='/usr/games/stockfish -x', nodes=10)", "uci(path='a/b.exe')#2")
    game = replace(record(CHESS), moves=moves, clocks=("60+0.5", "60+0.5"), agents=names)
    text = game_text(game, ExportFormat.PGN)
    read = pgn.read_game(io.StringIO(text))
    assert not read.errors
    assert (read.headers["White"], read.headers["Black"]) == ("stockfish(nodes=10)", "b#2")
    assert (read.headers["ECO"], read.headers["Opening"]) == ("B50", "Sicilian Defense: Modern Variations")
    assert read.headers["TimeControl"] == "60+0.5"
    nodes = [*read.mainline()]
    assert [str(node.eval().white()) for node in nodes] == ["+100", "-100", "#+3", "#+2"]
    assert [node.clock() for node in nodes] == [59.25, 59.25, 58.5, 58.5]
    assert {node.emt() for node in nodes} == {1.25}
    assert not re.search(r"\[%\w+\n", text)
    plain = pgn.read_game(io.StringIO(game_text(record(CHESS, actions[0]), ExportFormat.PGN)))
    assert (plain.headers["TimeControl"], plain.headers["ECO"]) == ("-", "B00")
    assert plain.next().comment == ""


def test_a_proven_win_that_came_is_a_mate_in_so_many_moves() -> None:
    pgn = pytest.importorskip("chess.pgn")
    actions = play_moves(drive_env(make(CHESS), 0), "f3 e5 g4 Qh4")
    moves = tuple(
        Move(ply % 2, action, 0.1, 1, 3, 1.0 if ply == 3 else None) for ply, action in enumerate(actions)
    )
    won = replace(record(CHESS), moves=moves, rewards=(-1.0, 1.0))
    read = pgn.read_game(io.StringIO(game_text(won, ExportFormat.PGN)))
    assert str([*read.mainline()][-1].eval().white()) == "#-1"


def test_moves_are_numbered_as_the_position_says() -> None:
    fen = "4k3/P7/8/8/8/8/8/4K3 b - - 0 37"
    game = play_match(f"{CHESS}(fen={fen!r})", ("random", "random"), seed=1, max_moves=2)
    text = game_text(game, ExportFormat.PGN)
    assert "37..." in text
    assert " 38. " in text


def test_odd_characters_in_names_do_not_stop_an_export(tmp_path: Path) -> None:
    odd = replace(record(GO, 4), agents=("w\udce9", "b"))
    assert "PB[w?]" in export_notation([odd], tmp_path, ExportFormat.SGF).read_text(encoding="utf-8")


# -- reading ------------------------------------------------------------------------------------------------------


def test_main_lines_of_many_games_are_read() -> None:
    pytest.importorskip("chess")
    text = """\ufeff[Event "a"]
[Site "?"]

1. e4 {a comment} e5 (1... c5 2. Nf3 (2. Ke3 Kd1)) 2. Nf3 $1 Nc6 1/2-1/2

[Event "b"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]

1. O-O *
"""
    first, second = pgn_games(text)
    assert (first.line, first.moves) == (1, ("e2e4", "e7e5", "g1f3", "b8c6"))
    assert (second.line, second.moves, second.fen) == (6, ("e1g1",), "4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    assert [game.moves for game in pgn_games(text, 1)] == [("e2e4",), ("e1g1",)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[Event "a"]\n\n1. e4 *\n\n[Event "b"]\n\n1. Ke2 *',
            "begins at line 5 cannot be read: illegal san: 'Ke2'",
        ),
        ("1. e4 -- 2. d4 *", "move 2 is a null move"),
        ('[Variant "Atomic"]\n\n1. e4 *', "it is a game of 'Atomic', not of chess"),
        ('[FEN "nonsense"]\n\n1. e4 *', "cannot be read"),
        ("hello", "line 1 is no game in PGN"),
    ],
)
def test_what_is_no_game_of_chess_is_told(text: str, said: str) -> None:
    pytest.importorskip("chess")
    with pytest.raises(StoreError, match=said):
        list(pgn_games(text))


@pytest.mark.parametrize(
    ("text", "setup", "moves"),
    [
        ("(;SZ[3]AB[aa][ca];W[bb])", (0, 9, 2), (4,)),
        ("(;SZ[3]AB[aa:ba]PL[B];B[bb])", (0, 9, 1, 9), (4,)),
        ("(;SZ[3]AW[aa];AB[bb];AE[aa];B[cc])", (4, 9), (8,)),
        ("(;SZ[3]AB[bb]AW[aa][ca];B[cc])", (9, 0, 4, 2), (8,)),
        ("(;SZ[3]AB[bb]AW[aa][ca];W[cc])", (9, 0, 9, 2, 4), (8,)),
        ("(;SZ[3];W[bb];B[])", (9,), (4, 9)),
        ("(;SZ[3];B[bb];B[cc];W[tt])", (), (4, 9, 8, 9)),
        ("junk (;SiZe[3]GaMe[1];Black[bb]C[(;\\]])", (), (4,)),
    ],
)
def test_stones_that_are_set_up_are_played(text: str, setup: tuple[int, ...], moves: tuple[int, ...]) -> None:
    assert [game[1:] for game in sgf_games(text, 3)] == [(setup, moves)]


@pytest.mark.thorough
def test_a_position_that_is_set_up_is_that_position() -> None:
    """Random positions, played up stone by stone by the rules, in which nothing is captured."""
    rules = Go(5, superko=1)
    game = RulesGame(rules)
    for seed in range(20):
        stones = play_match("zermelo/Go-v0(size=5)", ("random", "random"), seed=seed, max_moves=30)
        last = game.initial_state()
        for action in stones.actions:
            last = game.result(last, action)
        board = rules.text(last)
        rows = [line.split() for line in board.splitlines()]
        points = {
            mark: "".join(
                f"[{chr(97 + column)}{chr(97 + row)}]"
                for row in range(5)
                for column in range(5)
                if rows[row][column] == mark
            )
            for mark in "XO"
        }
        text = "(;SZ[5]" + "".join(
            f"{name}{points[mark]}" for name, mark in (("AB", "X"), ("AW", "O")) if points[mark]
        )
        (read,) = sgf_games(text + f"PL[{'BW'[seed % 2]}])", 5)
        state = game.initial_state()
        for action in read.setup:
            assert action in game.legal_actions(state), seed
            state = game.result(state, action)
        assert (rules.text(state), game.to_move(state)) == (board, seed % 2), seed
