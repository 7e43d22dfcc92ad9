"""PGN, SGF and EPD as other programs and people write them: each is read right, or refused in a true sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Chess, Go
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.positions.pgn import pgn_games
from zermelo.evaluation.positions.sgf import sgf_games
from zermelo.evaluation.tournament.opening_files import read_openings

SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
TAGS = '[Event "a"]\n[Result "*"]\n'
E4 = ["e2e4"]
E4E5 = ["e2e4", "e7e5"]

PGN = {
    "blank lines after tags": (TAGS + "\n\n\n1. e4 e5 *\n", [E4E5]),
    "a position and blank lines": (f'[SetUp "1"]\n[FEN "{SICILIAN}"]\n\n\n2. Nf3 d6 *', [["g1f3", "d7d6"]]),
    "blank lines between tags": ('[Event "a"]\n\n[Site "b"]\n\n1. e4 e5 *', [E4E5]),
    "no blank lines": ('[Event "a"]\n1. e4 *\n[Event "b"]\n1. e4 e5 *', [E4, E4E5]),
    "no result before tags": ('[Event "a"]\n\n1. e4\n\n[Event "b"]\n\n1. e4 e5', [E4, E4E5]),
    "no tags and no results": ("1. e4 e5\n1. e4\n\n1. e4 e5 2. Nf3", [E4E5, E4, [*E4E5, "g1f3"]]),
    "several games in a line": ("1. e4 * 1. e4 e5 1/2-1/2", [E4, E4E5]),
    "tags alone": ('[Event "a"]\n[Site "x"]\n\n[Event "b"]\n\n1. e4 *', [[], E4]),
    "a comment before tags": ("; a book\n{of mine [Event]}\n" + TAGS + "\n1. e4 *", [E4]),
    "a comment before moves": (TAGS + "\n{A comment\n\n[Event] 1. d4}\n1. e4 e5 *", [E4E5]),
    "only comments": ("; nothing\n% here\n{or here}\n", []),
    "nothing": ("\ufeff\n \n", []),
    "lines that are escaped": (TAGS + "\n%1. d4\n1. e4\n% d5\ne5 *", [E4E5]),
    "a comment to the end of the line": (TAGS + "\n1. e4 ; 1... c5 {\ne5 *", [E4E5]),
    "a mark and CRLF": ("\ufeff" + (TAGS + "\n1. e4 e5 *").replace("\n", "\r\n"), [E4E5]),
    "variations": (TAGS + "\n1. e4 (1. d4 d5 (1... Nf6 {)} 2. c4) 2. c4) 1... e5 (1... c5 1-0) *", [E4E5]),
    "signs": (TAGS + "\n1. e4! $1 +/- {x} e5?! $146 = \u00b1 *", [E4E5]),
    "numbers in every way": ("1.e4 1...e5 2 Nf3 2\u2026Nc6 3.Bb5*", [[*E4E5, "g1f3", "b8c6", "f1b5"]]),
    "dots alone": ("1. e4 ... e5 2. Nf3 2. ... Nc6 3. ... *", [[*E4E5, "g1f3", "b8c6"]]),
    "no numbers": ("e4 e5 *", [E4E5]),
    "castling with zeros": ('[FEN "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1"]\n\n1. 0-0 o-o-o *', [["e1g1", "e8c8"]]),
    "long moves": ("1. e2-e4 e7e5 2. Ng1-f3 b8c6 *", [[*E4E5, "g1f3", "b8c6"]]),
    "figurines": ("1. e4 e5 2. \u2658f3 \u265ec6 *", [[*E4E5, "g1f3", "b8c6"]]),
    "promotions and en passant": (
        '[FEN "4k3/P7/8/3pP3/8/8/8/4K3 w - d6 0 1"]\n\n1. exd6e.p. Kd8 2. a8=Q+!? *',
        [["e5d6", "e8d8", "a7a8q"]],
    ),
    "quotes in tags": ('[White "A "B" C"] \n[Black "D \\"E\\""]\n\n1. e4 *', [E4]),
    "null moves in variations": ("1. e4 (1. -- d5) e5 *", [E4E5]),
    "a null move": ("1. e4 -- 2. d4 *", "move 2 is a null move"),
    "a comment that does not end": (TAGS + "\n1. e4 {no end e5 *", "comment that begins in line 4 does not end"),
    "a variation that does not end": (TAGS + "\n1. e4 (1. d4 *\n\n[Event]", "no tag, such as"),
    "a variation before tags": ("1. e4 (1. d4 *\n\n" + TAGS, "variation that begins in line 1 does not end"),
    "a bracket too many": ("1. e4) e5 *", "'\\)' in line 1 closes nothing"),
    "the middle of a game": ("17. Rb1 Qc7 *", "begins with move 17, without the tag FEN"),
    "Chess960": (
        '[FEN "nbqrnkbr/pppppppp/8/8/8/8/PPPPPPPP/NBQRNKBR w KQkq - 0 1"]\n\n1. d4 d5 *',
        "K castles with king and rook on f1 and h1, as in Chess960",
    ),
    "another game": ('[Variant "Chess960"]\n\n1. e4 *', "is a game of 'Chess960', not of chess: leave it out"),
    "no game": ("hello\n", "line 1 is no game in PGN"),
    "German": (TAGS + "\n1. e4 e5 2. Sf3 *", "invalid san: 'Sf3', in line 4: pieces are K, Q, R, B and N"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "found"), PGN.values(), ids=PGN)
def test_pgn(text: str, found: list[list[str]] | str) -> None:
    pytest.importorskip("chess")
    if isinstance(found, str):
        with pytest.raises(StoreError, match=found) as caught:
            list(pgn_games(text))
        assert "\n" not in str(caught.value)
    else:
        assert [[*game.moves] for game in pgn_games(text)] == found


SGF = {
    "a pass after stones": ("(;SZ[9]AB[cc][gg];B[];W[dd];B[ee])", [((20, 81, 60), (30, 40))]),
    "both pass after stones": ("(;SZ[9]AB[cc]PL[W];W[];B[];W[dd])", [((20,), (81, 81, 30))]),
    "a player twice, once by a pass": ("(;SZ[9];B[cc];B[];W[dd])", [((), (20, 30))]),
    "a pass, and the same player": ("(;SZ[9];B[];B[cc];W[dd])", [((), (20, 30))]),
    "a handicap": ("(;SZ[9]HA[2]AB[cc][gg];W[dd])", [((20, 81, 60), (30,))]),
    "PL against the first move": ("(;SZ[9]AB[cc]PL[B];W[dd])", [((20,), (30,))]),
    "stones taken away": ("(;SZ[9]AB[aa:ac]AW[dd];AE[ab];B[ee])", [((0, 81, 18, 30), (40,))]),
    "tt": ("(;SZ[9];B[tt];W[aa])", [((), (81, 0))]),
    "variations": ("(;SZ[9];B[aa](;W[bb];B[cc])(;W[dd]))", [((), (0, 10, 20))]),
    "escaped brackets": ("(;SZ[9]C[a \\] (;B[zz\\])];B[aa])", [((), (0,))]),
    "several games": ("(;SZ[9];B[aa])\n\n(;SZ[9];B[bb])", [((), (0,)), ((), (10,))]),
    "words before": ("\ufeffa game (of mine)\n(;SZ[9];B[aa])", [((), (0,))]),
    "old names": ("(;SiZe[9];Black[aa];White[bb])", [((), (0, 10))]),
    "stones later": ("(;SZ[9];B[aa];AW[bb])", "AW sets up stones after move 1"),
    "another size": ("(;SZ[19];B[aa])", "the board has 19 lines, and the one here has 9"),
    "another game": ("(;GM[2]SZ[9];B[aa])", "is another game than Go"),
    "no point": ("(;SZ[9];B[D4])", "'D4' is no point of a board of 9 lines"),
    "a game that begins without a node": ("(;SZ[9];B[aa])(SZ[9];B[bb])", "cannot be read at 'SZ"),
    "no end": ("(;SZ[9];B[aa]", "ends too early"),
}


@pytest.mark.parametrize(("text", "found"), SGF.values(), ids=SGF)
def test_sgf(text: str, found: list[tuple[tuple[int, ...], tuple[int, ...]]] | str) -> None:
    if isinstance(found, str):
        with pytest.raises(StoreError, match=found):
            list(sgf_games(text, 9))
    else:
        assert [game[1:] for game in sgf_games(text, 9)] == found


BOARD = "rnbqkb1r/ppp1pppp/5n2/3P4/8/8/PPPP1PPP/RNBQKBNR"
EPD = {
    "no space": (f"{BOARD} w KQkq -; cp 12;", f"{BOARD} w KQkq - 0 1"),
    "no space before counts": (f"{BOARD} w KQkq -;hmvc 3; fmvn 9;", f"{BOARD} w KQkq - 3 9"),
    "a semicolon apart": (f"{BOARD} w KQkq - ; hmvc 3; why not", f"{BOARD} w KQkq - 3 1"),
    "counts": (f'{BOARD} w KQkq - bm d4 c4; hmvc 3; id "x; hmvc 7;"; fmvn 9;', f"{BOARD} w KQkq - 3 9"),
    "quotes": (f'{BOARD} w KQkq - id "a; b # c"; am Ke2;', f"{BOARD} w KQkq - 0 1"),
    "FEN with operations": (f"{BOARD} w KQkq - 2 3 bm d4;", f"{BOARD} w KQkq - 2 3"),
    "FEN and a semicolon": (f"{BOARD} w KQkq - 2 3;", f"{BOARD} w KQkq - 2 3"),
    "a comment": (f"{BOARD} w KQkq - # why", f"{BOARD} w KQkq - 0 1"),
    "X-FEN": (f"{BOARD} w HAha -", f"{BOARD} w KQkq - 0 1"),
    "a count that is none": (f"{BOARD} w KQkq - hmvc x;", "has hmvc 'x', which must be a whole number"),
    "moves": (f"{BOARD} w KQkq - 0 1 d2d4", "has 'd2d4' after the position: leave it out"),
    "Chess960": (
        "4k3/8/8/8/8/8/8/1R2K3 w B - 0 1",
        "B castles with king and rook on e1 and b1, as in Chess960, .*: write - for no right",
    ),
    "a pawn that has not moved": ("4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1", "no pawn of the other player .* passed e3"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "found"), EPD.values(), ids=EPD)
def test_epd(line: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / "o.epd"
    path.write_text(f"{line}\r\n")

    def fens() -> list[str]:
        return [Chess(opening.fen).fen for opening in read_openings(path, Chess)]

    if found.startswith(BOARD):
        assert fens() == [found]
    else:
        with pytest.raises(InvalidSettingError, match=found):
            fens()


@pytest.mark.parametrize("name", ["o.pgn", "o.txt"])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-16"])
def test_texts_of_all_encodings(name: str, encoding: str, tmp_path: Path) -> None:
    pytest.importorskip("chess")
    path = tmp_path / name
    path.write_bytes('; f\xfcr mich\r\n[White "M\xfcller"]\r\n\r\n\r\n1. e4 *\r\n'.encode(encoding))
    assert [opening.moves for opening in read_openings(path, Chess)] == ["e2e4"]
    path = tmp_path / "o"
    path.write_bytes("f\xfcr mich\n(;SZ[9];B[aa])".encode(encoding))
    assert [opening.moves for opening in read_openings(path, lambda: Go(9))] == [(0,)]
