"""Who is charged: every failure to who caused it, whatever it looks like, and the others' games go on."""

import functools
import random

import numpy as np
import pytest
from doubles import bad_agents, hostile_agents, toy_envs
from doubles.bad_agents import First, Good

from zermelo.evaluation import play_match, round_robin
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.tournament.run import gauntlet
from zermelo.evaluation.workers.settings import AgentLimits

NO_PROCESSES = AgentLimits(isolate="none")


def kinds(standings, agent):
    return {str(kind): count for kind, count in standings.row(agent).failures.items()}


@pytest.mark.parametrize(
    ("agent", "kind"),
    [
        (hostile_agents.MakesUpAnEnvironmentFailure(), FailureKind.CRASH),
        (hostile_agents.ComparesEvilly(), FailureKind.ILLEGAL_ACTION),
    ],
)
def test_in_this_process(agent, kind):
    record = play_match(toy_envs.ToyEnv, [agent, First()], seed=0)
    assert (record.failure.kind, record.failure.seat) == (kind, 0)


@pytest.mark.parametrize(("isolate", "workers"), [("none", 1), ("none", 2), ("all", 1)])
def test_an_agent_that_finds_that_it_does_not_fit_loses_and_the_run_goes_on(isolate, workers):
    agents = {"unfit": bad_agents.Unsupported, "first": First, "good": Good}
    limits = AgentLimits(isolate=isolate)
    standings = round_robin(toy_envs.ToyEnv, agents, games=2, workers=workers, isolation=limits)
    assert standings.complete
    assert kinds(standings, "unfit") == {"CRASH": 4}
    assert standings.row("first").games == standings.row("good").games == 4
    said = next(game.failure.message for game in standings.records if game.failure)
    assert said == "act raised UnsupportedGameError: this game has dice: use expectiminimax"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("mask", "the action mask allows no action"),
        ("short", "the action mask has 2 entries"),
        ("observe", "failed in observe: ZeroDivisionError"),
    ],
)
def test_what_the_environment_shows_is_its_own_affair(at, said):
    with pytest.raises(EnvironmentFailureError, match=said):
        play_match(functools.partial(toy_envs.BrokenEnv, at), [Good(), Good()], seed=0)
    standings = round_robin(functools.partial(toy_envs.BrokenEnv, at), [Good("a"), Good("b")], games=2)
    assert standings.results.void == 2
    assert not any(row.failures for row in standings.rows)


@pytest.mark.thorough
@pytest.mark.alone
def test_in_worker_processes():
    agents = {
        "first": First(),
        "closes": hostile_agents.ClosesEverything(),
        "interrupts": bad_agents.Interrupted(),
        "exits": hostile_agents.exits_in_a_worker,
        "hangs": bad_agents.Slow(60),
    }
    limits = AgentLimits(isolate="none", hang_seconds=1)
    standings = gauntlet(toy_envs.ToyEnv, agents, games=2, workers=2, isolation=limits)
    assert standings.results.void == 0
    assert kinds(standings, "closes") == {"CRASH": 2}
    assert kinds(standings, "interrupts") == {"CRASH": 2}
    assert kinds(standings, "exits") == {"INVALID_START": 2}
    assert kinds(standings, "hangs") == {"TIMEOUT": 2}
    assert standings.row("first").wins == 8


def test_in_processes_of_their_own():
    agents = {"env": hostile_agents.MakesUpAnEnvironmentFailure(), "int": hostile_agents.ComparesEvilly()}
    standings = gauntlet(
        toy_envs.ToyEnv, {"first": First()} | agents, games=1, isolation=AgentLimits(isolate="all")
    )
    assert kinds(standings, "env") == {"CRASH": 1}
    assert kinds(standings, "int") == {"ILLEGAL_ACTION": 1}


@pytest.mark.alone
@pytest.mark.parametrize(
    ("env", "agent", "failure"),
    [
        (toy_envs.ToyEnv, bad_agents.Slow(60), ("TIMEOUT", 0)),
        (functools.partial(toy_envs.BrokenEnv, "hang"), Good(), ("ENVIRONMENT_ERROR", None)),
    ],
)
def test_a_hang_ends_in_this_process_too(env, agent, failure):
    limits = AgentLimits(isolate="none", hang_seconds=0.3)
    standings = round_robin(env, {"a": agent, "b": First()}, games=1, isolation=limits)
    found = standings.records[0].failure
    assert (found.kind, found.seat) == failure


def test_global_generators_are_seeded_for_each_game():
    agents = [hostile_agents.DrawsGlobally("a"), hostile_agents.DrawsGlobally("b")]
    random.seed(1)
    expected = random.Random(1).random()
    one = round_robin(toy_envs.ToyEnv, agents, games=6)
    assert random.random() == expected, "the caller's generator was changed"
    np.random.seed(5)  # noqa: NPY002
    again = round_robin(toy_envs.ToyEnv, agents, games=6)
    two = round_robin(toy_envs.ToyEnv, agents, games=6, workers=2)
    games = [[game.actions for game in run.records] for run in (one, again, two)]
    assert games[0] == games[1] == games[2]
    assert len(set(games[0])) > 1
