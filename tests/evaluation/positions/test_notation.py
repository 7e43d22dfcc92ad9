"""Chess in PGN and Go in SGF, read back by what others wrote."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from zermelo.envs import InvalidSettingError
from zermelo.evaluation import EndReason, GameRecord, Move, StoreError, play_match
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.notation import export_notation


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
    assert "RE[B+]" in text


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
