"""Files of openings as people have them: what is played of each, and what is refused; a run needs them once."""

from __future__ import annotations

import gzip
import re
import sys
import zipfile
from pathlib import Path

import pytest

from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.games import Chess
from zermelo.envs.registration.make import make
from zermelo.envs.support.installing import install_command
from zermelo.evaluation import play_match, read_games, round_robin
from zermelo.evaluation.analysis.judge import judge
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.moves import play_moves
from zermelo.evaluation.positions.notation import export_notation
from zermelo.evaluation.tournament import opening_files
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.settings import TournamentSettings

CHESS = "zermelo/Chess-v0"
THEIR_CHESS = "classic/chess-v6"
GO = "zermelo/Go-v0(size=5)"
TICTACTOE = "classic/tictactoe-v3"
SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
ENDGAME = "4k3/8/8/8/8/8/8/4K2R w K - 12 34"
PGN = f"""[Event "with % everything"]
[White "M\u00fcller"]

1. e4 {{a comment}} e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 $1 Nc6 ; a comment
3. Bb5! a6 1-0

[Event "the same four plies"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 *

[Event "of a position"]
[SetUp "1"]
[FEN "{SICILIAN}"]

2. Nf3 d6 1/2-1/2
"""


def prepared(env: str, path: Path | str, plies: int | None = None, games: int = 20) -> Tournament:
    return Tournament.prepare(
        env, ["random", "random"], TournamentSettings(games=games, openings=path, opening_plies=plies)
    )


