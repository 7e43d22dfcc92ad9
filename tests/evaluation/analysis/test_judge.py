"""Play against perfect play: positions known by hand, and agents that are known to be perfect or not."""

import json
import math
from dataclasses import replace

import pytest
from doubles.made_games import made_records

from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import GameRecord, play_match
from zermelo.evaluation.analysis import judge as judge_module
from zermelo.evaluation.analysis.judge import Judge, JudgeWork, judge
from zermelo.evaluation.analysis.judgement import Phase
from zermelo.evaluation.match.record import EndReason, Move
from zermelo.evaluation.match.replay import ReplayError
from zermelo.evaluation.tournament.run import make_runner

TICTACTOE = "classic/tictactoe-v3"


@pytest.fixture(autouse=True)
def _classic():
    pytest.importorskip("pettingzoo.classic")


@pytest.fixture(params=["compiled", "plain"])
def search(request, monkeypatch):
    """Both ways to prove a value, which must agree."""
    if request.param == "plain":
        monkeypatch.setattr(judge_module, "can_prove", lambda game: False)
    return request.param


def record(actions, rewards=(0.0, 0.0), opening=0, names=("first", "second")):
    moves = tuple(Move(ply % 2, action) for ply, action in enumerate(actions))
    return GameRecord(
        env=TICTACTOE,
        agents=names,
        seat_names=("player_1", "player_2"),
        seed=0,
        rewards=rewards,
        end=EndReason.MOVE_LIMIT,  # rewards are not those of the moves
        game_id="0.0.0",
        opening=tuple(actions[:opening]),
        moves=moves[opening:],
    )


def counts(line):
    total = line.total
    return total.judged, total.optimal, total.wins_thrown_away, total.draws_thrown_away


@pytest.mark.thorough
def test_a_game_known_by_hand(search):
    """X takes a corner; O answers in a side (the mistake of every textbook); X replies badly and draws.

    With the middle or the two free corners away from O, X would have won (two threats). X's second move, the side
    opposite to O's, throws that away.
    """
    # X: 0, O: 1 (side, next to it) loses; X: 7 no longer wins.
    table = judge([record([0, 1, 7])])
    first, second = table.agent("first"), table.agent("second")
    assert counts(first) == (2, 1, 1, 0)
    assert counts(second) == (1, 0, 0, 1)
    assert (first.total.regret, second.total.regret) == (1.0, 1.0)
    assert first.total.mean_regret == 0.5
    assert first.total.optimal_share == 0.5
    # Three plies: one in each third.
    assert [first.phases[phase].judged for phase in Phase] == [1, 0, 1]
    assert [second.phases[phase].judged for phase in Phase] == [0, 1, 0]
    assert first.phases[Phase.END].wins_thrown_away == 1


def test_missing_a_win_in_one_and_a_threat(search):
    """X has two in a row and plays elsewhere; O then does not block and X wins after all."""
    table = judge([record([0, 3, 1, 4, 8, 6, 2], (1.0, -1.0))])
    # X: 0, 1, 8 (misses 2, and leaves O to win at 5: a win becomes a loss), 2.  O: 3, 4, 6 (misses 5).
    first, second = table.agent("first"), table.agent("second")
    assert first.total.wins_thrown_away == 1
    assert first.total.regret == 2.0
    assert second.total.wins_thrown_away == 1
    assert counts(first)[0] == 4


def test_moves_of_the_opening_are_nobodys(search):
    played = record([0, 1, 7], opening=2)
    table = judge([played])
    assert counts(table.agent("first")) == (1, 0, 1, 0)
    assert counts(table.agent("second")) == (0, 0, 0, 0)
    assert math.isnan(table.agent("second").total.optimal_share)
    assert table.agent("second").games == 0


def test_forced_moves_are_not_counted(search):
    drawn = [0, 4, 8, 2, 6, 3, 5, 7, 1]
    table = judge([record(drawn)])
    assert table.agent("first").total.judged == 4
    assert table.agent("second").total.judged == 4


@pytest.mark.parametrize("seed", range(3))
def test_perfect_play_is_all_optimal_and_random_play_is_not(seed):
    names = ["alphabeta", "random"]
    games = [play_match(TICTACTOE, names, seed=seed), play_match(TICTACTOE, names[::-1], seed=100 + seed)]
    games += [play_match(TICTACTOE, ["random", "random(seed=1)"], seed=k) for k in range(seed, seed + 3)]
    table = judge(games)
    perfect = table.agent("alphabeta")
    assert perfect.total.optimal_share == 1.0
    assert perfect.total.mean_regret == 0.0
    assert counts(perfect)[2:] == (0, 0)
    assert perfect.unjudged == 0
    assert table.agents[0] is perfect
    total = table.agent("random").total
    assert total.optimal < total.judged
    assert total.regret > 0


@pytest.mark.thorough
def test_compiled_and_plain_search_agree(monkeypatch):
    games = [game for game in made_records(30) if game.failure is None]
    compiled = judge(games)
    monkeypatch.setattr(judge_module, "can_prove", lambda game: False)
    plain = judge(games)
    assert [(line.agent, line.phases) for line in compiled.agents] == [
        (line.agent, line.phases) for line in plain.agents
    ]


