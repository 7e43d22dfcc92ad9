"""Round robins: reproducible whatever the workers, and not to be brought down by an agent."""

import contextlib
import os
import signal
import threading
from collections.abc import Sequence
from functools import partial

import pytest
from doubles import bad_agents, toy_envs
from doubles.bad_agents import Answers, First, Good, Last, Raises
from doubles.processes import left_running

from zermelo.agents import PolicyAgent
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.evaluation import round_robin
from zermelo.evaluation.errors import AgentStartError, EnvironmentFailureError, TournamentInterrupted, WorkerError
from zermelo.evaluation.match.play import agent_seeds
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.sources import FreshEnvs
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.run import crowding_of, runner_of
from zermelo.evaluation.tournament.settings import RunSettings, TournamentSettings
from zermelo.evaluation.workers.pool import AHEAD

CROWD = {"good": Good, "first": First, "last": Last, "raises": Raises, "illegal": partial(Answers, 9)}


def without_timings(standings):
    return [record.without_timings() for record in standings.records]


@pytest.fixture(autouse=True)
def no_workers_left():
    before = left_running()
    yield
    assert left_running() == before


@pytest.mark.thorough
def test_the_games_are_the_same_for_any_number_of_workers():
    one, two, three = (
        round_robin(toy_envs.DiceEnv, CROWD, games=4, seed=5, workers=workers) for workers in (1, 2, 3)
    )
    assert without_timings(one) == without_timings(two) == without_timings(three)
    assert one.crosstable == two.crosstable
    assert [row.score for row in one.rows] == [row.score for row in three.rows]
    assert without_timings(one) != without_timings(round_robin(toy_envs.DiceEnv, CROWD, games=4, seed=6))


def test_every_agent_rehearses_once_before_its_first_game(monkeypatch):
    told = []
    monkeypatch.setattr(
        "zermelo.evaluation.workers.games.rehearse", lambda agent, shown: told.append((agent.name, shown))
    )
    round_robin("classic/tictactoe-v3", ["random", "greedy", PolicyAgent(centre_or_first)], games=4)
    assert sorted(name for name, _ in told) == sorted(["random", "greedy", PolicyAgent(centre_or_first).name])
    assert [type(shown).__name__ for name, shown in told if "policy" in name] == ["Observation"]


def centre_or_first(observation, action_mask):
    return 4 if action_mask[4] else int(action_mask.argmax())


def test_fresh_environments_are_clones_where_clones_are_known_to_be_right():
    envs = FreshEnvs("classic/tictactoe-v3")
    first, second, third = envs.make(), envs.make(), envs.make()
    assert len({id(env) for env in (first, second, third)}) == 3
    for env in (first, second):
        env.reset(seed=0)
        env.step(0)
    third.reset(seed=0)
    assert not third.observe("player_1")["observation"].any(), "the third board has not been played on"
    made = []
    other = FreshEnvs(lambda: made.append(toy_envs.ToyEnv()) or made[-1])
    assert [other.make(), other.make()] == made, "of unknown classes each is made"
    live = toy_envs.ToyEnv()
    assert FreshEnvs(live).make() is live


@pytest.mark.thorough
@pytest.mark.parametrize("env", ["classic/connect_four-v3", "classic/leduc_holdem-v4", "classic/chess-v6"])
def test_games_in_clones_are_the_games_in_new_environments(env, monkeypatch):
    settings = {"agents": ["random", "random"], "games": 4, "max_moves": 60}
    cloned = round_robin(env, **settings)
    monkeypatch.setattr("zermelo.evaluation.match.sources.is_known_to_clone", lambda env: False)
    made = round_robin(env, **settings)
    assert without_timings(cloned) == without_timings(made)


