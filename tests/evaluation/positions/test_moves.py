"""Moves as people write them, read back; what one seat sees of a position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zermelo.envs import IllegalActionError, as_game, list_envs, make
from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.capabilities import SupportsActionText, offers
from zermelo.envs.games import MNK, Breakthrough, Chess, Clobber, ConnectFour, Go, Hex, Kuhn, Othello
from zermelo.envs.rules import RulesGame
from zermelo.evaluation.board.job_process import label_of
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.positions.drawing import (
    coordinates_of,
    drawing,
    hides_something,
    seen_by,
    with_coordinates,
)
from zermelo.evaluation.positions.moves import listed_moves, move_labels, name_of, play_moves, read_move
from zermelo.evaluation.search_trees.names import move_text as tree_text


def started(env: str, moves: str = "") -> Any:
    driver = drive_env(make(env), 0)
    play_moves(driver, moves)
    return driver


@pytest.mark.parametrize(
    "moves",
    [
        "e4,e5,Nf3,Nc6,Bb5,a6,Bxc6,dxc6,O-O",
        "1. e4 e5 2. Nf3 Nc6 3.Bb5 a6 4. Bxc6 dxc6 5. 0-0",
        "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1",
        "e4 E5 nf3 nc6 bb5 A6 BC6 dc6 o-o",
    ],
    ids=["SAN", "with numbers", "UCI", "carelessly"],
)
def test_chess_in_every_way_it_is_written(moves: str) -> None:
    driver = started("zermelo/Chess-v0", moves)
    board = as_game(driver.env).text(driver.env.unwrapped.position).replace(" ", "").split("\n")
    assert board[0] + board[2] + board[7] == "r.bqkbnrp.p.....RNBQ.RK."


CLASSICS = ("tictactoe-v3", "connect_four-v3", "leduc_holdem-v4", "rps-v2")
NAMED = [entry.name for entry in list_envs() if entry.name.startswith("zermelo/")]


@pytest.mark.parametrize("env", [*NAMED, *(f"classic/{name}" for name in CLASSICS)])
def test_boards_reports_trees_and_the_command_line_name_a_move_alike(env: str) -> None:
    if env.startswith("classic/"):
        pytest.importorskip("rlcard" if "holdem" in env else "pettingzoo")
    driver, generator = drive_env(make(env), 0), np.random.default_rng(3)
    for _ in range(4):
        game = as_game(driver.env)
        state, labels = game.snapshot(driver.env), move_labels(driver.env)
        for number, label in labels.items():
            written = label or str(number)
            assert not label.isdigit(), "a number would be read as that of another action"
            assert label_of(game, state, number) == written
            assert tree_text(game, state, number) == written
            assert name_of(game, state, number) == (f"{number}={label}" if label else str(number))
        driver.step(codec_for(driver.env).to_env(int(generator.choice([*labels]))))
        if driver.turn() is None:
            break


@pytest.mark.parametrize(
    ("env", "moves", "numbers"),
    [
        ("zermelo/Go-v0(size=9)", "J9 a1,Pass", [8, 72, 81]),
        ("zermelo/Othello-v0", "d3 C3", [19, 18]),
        ("zermelo/ConnectFour-v0", "d,D 0", [3, 3, 0]),
        ("zermelo/MNK-v0", "a3 b2", [0, 4]),
        ("zermelo/Kalah-v0", "C A", [2, 0]),
        ("zermelo/DotsAndBoxes-v0", "h1,1 v1,1", [0, 30]),
    ],
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_points_squares_columns_and_numbers(env: str, moves: str, numbers: list[int]) -> None:
    driver = drive_env(make(env), 0)
    known = play_moves(driver, moves)
    if "Dots" in env:
        assert known[0] == numbers[0]
    else:
        assert known == numbers


def test_both_checkers_in_either_order() -> None:
    driver = started("zermelo/Backgammon-v0")
    labels = move_labels(driver.env)
    number, label = next((n, text) for n, text in labels.items() if " " in text and len(set(text.split())) == 2)
    assert read_move(driver, label) == number
    first, second = label.split()
    assert read_move(driver, f"{second} {first}") in labels
    assert play_moves(driver, f"{label};") == [number]


@pytest.mark.parametrize(
    ("env", "moves", "said"),
    [
        ("zermelo/Chess-v0", "e4,e4", r"move 2 of --moves is 'e4', which is not legal here \(legal: \d+=a6"),
        ("zermelo/Chess-v0", "b4,e5,b5,Nc6,bc6,a5,cb7,a4,b8", "'b8', which is not legal"),
        ("zermelo/ConnectFour-v0", "a,a,a,a,a,a,a", "move 7 of --moves is 'a', which is not legal"),
        ("zermelo/ConnectFour-v0", "9", "move 1 of --moves is 9, which is not legal here"),
        ("zermelo/MNK-v0", "a1 a2 b1 b2 c1 c2", r"move 6 of --moves \('c2'\) comes after the end"),
        ("zermelo/MNK-v0", "a1\x1b[2J", "'a1\\\\x1b"),
        ("zermelo/MNK-v0", "1234567890123456789012345", "'12345678901234567890123"),
    ],
    ids=["twice", "SAN lacks", "full", "number", "over", "escape", "huge"],
)
def test_what_is_no_move_is_told(env: str, moves: str, said: str) -> None:
    with pytest.raises(IllegalActionError, match=said):
        started(env, moves)


def test_a_text_that_may_be_two_moves_is_refused() -> None:
    driver = started('zermelo/Chess-v0(fen="4k3/8/2n5/3P4/8/8/B7/4K3 w - - 0 1")')
    with pytest.raises(IllegalActionError, match="which may be"):
        read_move(started('zermelo/Chess-v0(fen="4k3/8/2p5/1P6/4B3/8/8/4K3 w - - 0 1")'), "BXC6")
    assert move_labels(driver.env)[read_move(driver, "dxc6")] == "dxc6"


def test_environments_without_notation_take_numbers() -> None:
    pytest.importorskip("pettingzoo.classic")
    driver = started("FrozenLake-v1")
    assert set(move_labels(driver.env)) == {0, 1, 2, 3}
    assert read_move(driver, " 2 ") == 2
    with pytest.raises(IllegalActionError, match=r"\(legal: 0, 1, 2, 3\)"):
        read_move(driver, "left")
    assert listed_moves(dict.fromkeys(range(40), "")).endswith(", ...")


@pytest.mark.parametrize(
    "rules",
    [Breakthrough(), Chess(), Clobber(), Go(5), Hex(4, 4), MNK(3, 4, 3), Othello()],
    ids=lambda rules: type(rules).__name__,
)
def test_coordinates_name_the_square_that_a_move_changes(rules: Any) -> None:
    game = RulesGame(rules)
    names = coordinates_of(game)
    assert names is not None
    state = game.initial_state()
    for action in list(game.legal_actions(state))[:12]:
        after = game.result(state, action)
        aliases = game.action_aliases(state, action) if offers(game, SupportsActionText) else ()
        text = [*aliases, rules.action_text(state, action)][0]
        row = next(place for place, name in enumerate(names.rows) if text.rstrip("+#").endswith(name))
        column = names.columns.index(text.rstrip("0123456789")[-1])
        before, now = (
            ([line.split() for line in rules.text(each).split("\n")][row][column] for each in (state, after))
            if text != "pass"
            else (".", "X")
        )
        assert before != now, text


def test_a_board_with_its_coordinates() -> None:
    game = RulesGame(MNK(3, 2, 2))
    assert with_coordinates(". . .\n. X .", game) == "2 . . .\n1 . X .\n  a b c"
    assert with_coordinates("\n".join([". . . ."] * 4), RulesGame(Othello(4, 4))).split("\n")[:2] == [
        "  a b c d",
        "1 . . . .",
    ]
    four = RulesGame(ConnectFour(4, 4))
    assert with_coordinates(". . . .\n. . . .", four) == ". . . .\n. . . .\na b c d"
    assert with_coordinates("none", RulesGame(Kuhn())) == "none"
    assert with_coordinates("no board", game) == "no board"
    assert coordinates_of(None) is None


# -- what one seat sees -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_sees_its_own_card_only(seat: int) -> None:
    driver = started("zermelo/Kuhn-v0", "1")
    game = as_game(driver.env)
    lines = drawing(game, driver.env, seat).split("\n")
    whole = drawing(game, driver.env).split("\n")
    assert hides_something(game)
    assert lines[seat] == whole[seat]
    assert lines[1 - seat] == f"player {1 - seat}: ?"
    assert "?" not in whole[1 - seat]


@pytest.mark.parametrize("env", ["classic/leduc_holdem-v4", "classic/texas_holdem-v4", "openspiel/kuhn_poker"])
def test_cards_of_others_are_not_shown(env: str) -> None:
    pytest.importorskip("pettingzoo.classic")
    driver = started(env)
    game = as_game(driver.env)
    seat = driver.turn()
    seen = seen_by(game, driver.env, seat)
    other = seen_by(game, driver.env, 1 - seat)
    assert seen
    assert seen != other


def test_where_nothing_is_known_the_observation_is_shown() -> None:
    driver = started("zermelo/MNK-v0")
    assert hides_something(None)
    assert drawing(None, driver.env, 0).startswith("You observe")
    assert seen_by(None, make("FrozenLake-v1"), 0) == ""
