"""Stopping once the leader is known: at places fixed before, seldom wrong, and the same for any workers."""

import math

import numpy as np
import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Last
from doubles.made_games import numbers_of as table

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import gauntlet, read_standings, round_robin
from zermelo.evaluation.results import Result, ResultCount, Results
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.run import run
from zermelo.evaluation.tournament.settings import TournamentSettings
from zermelo.evaluation.tournament.stopping import LeaderTest

AGENTS = {"last": Last, "first": First, "good": Good}


def test_looks_are_at_the_ends_of_blocks_and_grow():
    schedule = Schedule("abc", seats=2, games=101, seed=0)
    test = LeaderTest.of(schedule, 3)
    assert test.looks == (24, 36, 54, 84, 126, 192, 288, 303)
    assert all(look == len(schedule) or look % 6 == 0 for look in test.looks)
    assert test.level == pytest.approx(0.05 / (8 * 3))
    assert LeaderTest.of(Schedule("ab", seats=2, games=3, seed=0), 2).looks == (3,)


@pytest.mark.thorough
def test_a_clear_leader_ends_the_run_early_and_the_same_for_any_workers(tmp_path):
    settings = {"games": 200, "seed": 1, "until_sure": True}
    env, agents = "classic/tictactoe-v3", ["random", "alphabeta(depth=2)", "greedy"]
    one = round_robin(env, agents, **settings)
    assert one.rows[0].agent == "alphabeta(depth=2)"
    assert one.complete
    assert one.games in LeaderTest.of(Schedule("abc", seats=2, games=200, seed=0), 3).looks[:-1]
    assert one.notes[0].startswith(f"alphabeta(depth=2) leads for sure, after {one.games} of at most 600 games")
    two = round_robin(env, agents, workers=2, out=tmp_path, **settings)
    assert table(two) == table(one)
    assert [r.without_timings() for r in two.records] == [r.without_timings() for r in one.records]
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == one.games
    again = round_robin(env, agents, out=tmp_path, **settings)
    assert table(again) == table(one) == table(read_standings(tmp_path))


def test_equals_are_played_to_the_end_and_that_is_said():
    standings = round_robin(toy_envs.DiceEnv, {"a": Good, "b": Good}, games=30, seed=3, until_sure=True)
    assert standings.games == 30
    assert standings.notes[0].startswith("Who leads is not sure after all 30 games")


@pytest.mark.thorough
@pytest.mark.parametrize("folder", [False, True])
def test_repetitions_of_several_openings_are_counted_once(folder, tmp_path):
    agents, out = {"first": First, "last": Last}, tmp_path if folder else None
    settings = {"openings": [[0], [1], [2]], "until_sure": True}
    few = round_robin(toy_envs.ToyEnv, agents, games=6, **settings)
    many = round_robin(toy_envs.ToyEnv, agents, games=90, out=out, **settings)
    assert not few.results.copies
    assert many.games == 90, "six different games made somebody sure, played again and again"
    assert "first v last (90 games are 6)" in many.notes[-1]
    dice = round_robin(toy_envs.DiceEnv, {"a": Good, "b": Good}, games=90, openings=[[0], [1], [2]])
    assert not dice.results.copies


def test_copies_say_as_much_as_one_game():
    """Ratings, intervals of scores and of rewards, of openings that were all played twice, and of half of them."""
    agents, openings = {"first": First, "last": Last, "good": Good}, [[0], [1], [2]]
    once = round_robin(toy_envs.ToyEnv, agents, games=6, openings=openings, score="rewards")
    for games in (12, 10):
        more = round_robin(toy_envs.ToyEnv, agents, games=games, openings=openings, score="rewards")
        same, judged = more.results.copies, more.results.judged
        assert [*same.values()] == [(("first", "last"), games, 6)]
        assert judged.between("first", "last") == once.results.judged.between("first", "last")
        for one, other in (("first", "last"), ("last", "first")):
            assert more.rewards[one, other] == once.rewards[one, other]
        assert judged.games == 2 * games + 6
    del agents["good"]
    few, many = (round_robin(toy_envs.ToyEnv, agents, games=games, openings=openings) for games in (6, 600))
    assert many.row("last").wins == 100 * few.row("last").wins
    assert many.row("last").interval == pytest.approx(few.row("last").interval)
    assert many.ratings["last"].lower == pytest.approx(few.ratings["last"].lower)