def test_a_game_does_not_depend_on_the_games_before_it():
    """An agent or environment that remembers the last game would give a longer run other games."""
    short = round_robin(toy_envs.DiceEnv, [Good("a"), Good("b")], games=2)
    longer = round_robin(toy_envs.DiceEnv, [Good("a"), Good("b")], games=6)
    assert without_timings(longer)[:2] == without_timings(short)


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 2])
def test_bad_agents_lose_and_the_others_results_are_unchanged(workers):
    good = {"good": Good, "first": First, "last": Last}
    bad = {
        "raises": Raises,
        "illegal": partial(Answers, 9),
        "none": partial(Answers, None),
        "exits": bad_agents.SysExits,
        "steps": bad_agents.Steps,
        "refuses": bad_agents.RefusesToStart,
        "slow": bad_agents.Slow,
    }
    alone = round_robin(toy_envs.ToyEnv, good, games=2)
    together = round_robin(toy_envs.ToyEnv, {**good, **bad}, games=2, workers=workers)
    among = [
        (record.agents, record.seed, record.actions, record.rewards)
        for record in together.records
        if set(record.agents) <= good.keys()
    ]
    assert sorted(among) == sorted((r.agents, r.seed, r.actions, r.rewards) for r in alone.records)
    kinds = {name: set(together.row(name).failures) for name in together_names(together)}
    assert kinds["raises"] == kinds["exits"] == {FailureKind.CRASH}
    assert kinds["illegal"] == kinds["none"] == {FailureKind.ILLEGAL_ACTION}
    assert kinds["steps"] == {FailureKind.ENVIRONMENT_CHANGED}
    assert kinds["refuses"] == {FailureKind.INVALID_START}
    assert kinds["slow"] == kinds["good"] == set()
    for name in good:
        for culprit in ("raises", "illegal", "none", "exits", "steps", "refuses"):
            assert together.crosstable[name, culprit] == 1.0
    assert together.complete


def together_names(standings):
    return [row.agent for row in standings.rows]


def test_a_worker_that_dies_costs_its_agent_that_game_only():
    agents = {"good": Good, "first": First, "dies": bad_agents.Exits}
    standings = round_robin(toy_envs.ToyEnv, agents, games=2, workers=2)
    assert standings.complete
    assert standings.row("dies").failures == {FailureKind.CRASH: 4}
    assert standings.crosstable["good", "dies"] == 1.0
    lost = next(record for record in standings.records if "dies" in record.agents)
    assert lost.failure.message == "its process ended during its turn (exit code 7)"
    assert lost.agents[lost.failure.seat] == "dies"
    assert standings.crosstable["good", "first"] + standings.crosstable["first", "good"] == 1.0


@pytest.mark.thorough
def test_a_worker_that_dies_amid_a_batch_of_games_loses_no_other_game():
    agents = {"good": Good, "dies": bad_agents.ExitsNowAndThen, "first": First}
    standings = round_robin(toy_envs.DiceEnv, agents, games=100, seed=4, workers=2)
    assert [record.game_id for record in standings.records] == [
        game.game_id for game in Schedule(list(agents), seats=2, games=100, seed=4)
    ]
    dead = 0
    for record in standings.records:
        seeds = agent_seeds(record.seed, 2)
        dies = "dies" in record.agents and seeds[record.agents.index("dies")] % 50 == 0
        assert (record.failure is not None) == dies, record
        if dies:
            dead += 1
            assert record.failure.kind is FailureKind.CRASH
            assert record.agents[record.failure.seat] == "dies"
    assert dead > 1
    harmless = round_robin(toy_envs.DiceEnv, {**agents, "dies": Good}, games=100, seed=4)
    for record, same in zip(standings.records, harmless.records, strict=True):
        if record.failure is None:
            assert record.without_timings() == same.without_timings()


def test_games_are_worked_out_as_they_are_played():
    """Of a schedule of ten million games no more than workers are given ahead."""
    plan = Tournament.prepare(toy_envs.ToyEnv, [First, Last], TournamentSettings(games=10**7))
    made = []

    class Watched(Sequence):
        def __len__(self):
            return len(plan.schedule)

        def __getitem__(self, places):
            found = plan.schedule[places]
            made.extend(found if isinstance(found, tuple) else [found])
            return found

    games = runner_of(plan, RunSettings(workers=2)).run(plan.work(), Watched())
    records = [next(games) for _ in range(100)]
    games.close()
    assert len({record.game_id for record in records}) == 100
    assert 100 <= len(made) <= 100 + 4 * AHEAD
    assert len({game.game_id for game in made}) == len(made)


