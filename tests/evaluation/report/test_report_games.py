"""The games that a report shows: which ones, how large, and their boards."""

import itertools
import json
import math
import re
from dataclasses import replace

import pytest
from doubles.html_page import Page, section
from doubles.made_games import NAMES, made_records
from doubles.toy_envs import ToyEnv

from zermelo.envs.errors import UnknownNameError
from zermelo.envs.registration.make import make
from zermelo.evaluation import GameRecord, play_match
from zermelo.evaluation.match.record import FailureKind, Move
from zermelo.evaluation.match.replay import Replayer, ReplayError
from zermelo.evaluation.positions.drawing import drawing
from zermelo.evaluation.report.boards import draw_games
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.report.sample import GameSample, ShownGame


def sampled(records, wanted, seed=0, ratings=None):
    sample = GameSample(wanted, seed)
    for record in records:
        sample.add(GameRecord.from_json(record.to_json()), record.to_json())
    return sample.chosen(ratings or {})


def test_all_games_are_shown_where_there_are_few():
    records = list(made_records(20))
    page = Page(report_page(records))
    assert {game["id"] for game in page.data["games"]} == {record.game_id for record in records}
    assert "All 20 games are here." in page.words


@pytest.mark.thorough
def test_failures_and_upsets_come_first_and_the_rest_is_sampled_evenly():
    ratings = {"strong": 100.0, "middling": 0.0, "weak": -100.0, "broken": -200.0}
    shown = sampled(made_records(5000), 60, ratings=ratings)
    reasons = [game.reason for game in shown]
    assert reasons == ["failure"] * 20 + ["upset"] * 20 + ["sample"] * 20
    kinds = [game.record.failure.kind for game in shown[:20]]
    assert kinds.count(FailureKind.CRASH) == kinds.count(FailureKind.ILLEGAL_ACTION) == 10
    for game in shown[20:40]:
        winner = game.record.rewards.index(1.0)
        assert NAMES.index(game.record.agents[winner]) > NAMES.index(game.record.agents[1 - winner])
    first = shown[20].record  # the greatest upset there can be
    assert set(first.agents) == {"strong", "broken"}
    line_ups = [game.record.agents for game in shown[40:]]
    counts = [line_ups.count(pair) for pair in itertools.permutations(NAMES, 2)]
    assert set(counts) == {1, 2}


def test_the_seed_decides_the_sample():
    ids = [[game.record.game_id for game in sampled(made_records(1000), 30, seed)] for seed in (0, 0, 1)]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.thorough
def test_a_sample_of_one_line_up_is_fair():
    """The share of draws among 300 shown games is that of all games, to five standard errors."""
    records = [record for record in made_records(5000, names=NAMES[:2]) if record.failure is None]
    shown = [game.record for game in sampled(records, 300)]
    share = sum(record.rewards == (0.0, 0.0) for record in records) / len(records)
    assert len(shown) == 300
    found = sum(record.rewards == (0.0, 0.0) for record in shown) / 300
    assert abs(found - share) < 5 * math.sqrt(share * (1 - share) / 300)


def test_repeated_games_are_shown_once():
    record = next(made_records(1, names=NAMES[:2]))
    records = [replace(record, game_id=str(k), seed=k, failure=None) for k in range(50)]
    assert len(Page(report_page(records)).data["games"]) == 1


def test_no_games_can_be_asked_for():
    page = report_page(made_records(50), games=0)
    assert Page(page).data["games"] == []
    assert "No game is shown." in page


@pytest.mark.thorough
def test_the_sample_keeps_few_games_however_many_there_are():
    """Of 200 games of 4,000 moves (100 megabytes) from as many line-ups."""
    moves = tuple(Move(ply % 2, ply % 7, 0.1) for ply in range(4000))
    record = replace(next(made_records(1)), moves=moves, failure=None)
    games = (replace(record, game_id=str(k), agents=(f"a{k % 40}", f"b{k % 37}")) for k in range(200))
    assert 0 < len(sampled(games, 1000)) <= 50


# -- size ------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("played", [3000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_page_of_many_thousand_games_stays_below_five_megabytes(played):
    text = report_page(made_records(played), games=1000)
    assert len(text.encode()) < 5_000_000
    page = Page(text)
    assert len(page.data["games"]) == 1000
    said = re.search(
        rf"1,000 of {played:,} games are here: (\d+) lost by a failure, (\d+) won .*, (\d+) drawn", page.words
    )
    assert sum(map(int, said.groups())) == 1000
    assert min(map(int, said.groups())) > 100


@pytest.mark.thorough
def test_long_games_are_cut_and_those_without_room_are_counted():
    moves = tuple(Move(ply % 2, ply, 0.123456, 123456, 12, 0.123456) for ply in range(1100))
    record = replace(next(made_records(1)), env="no/such-env", failure=None, moves=moves)
    records = [replace(record, game_id=str(k), opening=(k,)) for k in range(200)]
    text = report_page(records, games=200)
    assert 1_000_000 < len(text.encode()) < 5_000_000
    game = Page(text).data["games"][0]
    assert game["plies"] == 1101
    assert len(game["actions"]) == 1000
    drawn = draw_games([ShownGame(r, "sample") for r in records], dict.fromkeys(record.agents, 0), room=100_000)
    assert drawn.left_out == 200 - len(drawn.games)
    assert 1 < len(json.dumps(drawn.games, separators=(",", ":"))) < 100_000 + 2 * len(drawn.games)


