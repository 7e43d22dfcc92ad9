"""The schedule: complete, balanced, and the same whoever else plays."""

import itertools
import math
from collections import Counter

import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.schedule import Pairings, Schedule, game_order


@pytest.mark.parametrize(("agents", "games"), [(2, 1), (2, 20), (3, 4), (4, 7), (5, 2)])
def test_every_pairing_plays_and_seats_are_even(agents, games):
    names = [f"agent{i}" for i in range(agents)]
    schedule = Schedule(names, seats=2, games=games, seed=0)
    assert len(schedule) == games * math.comb(agents, 2)
    for pair in itertools.combinations(names, 2):
        seats = Counter(game.seats for game in schedule if set(game.seats) == set(pair))
        assert seats.total() == games
        assert max(seats.values()) - min([*seats.values(), 0] if len(seats) < 2 else seats.values()) <= 1
    for name in names:
        first = sum(game.seats[0] == name for game in schedule)
        second = sum(game.seats[1] == name for game in schedule)
        assert abs(first - second) <= (0 if games % 2 == 0 else 2), (name, first, second)


@pytest.mark.parametrize(("agents", "seats"), [(3, 3), (4, 3), (5, 4)])
def test_all_assignments_of_many_seats_come_equally_often(agents, seats):
    names = "abcdefgh"[:agents]
    schedule = Schedule(names, seats=seats, games=math.factorial(seats), seed=0)
    counts = Counter(game.seats for game in schedule)
    assert set(counts) == set(itertools.permutations(names, seats))
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_block_gives_every_agent_every_seat_once(seats):
    names = "abcdefgh"[:seats]
    schedule = Schedule(names, seats=seats, games=seats, seed=0)
    for place in range(seats):
        assert {game.seats[place] for game in schedule} == set(names)


def test_fewer_agents_than_seats_share_the_table():
    schedule = Schedule("ab", seats=3, games=3, seed=0)
    assert len(schedule) == 6
    assert all(set(game.seats) == {"a", "b"} for game in schedule)
    assert Counter(name for game in schedule for name in game.seats) == {"a": 9, "b": 9}


def test_a_single_player_plays_alone_on_the_same_seeds_as_the_others():
    schedule = Schedule("abc", seats=1, games=4, seed=0)
    assert len(schedule) == 12
    seeds = {name: [game.seed for game in schedule if game.seats == (name,)] for name in "abc"}
    assert seeds["a"] == seeds["b"] == seeds["c"]
    assert len(set(seeds["a"])) == 4


def test_ids_are_unique_and_sort_into_the_order_of_play():
    schedule = Schedule("abcd", seats=2, games=24, seed=0)
    ids = [game.game_id for game in schedule]
    assert len(set(ids)) == len(ids)
    assert sorted(ids, key=game_order) == ids


def test_seeds_depend_on_the_seed_the_agents_and_the_number_of_the_game_only():
    def seeds(agents, **settings):
        schedule = Schedule(agents, **{"seats": 2, "games": 6, "seed": 1, **settings})
        return [game.seed for game in schedule if set(game.seats) == {"a", "b"}]

    assert seeds("ab") == seeds("abc") == seeds("cba") == seeds("ab", games=10)[:6]
    assert seeds("ab") != seeds("ab", seed=2)
    assert len(set(seeds("ab", games=100))) == 100
    assert all(0 <= seed < 2**31 for seed in seeds("ab", games=100))


def test_seeds_never_change():
    schedule = Schedule(["random", "greedy"], seats=2, games=2, seed=0)
    assert [(game.game_id, game.seats) for game in schedule] == [
        ("0.0.0", ("random", "greedy")),
        ("0.0.1", ("greedy", "random")),
    ]
    assert [game.seed for game in schedule] == [707652736, 858318257]


@pytest.mark.parametrize(
    ("agents", "games", "said"),
    [
        ("a", 2, "at least 2 agents, not 1"),
        ("ab", 0, "games must be a whole number of at least 1, not 0"),
        ("ab", 1.5, "not 1.5"),
        ("ab", True, "not True"),
        ("aa", 2, "two agents are called 'a'"),
    ],
)
def test_what_makes_no_schedule(agents, games, said):
    with pytest.raises(InvalidSettingError, match=said):
        Schedule(agents, seats=2, games=games, seed=0)


