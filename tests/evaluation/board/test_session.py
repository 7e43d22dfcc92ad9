"""A game on the board: what is clicked, taking back, swapping, what is hidden, and files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from zermelo.envs import IllegalActionError, UnsupportedGameError, ZermeloError
from zermelo.envs.errors import GameOverError, InvalidSettingError
from zermelo.envs.pictures.squares import Spot
from zermelo.evaluation.board.saving import LARGEST, load_game, saved_game
from zermelo.evaluation.board.session import Session, surface_of
from zermelo.evaluation.board.settings import Clock
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import Move
from zermelo.evaluation.positions.drawing import png

YOU = frozenset({0})
ON_SQUARES = [
    "classic/chess-v6",
    "classic/connect_four-v3",
    "classic/tictactoe-v3",
    "zermelo/Amazons-v0(size=5)",
    "zermelo/Backgammon-v0",
    "zermelo/Breakthrough-v0",
    "zermelo/Chess-v0",
    "zermelo/Chomp-v0",
    "zermelo/Clobber-v0",
    "zermelo/ConnectFour-v0",
    "zermelo/Domineering-v0",
    "zermelo/DotsAndBoxes-v0",
    "zermelo/EinStein-v0",
    "zermelo/Go-v0(size=5)",
    "zermelo/Hex-v0",
    "zermelo/Hypergammon-v0",
    "zermelo/Isolation-v0",
    "zermelo/Kalah-v0",
    "zermelo/MNK-v0",
    "zermelo/Othello-v0",
    "zermelo/Oware-v0",
]


def played(env: str, *moves: Any, people: frozenset[int] = YOU) -> Session:
    session = Session(env, people)
    for move in moves:
        session.play(move)
    return session


@pytest.mark.parametrize("env", ON_SQUARES)
def test_every_move_is_played_by_spots_of_the_picture(env: str) -> None:
    if env.startswith("classic/"):
        pytest.importorskip("pettingzoo.classic")
    session = played(env)
    generator = np.random.default_rng(1)
    picture = session.frames[0].picture
    assert picture is not None
    height, width, _ = picture().shape
    for ply in range(12):
        if session.mover is None:
            break
        surface = surface_of(session.game)
        assert surface is not None
        spots = {spot["name"]: Spot(**spot) for spot in surface["spots"]}
        for spot in spots.values():
            assert spot.x - spot.width / 2 >= 0
            assert spot.x + spot.width / 2 <= width + 1
            assert spot.y - spot.height / 2 >= 0
            assert spot.y + spot.height / 2 <= height + 1
        legal = session.legal()
        for move in legal:
            assert move.label == "pass" or move.paths, move
            assert all(name in spots for path in move.paths for name in path), move
        # The same way for two moves only where a menu then tells them apart.
        ways = [tuple(move.paths[0]) for move in legal if move.paths]
        if not any(name in env.lower() for name in ("chess", "gammon")):
            assert len(set(ways)) == len(ways)
        chosen = legal[int(generator.integers(len(legal)))]
        session.play(chosen.number)
        assert session.played[-1].path == (chosen.paths[0] if chosen.paths else [])
        if ply < 3 and chosen.paths:
            assert_changed_at(session, spots[chosen.paths[0][-1]])


def assert_changed_at(session: Session, spot: Spot) -> None:
    """What the last move has changed in the picture lies where it was clicked last, among other places."""
    before, after = (frame.picture() for frame in session.frames[-2:] if frame.picture is not None)
    rows, columns = np.nonzero((before != after).any(axis=2))
    near = (abs(rows - spot.y) <= spot.height / 2) & (abs(columns - spot.x) <= spot.width / 2)
    assert near.any() or not rows.size


def test_taking_back_goes_to_the_last_move_of_a_person() -> None:
    session = played("zermelo/Backgammon-v0", people=frozenset({0, 1}))
    texts = [frame.text for frame in session.frames]
    for _ in range(4):
        session.play(session.legal()[0].number)
        texts.append(session.frames[-1].text)
    session.take_back()
    assert [frame.text for frame in session.frames] == texts[:-1]  # the dice too
    session.people = frozenset({session.played[0].move.seat})
    session.go_back_to(1)
    session.take_back()
    assert session.played == []
    with pytest.raises(GameOverError, match="no move of yours"):
        session.take_back()


def test_swapping_and_seats_that_are_not_there() -> None:
    session = played("zermelo/MNK-v0", "a1")
    session.swap()
    assert session.people == {1}
    assert session.viewer == 1
    with pytest.raises(InvalidSettingError, match="has 2 seats: there is no seat 3"):
        Session("zermelo/MNK-v0", frozenset({2}))
    with pytest.raises(InvalidSettingError, match="nothing to swap"):
        Session("FrozenLake-v1", YOU).swap()
    with pytest.raises(InvalidSettingError, match="seed"):
        Session("zermelo/MNK-v0", YOU, -1)


def test_after_the_end_nothing_is_played() -> None:
    session = played("zermelo/MNK-v0", *["a1", "a2", "b1", "b2", "c1"])
    assert (session.mover, session.legal(), session.rewards) == (None, [], [1.0, -1.0])
    with pytest.raises(GameOverError, match="take a move back"):
        session.play("c2")
    other = played("zermelo/MNK-v0", "a1")
    with pytest.raises(IllegalActionError):
        other.play("a1")
    with pytest.raises(IllegalActionError):
        other.play(99)


def test_what_is_hidden_is_not_shown() -> None:
    session = played("zermelo/Kuhn-v0", people=frozenset({1}))
    assert session.hides
    assert session.frames[-1].picture is None
    assert session.frames[-1].text.startswith("player 0: ?")
    session.play("bet")
    session.play("call")
    assert not session.hides
    assert "?" not in session.frames[-1].text
    both = Session("zermelo/Kuhn-v0", frozenset())
    assert both.viewer is None
    assert "?" not in both.frames[-1].text
    assert "player" not in both.frames[-1].text


def test_moves_at_the_same_time_are_told_after_the_round() -> None:
    session = played("zermelo/Goofspiel-v0", people=frozenset({1}))
    session.play(session.legal()[0].number)
    assert session.seen_moves() == [(0, "a hidden move")]
    session.play(session.legal()[0].number)
    assert "a hidden move" not in [text for _, text in session.seen_moves()]
    session.swap()
    assert session.frames[0].text == "Seen from the other seat."


def test_other_environments_have_a_picture_or_text() -> None:
    pytest.importorskip("pygame")
    lake = played("FrozenLake-v1", 2)
    assert lake.frames[-1].picture is not None
    assert [move.label for move in lake.legal()] == ["0", "1", "2", "3"]
    assert surface_of(lake.game) is None
    pytest.importorskip("pyspiel")
    spiel = played("openspiel/quoridor")
    assert spiel.frames[-1].picture is None or spiel.frames[-1].text
    assert spiel.legal()[0].paths == []


def test_a_picture_is_a_png_file() -> None:
    data = png(np.zeros((3, 5, 3), np.uint8))
    assert data.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\5\0\0\0\3\x08\2\0\0\0")
    assert data.endswith(b"IEND\xaeB`\x82")


def test_clocks() -> None:
    now = [0.0]
    clock = Clock("10+2", 2, lambda: now[0])
    clock.start(0)
    now[0] = 4.0
    clock.press()
    clock.start(1)
    assert (clock.left(0), clock.left(1), clock.fallen()) == (8.0, 10.0, None)
    now[0] = 20.0
    assert (clock.left(1), clock.fallen()) == (0.0, 1)
    clock.start(None)
    assert clock.fallen() is None
    with pytest.raises(InvalidSettingError, match="a clock is seconds"):
        Clock("soon", 2)


# -- files --------------------------------------------------------------------------------------------------------

CHESS = "zermelo/Chess-v0"
GO = "zermelo/Go-v0(size=5)"


@pytest.mark.parametrize(
    ("env", "moves", "form"),
    [
        (CHESS, "e4 e5 Nf3 Nc6 Bb5 a6 O-O", "pgn"),
        (CHESS, "f3 e5 g4 Qh4", "json"),
        (GO, "C3 pass D3 A1", "sgf"),
        ("zermelo/Backgammon-v0", "", "json"),
    ],
    ids=["pgn", "mate", "sgf", "dice"],
)
def test_a_saved_game_is_loaded(env: str, moves: str, form: str) -> None:
    pytest.importorskip("chess")
    session = played(env, *moves.split())
    if not moves:
        for _ in range(3):
            session.play(session.legal()[-1].number)
    text = saved_game(session.record(["you", "agent"]), form, finished=session.mover is None)
    other = Session(env, YOU).loaded(load_game(text, env))
    assert [one.label for one in other.played] == [one.label for one in session.played]
    assert other.frames[-1].text == session.frames[-1].text
    if form == "pgn":
        assert text.rstrip().endswith("*")


def test_games_are_saved_in_their_own_notation_only() -> None:
    with pytest.raises(InvalidSettingError, match="saved as json, not as 'pgn'"):
        saved_game(played("zermelo/MNK-v0").record(["a", "b"]), "pgn", finished=False)


RECORD = json.loads(played("zermelo/MNK-v0", "a1").record(["a", "b"]).to_json())


@pytest.mark.parametrize(
    ("env", "text", "said"),
    [
        (CHESS, "", "no game in PGN or JSON"),
        (CHESS, "(;GM[1])", "no game in PGN"),
        (CHESS, "\0\1\2", "no game"),
        (CHESS, "1. e4 e5 2. Ke3", "cannot be read"),
        (CHESS, '[FEN "4k3/8/8/8/8/8/8/4K2R w - - 0 1"]\n[SetUp "1"]\n\n1. Rh2 *', "begins at"),
        (CHESS, "x" * (LARGEST + 1), "too large"),
        (GO, "(", "ends too early"),
        (GO, "(;SZ[5];B[aa]", "ends too early"),
        (GO, ";", "no game in SGF"),
        (GO, "(;SZ[19];B[aa])", "the board has 19 lines, and the one here has 5"),
        (GO, "(;SZ[9999])", "board has '9999' lines"),
        (GO, "(;SZ[5];B[cc];AB[aa])", "AB sets up stones after move 1"),
        (GO, "(;SZ[5]AB[aa]AW[ab][ba])", "stone set up at aa has no liberty"),
        (GO, "(;GM[2]SZ[5])", "another game than Go"),
        (GO, "(;SZ[5];B[zz])", "no point"),
        (GO, "(;SZ[5];B[aa", "cannot be read"),
        (GO, "(;SZ[5] <script>", "cannot be read"),
        (GO, "(" * 6000 + ";", "nested too deeply"),
        ("zermelo/MNK-v0", "1. e4", "no game in JSON"),
        ("zermelo/MNK-v0", "{", "no game that zermelo has saved"),
        ("zermelo/MNK-v0", '{"schema": 1}', "no game that zermelo has saved"),
        ("zermelo/MNK-v0", '{"a":' * 100_000, "no game that zermelo has saved"),
        ("zermelo/MNK-v0", json.dumps(RECORD | {"env": "os:system"}), "a game of 'os:system'"),
        ("zermelo/MNK-v0", json.dumps(RECORD | {"seed": "x"}), "no game that zermelo has saved"),
        ("zermelo/MNK-v0", json.dumps(RECORD | {"opening": [{"a": 1}]}), "moves are not numbers"),
    ],
    ids=lambda part: part[:12].replace("\0", "0").replace("\n", " ") if isinstance(part, str) else "",
)
def test_hostile_files_are_one_sentence(env: str, text: str, said: str) -> None:
    pytest.importorskip("chess")
    with pytest.raises((StoreError, UnsupportedGameError), match=said) as caught:
        load_game(text, env)
    assert "\n" not in str(caught.value)


def test_a_file_with_an_illegal_move_changes_nothing() -> None:
    session = played("zermelo/MNK-v0", "b2")
    bad = RECORD | {"moves": [[0, 4, 0.0], [1, 4, 0.0]]}
    with pytest.raises(IllegalActionError, match="move 2 of the file cannot be played"):
        session.loaded(load_game(json.dumps(bad), "zermelo/MNK-v0"))
    assert [one.label for one in session.played] == ["b2"]
    for move in ([7, 4, 0.0], [0, 4, 0.0, "x"], [0, 4, 0.0, None, None, 1e400], [0], [0, 4, None], [0, 4, "nan"]):
        odd = RECORD | {"moves": [move]}
        with pytest.raises(ZermeloError):
            session.loaded(load_game(json.dumps(odd), "zermelo/MNK-v0"))
    early = RECORD | {"moves": [[1, 4, -1.0, 1.5]]}
    session = session.loaded(load_game(json.dumps(early), "zermelo/MNK-v0"))
    assert session.played[0].move == Move(0, 4)


def test_variations_and_escapes_of_sgf() -> None:
    text = "(;GM[1]SZ[5]C[a \\] b\\\\];B[aa](;W[bb];B[])(;W[cc]))"
    assert [move.action for move in load_game(text, GO).moves] == [0, 6, 25]


def test_a_game_that_was_lost_on_time_is_saved_so() -> None:
    session = played(GO, "C3")
    session.fall(1)
    assert "RE[B+T]" in saved_game(session.record(["you", "agent"]), "sgf", finished=True)
    session = played(CHESS, "e4")
    session.fall(1)
    text = saved_game(session.record(["you", "agent"]), "pgn", finished=True)
    assert '[Termination "time forfeit"]' in text
    assert text.rstrip().endswith("1-0")