def test_positions_that_cannot_be_proven_are_counted_as_such(monkeypatch):
    monkeypatch.setattr(judge_module, "can_prove", lambda game: False)
    game = play_match(TICTACTOE, ["random", "random(seed=1)"], seed=3)
    table = judge([game], nodes=20)
    judged = sum(line.total.judged for line in table.agents)
    unjudged = sum(line.unjudged for line in table.agents)
    assert judged > 0 < unjudged
    assert judged + unjudged <= len(game.moves)
    # Those judged are the last ones.
    assert all(line.phases[Phase.OPENING].judged == 0 for line in table.agents)
    none = judge([replace(game, moves=game.moves[:2], end=EndReason.MOVE_LIMIT)], nodes=10)
    assert "no position could be proven within 10 nodes: give more by --nodes N" in none.notes[0]
    assert [line.unjudged for line in none.agents] == [1, 1]


@pytest.mark.thorough
def test_points_are_regretted_in_the_games_own_rewards(monkeypatch):
    monkeypatch.setattr(judge_module, "can_prove", lambda game: False)
    env, names = (
        "zermelo/DotsAndBoxes-v0(rows=1, columns=2)",
        ["alphabeta(depth=7, backend=clone)", "minimax(depth=7, backend=clone)"],
    )
    game = play_match(env, ["random", "random(seed=1)"], seed=0)
    perfect = play_match(env, names, seed=0)
    table = judge([game, perfect])
    assert [table.agent(name).total.optimal_share for name in perfect.agents] == [1.0, 1.0]
    assert table.agent("random").total.judged > 0


def test_a_single_player_in_a_world_of_chance_has_regret_and_no_blunders():
    env = "FrozenLake-v1"
    game = play_match(env, ["random"], seed=2)
    table = judge([game], nodes=50)
    assert not table.has_blunders
    assert sum(line.unjudged + line.total.judged for line in table.agents) <= len(game.moves)
    assert "thrown" not in str(table).split("Moves with")[0]


@pytest.mark.parametrize(
    ("env", "seats", "reason"),
    [
        ("classic/rps-v2", 2, "decide at the same time"),
        ("classic/leduc_holdem-v4", 2, "hides part of it"),
        ("Blackjack-v1", 1, "sampled but not listed"),
    ],
)
def test_games_without_perfect_play_are_refused(env, seats, reason):
    game = play_match(env, ["random", "random(seed=1)"][:seats], seed=0)
    with pytest.raises(UnsupportedGameError, match=f"cannot be judged: .*{reason}"):
        judge([game])


def test_games_that_cannot_be_played_again_are_said():
    good = record([0, 1, 7])
    table = judge([good, record([0, 0])])
    assert table.games == 1
    assert table.notes[0].startswith("1 game is not judged: game 0.0.0")
    with pytest.raises(ReplayError, match="at move 2"):
        judge([record([0, 0])])
    lost = replace(record([0, 3, 1, 4, 2], rewards=(-1.0, 1.0)), end=EndReason.TERMINATED)
    with pytest.raises(
        ReplayError, match=r"does not repeat games: the moves earned -1, 1 in .* now earn 1, -1, so"
    ):
        judge([lost])


def test_only_so_many_games(search):
    games = [record([0, 1, 7])] * 5
    assert judge(games, games=2).games == 2
    assert judge(iter(games)).games == 5
    with pytest.raises(InvalidSettingError, match="games must be a whole number of at least 1, not 0"):
        judge(games, games=0)
    with pytest.raises(InvalidSettingError, match="nodes must be a whole number"):
        judge(games, nodes=0)


def test_verdicts_are_the_same_wherever_they_are_found_and_are_not_found_again():
    games = [replace(record([0, 1, 7]), game_id="a"), replace(record([4, 1, 0]), game_id="b")]
    here, there = Judge(JudgeWork()), Judge(JudgeWork())
    verdicts = list(here.judged(games))
    assert list(there.judged(games, runner=make_runner(2))) == verdicts
    assert there.table() == here.table() == judge(games)

    class Nobody:
        def run(self, work, items):
            raise AssertionError(f"{items} are known")
            yield

    known = {verdict.game_id: verdict for verdict in verdicts}
    again = Judge(JudgeWork())
    assert list(again.judged(games, known, runner=Nobody())) == verdicts
    assert again.table() == here.table()
    for other, changed in ((JudgeWork(nodes=10), games), (JudgeWork(), [replace(games[0], seed=7)])):
        with pytest.raises(AssertionError, match="are known"):
            list(Judge(other).judged(changed, known, runner=Nobody()))


def test_the_table_as_text_and_as_data(search):
    table = judge([record([0, 1, 7])])
    lines = str(table).splitlines()
    assert lines[0] == f"{TICTACTOE}: compared with perfect play"
    columns = "agent judged not judged optimal regret wins thrown draws thrown opening middle end"
    assert " ".join(lines[2].split()) == columns
    assert lines[4].split() == ["first", "2", "0", "50.0", "0.5", "1", "0", "100.0", "0.0"]
    data = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert data["agents"][0]["optimal_share"] == 0.5
    assert data["agents"][0]["phases"][2]["wins_thrown_away"] == 1
    assert data["games"] == 1


def test_moves_that_matter_are_counted_with_intervals_and_on_shared_positions(search):
    """After X's corner and O's middle all of X's moves draw; after O's side X's second move decides."""
    table = judge([record([0, 1, 7]), record([0, 1, 4], names=("other", "second"))])
    first, other = table.agent("first"), table.agent("other")
    assert (first.total.mattered, first.total.mattered_share) == (1, 0)
    assert first.total.mattered_share == 0
    assert first.total.mattered_interval[0] == 0
    assert 0.5 < first.total.mattered_interval[1] < 1
    assert other.total.mattered_share == 1
    assert table.agents.index(other) < table.agents.index(first)
    text = str(table)
    assert "moves that matter" in text
    assert math.isnan(table.agent("second").shared_share), "it met none of the others' positions"