def test_a_single_player_has_no_leader_test():
    with pytest.raises(InvalidSettingError, match="this environment has one seat"):
        round_robin(toy_envs.WalkEnv, AGENTS, until_sure=True)


def test_agents_that_never_met_leave_the_leader_unknown():
    test = LeaderTest((8, 16), rivals=3)
    assert test.verdict(results({("a", "b"): (8, 0, 0), ("c", "d"): (8, 0, 0)})) is None
    assert test.verdict(Results()) is None
    assert LeaderTest((8, 16), rivals=1).verdict(results({("a", "b"): (16, 0, 0)})) == "a"


def results(matches):
    """Of (first seat, second seat): wins, draws, losses."""
    groups = {}
    for agents, counts in matches.items():
        for ranks, games in zip(((0, 1), (0, 0), (1, 0)), counts, strict=True):
            if games:
                groups[Result(agents, ranks)] = ResultCount(games, (0, 0), (0, 0), games, len(groups))
    return Results(groups)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("agents", "runs"),
    [(2, 15), pytest.param(2, 1000, marks=pytest.mark.slow), pytest.param(4, 300, marks=pytest.mark.slow)],
)
def test_among_equals_a_leader_is_seldom_named(agents, runs):
    """Whoever is named among equals is wrongly named: at most 5 % of the runs, by the union bound far fewer."""
    generator = np.random.default_rng(11)
    schedule = Schedule("abcd"[:agents], seats=2, games=120, seed=0)
    test = LeaderTest.of(schedule, agents)
    pairs = [(a, b) for i, a in enumerate("abcd"[:agents]) for b in "abcd"[i + 1 : agents]]
    wrong = 0
    for _ in range(runs):
        counts = {seats: np.zeros(3, int) for pair in pairs for seats in (pair, pair[::-1])}
        played = 0
        for look in test.looks:
            games = look // len(pairs) // 2
            for seats in counts:
                counts[seats] += generator.multinomial(games - played, [0.45, 0.2, 0.35])
            played = games
            if test.verdict(results({seats: tuple(map(int, row)) for seats, row in counts.items()})) is not None:
                wrong += 1
                break
    bound = 0.05 * runs
    assert wrong <= bound + 3 * math.sqrt(bound), wrong


def test_a_gauntlet_plays_the_first_agent_against_all_others():
    standings = gauntlet(toy_envs.DiceEnv, AGENTS, games=4, seed=2)
    assert standings.games == 8
    assert all("last" in record.agents for record in standings.records)
    assert ("first", "good") not in standings.crosstable
    assert {player.name for player in standings.ratings.players} == set(AGENTS)
    assert len(standings.ratings.components) == 1
    seats = [record.agents.index("last") for record in standings.records]
    assert seats.count(0) == seats.count(1) == 4


def test_the_whole_plan_is_known_before_the_first_game():
    plan = Tournament.prepare(
        "classic/tictactoe-v3", ["random", "greedy"], TournamentSettings(games=6, seed=4, openings=2)
    )
    again = Tournament.prepare(
        "classic/tictactoe-v3", ["random", "greedy"], TournamentSettings(games=6, seed=4, openings=2)
    )
    assert list(plan.schedule) == list(again.schedule)
    assert plan.to_dict() == again.to_dict()
    standings = run(plan)
    assert [(g.game_id, g.seed, g.seats, g.opening) for g in plan.schedule] == [
        (r.game_id, r.seed, r.agents, r.opening) for r in standings.records
    ]