def played(env: str, content: str | bytes, folder: Path, name: str = "openings.txt", plies: int | None = None):
    """The openings of a file, by moves as numbers, each with the environment that it begins in."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    schedule = prepared(env, path, plies).schedule
    return list(zip(schedule.openings, schedule.starts or [None] * len(schedule.openings), strict=True))


def numbers(env: str, *lines: str) -> list[tuple[int, ...]]:
    return [tuple(play_moves(drive_env(make(env), 0), line)) for line in lines]


# -- lines --------------------------------------------------------------------------------------------------------


def test_a_line_is_actions_or_moves(tmp_path: Path) -> None:
    text = "# centre\n4\n\n0, 8,  # corners\n(1),2,3,\n4 5\nb2 a1\nb2,a1\nb2\n"
    found = played(TICTACTOE, text, tmp_path)
    assert found == [
        (opening, None) for opening in [(4,), (0, 8), (1, 2, 3), (4, 5), *numbers(TICTACTOE, "b2 a1")][:5]
    ]


@pytest.mark.parametrize("env", [CHESS, THEIR_CHESS])
@pytest.mark.parametrize(
    "line",
    [
        "e2e4 e7e5 g1f3",
        "e2e4,e7e5,g1f3",
        "e4 e5 Nf3",
        "1. e4 e5 2. Nf3 *",
        "1.e4 e5 {usual} 2.Nf3! $1 1/2-1/2",
        "E4,E5,nf3",
    ],
)
def test_chess_in_every_way_it_is_written(env: str, line: str, tmp_path: Path) -> None:
    assert played(env, f"{line}\r\n", tmp_path) == [(numbers(env, "e4 e5 Nf3")[0], None)]


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffe4 e5\r\nd4\r\n".encode(),
        "e4 e5\nd4".encode("utf-16"),
        gzip.compress(b"e4 e5\nd4\n", mtime=0),
        b"e4 e5 # M\xfcller\nd4\n",
        b"e4 e5\re4 e5\rd4\r",
    ],
    ids=["mark and CRLF", "UTF-16", "gz", "Latin-1", "CR, and twice the same"],
)
def test_files_of_all_systems(content: bytes, tmp_path: Path) -> None:
    assert [opening for opening, _ in played(CHESS, content, tmp_path)] == numbers(CHESS, "e4 e5", "d4")


def test_openings_are_given_as_lines_too() -> None:
    plan = Tournament.prepare(
        CHESS, ["random", "random"], TournamentSettings(games=4, openings=["e4 e5", [77]], opening_plies=1)
    )
    assert plan.schedule.openings == (numbers(CHESS, "e4")[0], (77,))


# -- positions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [SICILIAN, SICILIAN[:-4], f'{SICILIAN[:-4]} bm Nf3 c3; id "a; b"; hmvc 0; fmvn 2;', f"{SICILIAN} ; a comment"],
    ids=["FEN", "short", "EPD", "comment"],
)
def test_a_position_is_the_start_of_its_games(line: str, tmp_path: Path) -> None:
    ((opening, start),) = played(CHESS, f"{line}\n", tmp_path)
    assert opening == ()
    record = play_match(start, ["random", "random"], seed=0, max_moves=1)
    assert Chess(SICILIAN).fen.split()[:4] == drive_env(make(start), 0).env.unwrapped.rules.fen.split()[:4]
    assert record.moves


def test_the_start_of_the_game_is_no_position_of_its_own(tmp_path: Path) -> None:
    for env in (CHESS, THEIR_CHESS):
        assert played(env, f"{Chess().fen}\n", tmp_path) == [((), None)]


@pytest.mark.thorough
def test_games_from_positions_are_recorded_resumed_and_exported(tmp_path: Path) -> None:
    pgn = pytest.importorskip("chess.pgn")
    path, out = tmp_path / "positions.epd", tmp_path / "run"
    path.write_text(f"{SICILIAN}\n{ENDGAME}\ne4 e5\n")
    settings = {"openings": path, "out": out, "max_moves": 4, "progress": False, "seed": 3}
    first = [*round_robin(CHESS, ["random", "greedy"], games=6, **settings).records]
    assert [game.env for game in first[::2]] == [f"{CHESS}(fen={SICILIAN!r})", f"{CHESS}(fen={ENDGAME!r})", CHESS]
    assert "again" not in str(judge(first, CHESS, nodes=100).notes), "each is replayed from its own position"
    path.unlink()
    again = round_robin(CHESS, ["random", "greedy"], games=8, **settings)
    assert [*again.records][:6] == first
    assert [*again.records][6].env == first[0].env, "the file had no others"
    with export_notation(read_games(out), tmp_path, ExportFormat.PGN).open() as file:
        for record in again.records:
            game = pgn.read_game(file)
            assert not game.errors
            assert len([*game.mainline_moves()]) == len(record.actions)
            assert ("FEN" in game.headers) == (record.env != CHESS)


def test_a_file_that_is_gone_is_asked_for_where_it_had_more(tmp_path: Path) -> None:
    path, out = tmp_path / "openings.txt", tmp_path / "run"
    path.write_text("0\n1\n2\n")
    settings = {"openings": path, "out": out, "progress": False}
    round_robin(TICTACTOE, ["random", "greedy"], games=4, **settings)
    path.unlink()
    with pytest.raises(
        InvalidSettingError, match="is gone, and the run has 2 of its openings, where 3 may be needed"
    ):
        round_robin(TICTACTOE, ["random", "greedy"], games=6, **settings)
    path.write_text("0\n1\n2\n")
    assert round_robin(TICTACTOE, ["random", "greedy"], games=6, **settings).results.games == 6


# -- PGN and SGF --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["games.pgn", "games", "games.PGN.gz", "games.zip"])
def test_main_lines_of_a_pgn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("chess")
    content = PGN.encode("latin-1")
    if name.endswith("zip"):
        with zipfile.ZipFile(tmp_path / "made", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/games.pgn", content)
        content = (tmp_path / "made").read_bytes()
    found = played(CHESS, gzip.compress(content, mtime=0) if name.endswith("gz") else content, tmp_path, name)
    known = numbers(CHESS, "e4 e5 Nf3 Nc6 Bb5 a6", "e4 e5 Nf3 Nc6 Bc4")
    assert [opening for opening, _ in found[:2]] == known
    ((third, start),) = found[2:]
    assert third == numbers(f"{CHESS}(fen={SICILIAN!r})", "Nf3 d6")[0]
    assert start == f"{CHESS}(fen={SICILIAN!r})"


def test_the_first_plies_of_games(tmp_path: Path) -> None:
    pytest.importorskip("chess")
    mate = '[Event "short"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n[Event "bad later"]\n\n1. d4 d5 2. Ke5 *\n'
    path = tmp_path / "games.pgn"
    path.write_text(PGN.partition('[Event "of a')[0] + mate)
    schedule = prepared(THEIR_CHESS, path, 2).schedule
    assert [*schedule.openings] == numbers(THEIR_CHESS, "e4 e5", "f3 e5", "d4 d5"), "equal openings count once"
    with pytest.raises(
        InvalidSettingError, match=r"game at line 11 of .* over after 4 plies: take fewer with --opening"
    ):
        prepared(THEIR_CHESS, path, 4)
    path.write_text("[" + mate.partition("\n\n[")[2])
    with pytest.raises(
        InvalidSettingError, match=r"games.pgn: the game that begins at line 1 cannot be read: illegal san"
    ):
        prepared(THEIR_CHESS, path)


@pytest.mark.parametrize("env", [GO, "classic/go-v5(board_size=5)"])
def test_games_of_go(env: str, tmp_path: Path) -> None:
    text = "(;GM[1]SZ[5]KM[0.5];B[cc];W[bb](;B[dd])(;B[aa]))\n(;SZ[5]AB[aa][ee];W[cc])\n(;SZ[5];B[cc];W[];B[bb])"
    assert [opening for opening, _ in played(env, text, tmp_path, "a.sgf")] == [
        (12, 6, 18), (0, 25, 24, 12), (12, 25, 6),
    ]  # fmt: skip
    found = played(env, text, tmp_path, "a", plies=1)
    assert [opening for opening, _ in found] == [(12,), (0, 25, 24, 12)], "stones that are set up are no plies"


# -- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "content", "said"),
    [
        (CHESS, "", "the file .*openings.txt' is empty: give at least one"),
        (CHESS, "\n# nothing\n", "there is no opening in"),
        (CHESS, "e4 e5\nd4 e4\n", r"move 2 of line 2 of .*openings.txt is 'e4', which is not legal here"),
        (CHESS, "e4\nnonsense\n", "move 1 of line 2 of .* is 'nonsense'"),
        (CHESS, "e4\n__import__('os')\n", "move 1 of line 2 of"),
        (CHESS, "f3 e5 g4 Qh4\n", "line 1 of .* leaves nothing to play, as the game is over after 4 plies"),
        (CHESS, "4k3/8/8/8/8/8/8/8 w - - 0 1\n", "line 1 of .* has no position that can be played: .*one king"),
        (CHESS, "4k3/8/8/8/8/8/4K2R w K -\n", "line 1 of .* has no position that can be played: .*7 rows"),
        (CHESS, f"{ENDGAME} e4\n", "line 1 of .* has 'e4' after the position"),
        (CHESS, "7k/5KQ1/8/8/8/8/8/8 b - - 0 1\n", "line 1 of .* the game is over in this position: leave it"),
        (THEIR_CHESS, f"e4\n{SICILIAN}\n", "line 2 of .* classic/chess-v6 cannot be set to a position"),
        (GO, f"C3\n{SICILIAN}\n", "line 2 of .* is a position of chess, and the environment plays another game"),
        (GO, PGN, "is in PGN, which is for chess, .* give an SGF, or moves, such as C3 D4"),
        (CHESS, "(;SZ[5];B[aa])", "is in SGF, which is for Go, .* give a PGN, or moves, such as e4 e5"),
        (TICTACTOE, "(;SZ[5];B[aa])", "is in SGF, which is for Go"),
        (GO, "(;SZ[9];B[aa])", "begins at line 1 cannot be read: the board has 9 lines, and the one .*size=9"),
        (GO, "(;SZ[5];B[aa])(;SZ[5];B[aa];W[aa])", "the game at line 1 of .* plays 0, which is not legal here"),
        (GO, "(;SZ[5]C[nothing])", "game at line 1 of .* has no moves"),
        (TICTACTOE, "4\n0,0\n", "line 2 of .*, 0,0, plays 0, which is not legal here .*, at ply 1"),
        (TICTACTOE, b"\xff\xfe\x00", "it is no text"),
        (TICTACTOE, bytes(range(256)), "it is no text"),
        (TICTACTOE, b"\x1f\x8b\x08nothing", "cannot read the openings in .*openings.txt"),
        (TICTACTOE, gzip.compress(b"4\n" * 1000, mtime=0)[:-20], "cannot read the openings in .*openings.txt"),
        (TICTACTOE, b"PK\x03\x04nothing", "cannot read the openings in .*: File is not a zip file"),
    ],
    ids=lambda part: repr(part[:16]),
)  # fmt: skip
def test_what_cannot_be_read_is_named(env: str, content: str | bytes, said: str, tmp_path: Path) -> None:
    pytest.importorskip("chess")
    with pytest.raises(InvalidSettingError, match=said) as caught:
        played(env, content, tmp_path)
    assert "\n" not in str(caught.value)


def test_files_that_swell_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening_files, "LARGEST", 10_000)
    with pytest.raises(InvalidSettingError, match="holds more than 10,000 bytes; give a part of it"):
        played(TICTACTOE, gzip.compress(b"4\n" * 100_000, mtime=0), tmp_path)
    with zipfile.ZipFile(tmp_path / "made", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"4\n" * 100_000)
    with pytest.raises(InvalidSettingError, match="holds more than 10,000 bytes"):
        prepared(TICTACTOE, tmp_path / "made")
    with zipfile.ZipFile(tmp_path / "made", "w") as archive:
        archive.writestr("a.txt", b"4\n")
        archive.writestr("b.txt", b"4\n")
    with pytest.raises(InvalidSettingError, match="it has 2 files in it; give one of them"):
        prepared(TICTACTOE, tmp_path / "made")


def test_of_large_files_no_more_is_read_than_a_run_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("0\n" * 300 + "nonsense\n")
    with pytest.raises(InvalidSettingError, match="line 301"):
        prepared(TICTACTOE, path, games=4)
    assert prepared(TICTACTOE, path, games=2).schedule.openings == ((0,),)


def test_without_python_chess_the_line_that_installs_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "chess", None)
    monkeypatch.setitem(sys.modules, "chess.pgn", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("classic"))):
        played(CHESS, PGN, tmp_path, "games.pgn")


@pytest.mark.parametrize(("plies", "said"), [(0, "at least 1, not 0"), (True, "not True"), ("4", "not '4'")])
def test_plies_that_are_no_number(plies: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingError, match=f"opening plies must be a whole number of {said}|{said}"):
        prepared(TICTACTOE, [[4, 5]], plies)  # type: ignore[arg-type]
    with pytest.raises(InvalidSettingError, match=r"give a number of random plies \(2\) or opening_plies \(3\)"):
        prepared(TICTACTOE, 2, 3)  # type: ignore[arg-type]