# -- boards ----------------------------------------------------------------------------------------------------


def boards_of(game):
    """The boards as the page's script puts them together."""
    boards = []
    for frame in game["frames"]:
        if isinstance(frame, str):
            boards.append(frame)
            continue
        cells = list(boards[-1])
        for place, marks in zip(frame[::2], frame[1::2], strict=True):
            cells[place : place + len(marks)] = marks
        boards.append("".join(cells))
    return boards


def drawn_game(record):
    return draw_games([ShownGame(record, "sample")], {name: k for k, name in enumerate(record.agents)}, room=10**7)


@pytest.mark.parametrize("opening", [(), (3, 3, 2)])
def test_boards_are_those_of_the_game(opening):
    pytest.importorskip("pettingzoo.classic")
    record = play_match("classic/connect_four-v3", ["random", "greedy"], seed=5, opening=opening)
    game = drawn_game(record).games[0]
    boards = boards_of(game)
    assert len(boards) == 1 + len(record.actions)
    assert game["opening"] == len(opening)
    assert boards[0] == "\n".join([". . . . . . ."] * 6)
    for ply, board in enumerate(boards):
        assert board.count("X") == (ply + 1) // 2
        assert board.count("O") == ply // 2
    assert game["names"][: len(opening)] == ["d", "d", "c"][: len(opening)]
    assert len(json.dumps(game["frames"])) < 0.5 * len(json.dumps(boards))


@pytest.mark.parametrize(
    ("env", "part"),
    [
        ("classic/tictactoe-v3", "X"),
        ("classic/chess-v6", "r n b q k b n r"),
        ("classic/go-v5", "X"),
        ("FrozenLake-v1", "[S]FFF"),
        ("zermelo/Kalah-v0", "4  4"),
    ],
)
def test_boards_of_other_environments(env, part):
    if env.startswith("classic"):
        pytest.importorskip("pettingzoo.classic")
    seats = 1 if env == "FrozenLake-v1" else 2
    record = play_match(env, ["random"] * seats, seed=1, max_moves=12)
    boards = boards_of(drawn_game(record).games[0])
    assert len(boards) == 1 + len(record.moves)
    assert any(part in board for board in boards)


def test_stones_of_go_do_not_change_sides():
    pytest.importorskip("pettingzoo.classic")
    record = play_match("classic/go-v5", ["random", "random"], seed=1, max_moves=6)
    cell = record.moves[0].action
    stones = [board.split()[cell] for board in boards_of(drawn_game(record).games[0])]
    assert stones == ["."] + ["X"] * 6


def test_a_game_that_cannot_be_drawn_is_shown_without_a_board():
    pytest.importorskip("pettingzoo.classic")
    record = play_match("classic/rps-v2", ["random", "random"], seed=1)
    game = drawn_game(record).games[0]
    assert game["frames"] == []
    assert len(game["moves"]) == len(record.moves)


@pytest.mark.thorough
def test_what_cannot_be_played_again_is_said():
    records = [replace(record, env="nowhere/chess-v9") for record in made_records(5)]
    drawn = [drawn_game(record) for record in records]
    assert all("frames" not in result.games[0] for result in drawn)
    with pytest.raises(UnknownNameError) as error:
        make("nowhere/chess-v9")
    assert drawn[0].notes == [
        f"1 game is shown without a board: nowhere/chess-v9 cannot be played again: {error.value}"
    ]
    assert "5 games are shown without a board" in section(report_page(records), "notes")


def test_a_record_that_differs_from_its_environment_is_refused():
    pytest.importorskip("pettingzoo.classic")
    record = play_match("classic/tictactoe-v3", ["random", "random"], seed=1)
    for wrong in (
        replace(record, moves=(record.moves[0], record.moves[1]._replace(action=record.moves[0].action))),
        replace(record, moves=(record.moves[0]._replace(seat=1),)),
        replace(record, moves=(*record.moves, *record.moves)),
    ):
        replayer = Replayer()
        driver = replayer.start(wrong)
        with pytest.raises(ReplayError, match="cannot be played again"):
            list(replayer.steps(wrong, driver))


def test_a_game_that_another_start_would_have_ended_otherwise_has_no_board(monkeypatch):
    reset = ToyEnv.reset
    monkeypatch.setattr(ToyEnv, "reset", lambda self, seed=None, options=None: reset(self, None, options))
    monkeypatch.setattr(ToyEnv, "start", lambda self, seed, options: setattr(self, "rounds", next(rounds)))
    rounds = itertools.count(1)
    record = play_match(ToyEnv, ["random", "random"], seed=1)
    drawn = draw_games([ShownGame(record, "sample")], {"random": 0}, room=10**6, replayer=Replayer(ToyEnv))
    assert "frames" not in drawn.games[0]
    assert "1 game is shown without a board: game (without an id) of" in drawn.notes[0]
    assert "the environment does not repeat games: the moves earned" in drawn.notes[0]
    monkeypatch.setattr(ToyEnv, "observe", lambda self, agent: self.rounds)
    with pytest.raises(ReplayError, match="it starts otherwise after another reset with the same seed"):
        Replayer(ToyEnv).start(record)


def test_drawing_does_not_change_the_environment():
    env = make("FrozenLake-v1")
    env.reset(seed=0)
    assert drawing(None, env).endswith("[S]FFF\nFHFH\nFFFH\nHFFG")
    assert env.unwrapped.render_mode is None