def test_a_process_that_the_environment_ends_is_nobodys_fault():
    standings = round_robin(toy_envs.FatalEnv, [First("a"), First("b")], games=2, workers=2)
    assert all(record.void for record in standings.records)
    assert "the environment ended its process (exit code 9)" in standings.notes[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_broken_environment_makes_games_void(workers):
    standings = round_robin(toy_envs.broken_step, [First("a"), First("b")], games=2, workers=workers)
    assert [record.failure.kind for record in standings.records] == [FailureKind.ENVIRONMENT_ERROR] * 2
    assert standings.row("a").games == 0
    assert "2 games count for nobody" in standings.notes[0]


def test_an_environment_that_cannot_start_stops_the_run_before_any_game():
    with pytest.raises(EnvironmentFailureError, match="no board"):
        round_robin(partial(toy_envs.BrokenEnv, "reset"), [First("a"), First("b")])


@pytest.mark.parametrize(
    ("agent", "error", "said"),
    [
        ("alphabet", UnknownNameError, "did you mean"),
        ("alphabeta(depth=0)", InvalidSettingError, "depth"),
        (partial(Raises, 1, 2, 3, 4), AgentStartError, "cannot be made: TypeError"),
        (lambda seen, mask: 0, AgentStartError, r"a policy goes in as PolicyAgent\(policy=function\)"),
        (7, InvalidSettingError, "an agent is text"),
        (dict, InvalidSettingError, "no act"),
    ],
)
def test_an_agent_that_cannot_be_made_stops_the_run_before_any_game(agent, error, said, tmp_path):
    with pytest.raises(error, match=said):
        round_robin(toy_envs.ToyEnv, [First(), agent], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_equal_names_are_told_apart():
    standings = round_robin(toy_envs.ToyEnv, [First(), First(), Last()], games=2)
    assert {row.agent for row in standings.rows} == {"first#1", "first#2", "last"}


def test_a_live_agent_in_two_seats_is_copied():
    standings = round_robin(toy_envs.three_players, [Good("a"), Last("b")], games=3)
    assert standings.complete
    assert all(record.failure is None for record in standings.records)

    with pytest.raises(AgentStartError, match="cannot be copied"):
        round_robin(toy_envs.three_players, [Uncopyable("a"), Last("b")], games=3)


class Uncopyable(Good):
    def __deepcopy__(self, memo):
        raise TypeError("there is one of me")


def test_a_live_environment_with_one_worker_only():
    env = toy_envs.DiceEnv()
    standings = round_robin(env, [Good("a"), First("b")], games=2)
    fresh = round_robin(toy_envs.DiceEnv, [Good("a"), First("b")], games=2)
    assert [r.rewards for r in standings.records] == [r.rewards for r in fresh.records]
    with pytest.raises(InvalidSettingError, match=r"a live environment .* cannot be shared by 2 workers"):
        round_robin(env, [Good("a"), First("b")], workers=2)


@pytest.mark.parametrize(
    ("env", "agents", "said"),
    [
        (lambda: toy_envs.ToyEnv(), [Good("a"), Good("b")], r"the environment .*lambda.* cannot be sent"),
        (toy_envs.ToyEnv, [Good("a"), bad_agents.UnfitToPickle()], "the agent unfit cannot be sent"),
    ],
)
def test_what_worker_processes_cannot_be_sent(env, agents, said):
    with pytest.raises(InvalidSettingError, match=said):
        round_robin(env, agents, workers=2)
    assert round_robin(env, agents, games=1).complete


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"games": 0}, "games must be"),
        ({"workers": 0}, "workers must be"),
        ({"workers": 1.5}, "workers must be"),
        ({"seed": -1}, "seed must be"),
        ({"max_moves": 0}, "max_moves must be"),
        ({"agents": "random"}, "agents must be a list"),
        ({"agents": ["random"]}, "at least 2 agents"),
    ],
)
def test_wrong_settings(settings, said):
    with pytest.raises(InvalidSettingError, match=said):
        round_robin(**{"env": toy_envs.ToyEnv, "agents": [First("a"), First("b")], **settings})


