"""Large files of openings: reading one takes at most ten times its size in memory; what is too long is named."""

from __future__ import annotations

import collections
import contextlib
import itertools
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Chess, ConnectFour, Go
from zermelo.evaluation.positions.pgn import pgn_games
from zermelo.evaluation.tournament.opening_files import LONGEST_LINE, read_openings
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.settings import TournamentSettings

SIZE, FIRST = 500_000, 5
FEN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -"
FILES: dict[str, tuple[Any, str, str, str, str]] = {
    "numbers in one line": (ConnectFour(), "o.txt", "", "3,", ""),
    "words in one line": (ConnectFour(), "o.txt", "", "d ", ""),
    "brackets in one line": (ConnectFour(), "o.txt", "", "(", ""),
    "long lines of pairs": (ConnectFour(), "o.txt", "", "(3,4)," * 1_350 + "\n", ""),
    "long lines of text": (ConnectFour(), "o.txt", "", "'é'," * 2_000 + "\n", ""),
    "long lines of an expression": (ConnectFour(), "o.txt", "", "1+" * 4_000 + "1\n", ""),
    "short lines": (ConnectFour(), "o.txt", "", "3\n", ""),
    "empty lines": (ConnectFour(), "o.txt", "  ", "\r\n", ""),
    "letters of four bytes": (ConnectFour(), "o.txt", "\U0001f600", "# comment\r\n", ""),
    "FEN in one line": (Chess(), "o.epd", "", f"{FEN} ", ""),
    "operations in one line": (Chess(), "o.epd", FEN, " bm e4", ""),
    "FEN in lines": (Chess(), "o.epd", "", f"{FEN}\n", ""),
    "moves of a PGN in one line": (Chess(), "o.pgn", "", "Nf3 Nf6 Ng1 Ng8 ", ""),
    "tags of a PGN": (Chess(), "o.pgn", "", '[A "b"]\n', ""),
    "a comment of a PGN": (Chess(), "o.pgn", "1. e4 {", "a\n", "} *\n"),
    "variations of a PGN": (
        Chess(),
        "o.pgn",
        "1. e4 ",
        "(1. d4 {some words of a comment that is long enough} ",
        "*\n",
    ),
    "games of a PGN": (Chess(), "o.pgn", "", '[A "b"]\n\n1. e4 *\n\n', ""),
    "moves of an SGF": (Go(5), "o.sgf", "(;SZ[5]", ";B[aa]", ")"),
    "nodes of an SGF": (Go(5), "o.sgf", "(;SZ[5]", ";", ")"),
    "stones of an SGF": (Go(5), "o.sgf", "(;SZ[5]AB", "[aa]", ")"),
    "properties of an SGF": (Go(5), "o.sgf", "(;SZ[5]", "LB[aa:b]", ";B[aa])"),
    "a comment of an SGF": (Go(5), "o.sgf", "(;SZ[5]C[", r"a\]", "];B[aa])"),
    "variations of an SGF": (Go(5), "o.sgf", "(;SZ[5];B[aa]", "(;W[bb])", ")"),
    "branches of an SGF": (Go(5), "o.sgf", "", "(;", ""),
    "games of an SGF": (Go(5), "o.sgf", "", "(;SZ[5];B[aa])\n", ""),
}


