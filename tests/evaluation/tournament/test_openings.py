"""Openings: legal, different, once from each seat, and known before the first game."""

import numpy as np
import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Last

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.make import make
from zermelo.evaluation import play_match, round_robin
from zermelo.evaluation.results import HeadToHead
from zermelo.evaluation.tournament.openings import random_openings
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.settings import TournamentSettings

TICTACTOE = "classic/tictactoe-v3"


@pytest.mark.thorough
def test_random_openings_are_different_legal_and_decided_by_the_seed():
    env = make("classic/connect_four-v3")
    found = random_openings(env, plies=4, count=50, seed=3)
    assert len(set(found)) == 50
    assert all(len(opening) == 4 for opening in found)
    assert found == random_openings(env, plies=4, count=50, seed=3)
    assert found[:10] == random_openings(env, plies=4, count=10, seed=3), "more games add openings at the end"
    assert found != random_openings(env, plies=4, count=50, seed=4)
    for opening in found[:5]:
        record = play_match("classic/connect_four-v3", ["random", "random"], seed=1, opening=opening)
        assert record.actions[:4] == opening


def test_all_openings_of_a_small_game_are_found_and_used_in_turn():
    found = random_openings(make(TICTACTOE), plies=1, count=100, seed=0)
    assert sorted(found) == [(cell,) for cell in range(9)]
    plan = Tournament.prepare(TICTACTOE, ["random", "greedy"], TournamentSettings(games=40, openings=1))
    played = [plan.schedule[2 * block].opening for block in range(20)]
    assert played[:9] == played[9:18]
    assert len(set(played)) == 9


def test_no_opening_ends_the_game():
    with pytest.raises(InvalidSettingError, match="no opening of 9 plies leaves a game to play"):
        random_openings(make(TICTACTOE), plies=9, count=1, seed=0)
    for opening in random_openings(make(TICTACTOE), plies=7, count=20, seed=0):
        assert play_match(TICTACTOE, ["random", "random"], seed=0, opening=opening).moves


def test_each_opening_is_played_once_from_each_seat():
    agents = {"good": Good, "first": First, "last": Last}
    standings = round_robin(TICTACTOE, agents, games=6, seed=2, openings=2)
    by_pairing = {}
    for record in standings.records:
        assert record.actions[:2] == record.opening
        by_pairing.setdefault(frozenset(record.agents), {}).setdefault(record.opening, []).append(record.agents)
    assert len(by_pairing) == 3
    for openings in by_pairing.values():
        assert len(openings) == 3
        for seatings in openings.values():
            assert len(seatings) == 2
            assert seatings[0] == seatings[1][::-1]
    scores = standings.results.head_to_head()
    assert {("first", "good"), ("first", "last"), ("good", "last")} < scores.keys()
    assert all(sum(score.pairs) == 3 for score in scores.values())


def test_deterministic_agents_repeat_themselves_without_openings_only():
    agents = {"first": First, "last": Last}
    said = "Agents without chance repeated the same games"
    assert any(said in note for note in round_robin(TICTACTOE, agents, games=6).notes)
    assert round_robin(TICTACTOE, agents, games=6, openings=2).notes == ()


def test_pairs_of_games_are_counted_from_the_first_name_s_side():
    """First and Last play 0, 8, 1, 7, 2: whoever moves first wins, with the seats exchanged too."""
    standings = round_robin(TICTACTOE, {"first": First, "last": Last}, games=4)
    assert standings.results.between("first", "last") == HeadToHead(2, 0, 2, (0, 0, 2, 0, 0, 0))


@pytest.mark.parametrize(
    ("openings", "said"),
    [
        (-1, "opening plies must be a whole number of at least 0, not -1"),
        (True, "opening plies must be a whole number of at least 0, not True"),
        ([], "there is no opening in openings"),
        ([3], "opening 1 in openings is a list of actions or a line of moves, not 3"),
        (3.5, "openings are a number of plies, a file or a list, not 3.5"),
        ([[0, 0]], "opening 1 in openings, 0,0, plays 0, which is not legal here .*, at ply 1"),
        ([[0], [9]], "opening 2 in openings, 9, plays 9, which is outside the action space"),
        ([[0, 3, 1, 4, 2]], "opening 1 in openings leaves nothing to play, as the game is over after 5"),
        ([[0, 3, 1, 4, 2, 5]], "goes on after the end of the game, at ply 5"),
        (["a3 b3", "a3 a3"], "move 2 of opening 2 in openings is 'a3', which is not legal here"),
        ("/nowhere/openings.txt", "there is no file '/nowhere/openings.txt'"),
    ],
)
def test_openings_that_cannot_be(openings, said):
    with pytest.raises(InvalidSettingError, match=said):
        Tournament.prepare(TICTACTOE, ["random", "greedy"], TournamentSettings(games=4, openings=openings))


class LoadedEnv(toy_envs.ToyEnv):
    """What is legal is drawn anew for every move."""

    def reset(self, seed=None, options=None):
        self.generator = np.random.default_rng(seed)
        super().reset(seed, options)
        self.mask_now = np.eye(3, dtype=np.int8)[self.generator.integers(3)]

    def observe(self, agent):
        return {"observation": 0, "action_mask": self.mask_now}

    def play(self, agent, action):
        super().play(agent, action)
        self.mask_now = np.eye(3, dtype=np.int8)[self.generator.integers(3)]


def test_where_chance_decides_what_is_legal_random_openings_are_refused():
    with pytest.raises(InvalidSettingError, match=r"legal does not depend on the environment's own chance"):
        random_openings(LoadedEnv(), plies=2, count=20, seed=0)


def test_no_opening_is_the_default():
    for none in (None, 0):
        plan = Tournament.prepare(TICTACTOE, ["random", "greedy"], TournamentSettings(games=4, openings=none))
        assert [game.opening for game in plan.schedule] == [()] * 4
        assert plan.to_dict()["openings"] is None