def test_workers_that_cannot_start_say_so(capfd):
    """As in a script without a main guard: the worker dies before it says that it is ready."""
    with pytest.raises(WorkerError, match=r"could not start \(exit code 1.*__main__"):
        round_robin(toy_envs.OnlyHere(), [First, Last], workers=2)
    assert "no such module over here" in capfd.readouterr().err


def test_single_player_environments_are_ranked_by_return():
    standings = round_robin(toy_envs.WalkEnv, [First, Last, Good], games=3, workers=2)
    assert [row.agent for row in standings.rows] == ["last", "good", "first"]
    assert standings.row("last").score - standings.row("first").score == pytest.approx(10.0)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_gives_the_standings_so_far(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "zermelo.evaluation.storage.store.INTERVAL", 0
    )  # else all are played before three are kept
    played = []

    def on_game(record):
        played.append(record)
        if len(played) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        round_robin(
            toy_envs.ToyEnv, [First, Last], games=500, workers=workers, out=tmp_path / "out", on_game=on_game
        )
    assert isinstance(caught.value, TournamentInterrupted)
    standings = caught.value.standings
    assert standings.games == 3
    assert standings.notes[0].startswith("Stopped after 3 of 500 games")
    assert len((tmp_path / "out" / "games.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "out" / "standings.json").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_agent_that_swallows_ctrl_c_does_not_hide_it():
    with pytest.raises(TournamentInterrupted) as caught:
        round_robin(toy_envs.ToyEnv, [Swallows, First], games=500)
    assert caught.value.standings.games == 1


class Swallows(Good):
    name = "swallows"

    def act(self, env):
        with contextlib.suppress(KeyboardInterrupt):  # as a search does that answers with the best move it has
            os.kill(os.getpid(), signal.SIGINT)
        return super().act(env)


def test_a_run_that_is_ended_in_the_background_charges_no_agent():
    """Shells start what is in the background with Ctrl-C ignored; ``kill`` ends it, here while an agent thinks."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(TournamentInterrupted) as caught:
            round_robin(toy_envs.ToyEnv, [Killed, First], games=500)
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught.value.number == signal.SIGTERM
    assert caught.value.standings.games == 0


class Killed(Good):
    name = "killed"

    def act(self, env):
        os.kill(os.getpid(), signal.SIGTERM)
        return super().act(env)


def test_it_runs_in_a_thread_that_is_not_the_main_one():
    results = []
    thread = threading.Thread(
        target=lambda: results.append(round_robin(toy_envs.ToyEnv, [First, Last], games=2, workers=2))
    )
    thread.start()
    thread.join()
    assert results[0].complete


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_requests_to_end_give_the_standings_too(number, request):
    before = signal.signal(number, signal.SIG_DFL)  # with nohup SIGHUP is ignored
    request.addfinalizer(lambda: signal.signal(number, before))
    with pytest.raises(TournamentInterrupted) as caught:
        round_robin(
            toy_envs.DiceEnv,
            [Good("a"), First("b")],
            games=1000,
            on_game=lambda game: os.kill(os.getpid(), number),
        )
    assert caught.value.number == number
    assert 0 < caught.value.standings.games < 1000
    assert signal.getsignal(number) is signal.SIG_DFL


@pytest.mark.thorough
def test_more_workers_than_processors_are_told_of_where_time_counts(monkeypatch, capsys):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0})
    plan = Tournament.prepare(toy_envs.DiceEnv, [Good("a"), "maxn(seconds=0.1)"], TournamentSettings(games=2))
    assert "2 workers share 1 processor, so agents have less time to think than the time limit of" in crowding_of(
        plan, 2
    )
    assert crowding_of(plan, 1) is None
    assert (
        crowding_of(Tournament.prepare(toy_envs.DiceEnv, [Good("a"), First("b")], TournamentSettings(games=2)), 2)
        is None
    )