@pytest.mark.parametrize(("agents", "seats", "games"), [(2, 2, 5), (4, 2, 7), (4, 3, 8), (3, 1, 4), (2, 3, 4)])
def test_games_are_worked_out_when_asked_for_by_place_and_by_id(agents, seats, games):
    schedule = Schedule("abcd"[:agents], seats=seats, games=games, seed=3)
    listed = list(schedule)
    assert len(listed) == len(schedule)
    assert [schedule[place] for place in range(-len(listed), 0)] == listed
    assert [schedule.place(game.game_id) for game in listed] == list(range(len(listed)))
    assert schedule[1:4] == tuple(listed[1:4])
    ends = [schedule.block_end(block) for block in range(schedule.blocks)]
    blocks = [int(game.game_id.split(".")[0]) for game in listed]
    assert ends == [blocks.index(block + 1) for block in range(schedule.blocks - 1)] + [len(listed)]


def test_a_schedule_of_a_million_games_takes_no_room():
    schedule = Schedule("abc", seats=2, games=10**9, seed=0)
    assert schedule[2_999_999_999].game_id == "499999999.2.1"
    assert schedule.place("499999999.2.1") == 2_999_999_999


@pytest.mark.parametrize("game_id", ["", "0.0", "0.0.2", "0.1.0", "3.0.0", "a.b.c", "0.0.-1"])
def test_a_game_that_is_not_of_the_schedule(game_id):
    schedule = Schedule("ab", seats=2, games=6, seed=0)
    with pytest.raises(InvalidSettingError, match="the schedule has no game"):
        schedule.place(game_id)
    with pytest.raises(IndexError, match="there are 6 games, so no game 6"):
        schedule[6]


def test_a_gauntlet_is_the_first_agent_s_part_of_the_round_robin():
    whole = Schedule("abcd", seats=2, games=5, seed=7)
    part = Schedule("abcd", seats=2, games=5, seed=7, pairings=Pairings.GAUNTLET)
    assert len(part) == 15
    assert {(game.seed, game.seats) for game in part} == {
        (game.seed, game.seats) for game in whole if "a" in game.seats
    }
    three = Schedule("abcd", seats=3, games=6, seed=7, pairings=Pairings.GAUNTLET)
    assert Counter(game.seats.index("a") for game in three) == {0: 6, 1: 6, 2: 6}


def test_a_gauntlet_of_one_seat_makes_no_sense():
    with pytest.raises(
        InvalidSettingError, match="a gauntlet schedule needs an environment with 2 seats or more, not 1"
    ):
        Schedule("ab", seats=1, games=5, seed=7, pairings=Pairings.GAUNTLET)


def test_a_block_shares_an_opening():
    schedule = Schedule("abc", seats=2, games=7, seed=0, openings=[(1,), (2, 3)])
    openings = {}
    for game in schedule:
        openings.setdefault(game.game_id.split(".")[0], set()).add(game.opening)
    assert openings == {"0": {(1,)}, "1": {(2, 3)}, "2": {(1,)}, "3": {(2, 3)}}


@pytest.mark.parametrize(("agents", "seats"), [("abc", 2), ("abcd", 3), ("ab", 4)])
def test_duplicate_deals_give_every_agent_the_same_cards_from_every_seat(agents, seats):
    plain, duplicate = (
        Schedule(agents, seats=seats, games=3 * seats + 1, seed=5, duplicate=which) for which in (False, True)
    )
    assert [(game.game_id, game.seats) for game in plain] == [(game.game_id, game.seats) for game in duplicate]
    rotations = {}
    for game in duplicate:
        rotations.setdefault(game.game_id.rpartition(".")[0], []).append((game.seed, game.seats))
    for games in rotations.values():
        assert len(set(games)) == len(games), "a game is not played twice"
        if len(agents) >= seats:
            assert len({seed for seed, _ in games}) == 1
    firsts = [[game.seed for game in schedule if game.game_id.endswith(".0")] for schedule in (plain, duplicate)]
    assert firsts[0] == firsts[1]
    assert len(set(firsts[1])) == len(firsts[1])


def test_teams_play_with_themselves_too():
    schedule = Schedule("ab", seats=2, games=4, seed=0, duplicate=True, teams=True)
    assert Counter(game.seats for game in schedule) == {("a", "a"): 4, ("b", "b"): 4, ("a", "b"): 2, ("b", "a"): 2}
    alone = [game.seed for game in schedule if game.seats == ("a", "a")]
    assert len(set(alone)) == 4, "the same team would play the same deal again"
    assert [game.seats for game in Schedule("a", seats=3, games=2, seed=0, teams=True)] == [("a", "a", "a")] * 2
    more = Schedule("abc", seats=2, games=4, seed=0, duplicate=True, teams=True)
    assert len(more) == 24
    assert {game.seed for game in schedule} <= {game.seed for game in more}
