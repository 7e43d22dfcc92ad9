"""An agent that failed in every game has no rating, and nobody else's comes of its games."""

import csv
import io
import json

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good

from zermelo.evaluation import Standings, round_robin
from zermelo.evaluation.cli import main
from zermelo.evaluation.report.page import report_page


class Fails(First):
    """Crashes at its first move, or in its second game and later."""

    def __init__(self, name="fails", first=0):
        super().__init__(name)
        self.first, self.games = first, 0

    def reset(self, seed=None):
        self.games += 1

    def act(self, env):
        if self.games > self.first:
            raise RuntimeError("no weights")
        return super().act(env)


def played(*more, env=toy_envs.DiceEnv):
    agents = {agent.name: agent for agent in (Good("good"), First("first"), *more)}
    return round_robin(env, agents, games=20, score="wins")


def rated(standings):
    return {player.name: player.elo for player in standings.ratings.players}


def test_the_table_marks_it_and_says_why():
    standings = played(Fails())
    assert standings.unrated == ("fails",)
    assert rated(standings).keys() == {"good", "first"}
    assert [line.split() for line in str(standings).splitlines() if "not rated" in line] == [
        ["3", "fails", "not", "rated"]
    ]
    assert "fails failed in every game, so it has no rating" in str(standings)
    by_name = {agent["agent"]: agent for agent in json.loads(standings.to_json())["agents"]}
    assert (by_name["fails"]["elo"], by_name["fails"]["failed_always"]) == (None, True)
    assert not by_name["good"]["failed_always"]
    rows = {row["agent"]: row for row in csv.DictReader(io.StringIO(standings.to_csv()))}
    assert (rows["fails"]["elo"], rows["fails"]["failed_always"], rows["good"]["failed_always"]) == (
        "",
        "True",
        "False",
    )
    page = report_page(standings.records)
    assert "not rated" in page
    assert "failed in every game" in page


def test_the_others_have_the_ratings_of_their_own_games():
    alone, beside = played(), played(Fails())
    own = Standings.from_records([game for game in beside.records if "fails" not in game.agents], score="wins")
    assert rated(beside) == pytest.approx(rated(own))
    assert [row.wins for row in beside.rows if row.agent == "good"] != [row.wins for row in alone.rows[:1]]


def test_two_that_fail_do_not_rate_each_other():
    assert set(played(Fails("one"), Fails("two")).unrated) == {"one", "two"}


def test_an_agent_that_finished_a_game_is_rated():
    standings = played(Fails(first=4))
    assert not standings.unrated
    assert "fails" in rated(standings)


def test_an_anchor_that_failed_is_none():
    agents = {"good": Good("good"), "first": First("first"), "random": Fails("random")}
    standings = round_robin(toy_envs.ToyEnv, agents, games=4)
    assert standings.anchor is None
    assert str(standings)


def test_nobody_is_rated_where_all_fail():
    standings = round_robin(toy_envs.ToyEnv, {"a": Fails("a"), "b": Fails("b")}, games=4)
    assert set(standings.unrated) == {"a", "b"}
    assert "a failed in every game" in str(standings)
    assert report_page(standings.records)


@pytest.mark.parametrize(
    ("agents", "code"),
    [
        (["random", "doubles.bad_agents:Good"], 0),
        (["random", "doubles.bad_agents:Raises"], 3),
        (["random", "doubles.bad_agents:Good", "doubles.bad_agents:Raises"], 3),
    ],
)
def test_the_exit_status_says_so(agents, code, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["tournament", "doubles.toy_envs:ToyEnv", *agents, "--games", "2", "--quiet"])
    assert ended.value.code == code
    assert ("not rated" in capsys.readouterr().out) is (code == 3)


def test_an_agent_alone_that_failed_in_every_game_has_exit_status_3():
    with pytest.raises(SystemExit) as ended:
        main(["tournament", "CartPole-v1", "doubles.bad_agents:Raises", "--games", "2", "--quiet"])
    assert ended.value.code == 3