@contextlib.contextmanager
def _peak() -> Iterator[list[int]]:
    """The most bytes that the block has taken."""
    found: list[int] = []
    tracemalloc.start()
    try:
        yield found
    finally:
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", FILES)
def test_reading_takes_at_most_ten_times_the_size(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("chess.pgn")
    rules, name, begin, unit, end = FILES[kind]
    path = tmp_path / name
    path.write_text(begin + unit * (SIZE // len(unit)) + end, encoding="utf-8", newline="")
    with _peak() as peak, contextlib.suppress(InvalidSettingError):
        collections.deque(itertools.islice(read_openings(path, lambda: rules), FIRST), maxlen=0)
    assert peak[0] <= 10 * path.stat().st_size


def test_a_line_that_is_too_long_is_named(tmp_path: Path) -> None:
    path = tmp_path / "o.txt"
    path.write_text("3\n\n3,2\n" + "3," * 5_000 + "\n")
    with pytest.raises(InvalidSettingError, match=r"o\.txt: line 4 has 10,001 characters, and may have 8,192"):
        Tournament.prepare(
            "zermelo/ConnectFour-v0", ["random", "random"], TournamentSettings(games=6, openings=path)
        )
    path.write_text("3 # " + "-" * (LONGEST_LINE - 6) + "\n3\n")
    assert [one.moves for one in read_openings(path, ConnectFour)] == [(3,), (3,)]


LONG = {
    "line": ("o.pgn", "1. e4 *\n\n1. d4 {" + "a" * 2**20 + "}\n", "at line 3 .* line 3 has 1,048,585 characters"),
    "lines": (
        "o.pgn",
        "\n\n1. d4 {" + "a\n" * 20_000 + "} *\n",
        "at line 3 .*it goes on in line 20003, after 40,0",
    ),
    "plies": ("o.pgn", "1. Nf3 Nf6 " + "2. Ng1 Ng8 3. Nf3 Nf6 " * 1_250, "at line 1 .* has more than 5,000 plies"),
    "tags": ("o.pgn", '[A "b"]\n' * 1_001 + "\n1. e4 *\n", "at line 1 .* has more than 1,000 tags"),
    "nodes": ("o.sgf", "(;SZ[5];B[cc])\n(;SZ[5]\n" + ";B[]\n;W[]\n" * 3_000, "10,000 nodes .* before line 5002"),
    "values": ("o.sgf", "(;SZ[5]\nAB" + "[aa]" * 20_000 + ")", "10,000 nodes and values before line 2: shorten"),
}


@pytest.mark.parametrize(("name", "text", "said"), LONG.values(), ids=LONG)
def test_a_game_that_is_too_long_is_named(name: str, text: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("chess.pgn")
    path = tmp_path / name
    path.write_text(text)
    rules = Chess() if name == "o.pgn" else Go(5)
    with pytest.raises(InvalidSettingError, match=f"{name}: .*{said}"):
        collections.deque(read_openings(path, lambda: rules), maxlen=0)


def test_large_games_that_people_have_are_read(tmp_path: Path) -> None:
    pytest.importorskip("chess.pgn")
    comment = "{" + "d=35, sd=76, pv=Nf3 Nf6 " * 200 + "}\n"
    moves = comment.join(["1.", "Nf3", "Nf6", "2.", "Ng1", "Ng8", ""] * 20)
    first, second = pgn_games(f'\ufeff[Event "a"]\n\n{moves} *\n\n \n[Event "b"]\n\n1. e4 *\n')
    assert (first.line, len(first.moves), second.moves) == (1, 80, ("e2e4",))
    joseki = tmp_path / "joseki.sgf"
    joseki.write_text("(;SZ[5];B[cc]\n" + "(;W[bb]C[some words])\n" * 60_000 + ")")
    assert [one.moves for one in read_openings(joseki, lambda: Go(5))] == [(12, 6)]


def test_words_after_a_position_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "o.epd"
    path.write_text(f"{FEN} bm" + " a" * 60 + "\n")
    with pytest.raises(InvalidSettingError, match=r"line 1 of .* after the position: leave it out"):
        list(read_openings(path, Chess))


def test_openings_of_many_moves_are_shown_by_their_first(tmp_path: Path) -> None:
    path = tmp_path / "o.txt"
    path.write_text("3," * 1_000 + "3\n")
    with pytest.raises(InvalidSettingError, match=r"line 1 of .*, 3,3,.*\.\.\., plays 3, which is not") as caught:
        Tournament.prepare(
            "zermelo/ConnectFour-v0", ["random", "random"], TournamentSettings(games=2, openings=path)
        )
    assert len(str(caught.value)) < 500
