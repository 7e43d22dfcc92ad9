"""Tournaments on a Ray cluster: the games are those of this machine, whatever happens to the cluster."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from functools import partial

import pytest
from doubles import bad_agents, toy_envs
from doubles.bad_agents import Answers, Exits, First, Good, Last, Raises

from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.evaluation import read_standings, round_robin
from zermelo.evaluation.errors import TournamentInterrupted, WorkerError
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.workers.settings import AgentLimits

CROWD = {"good": Good, "first": First, "last": Last, "raises": Raises, "illegal": partial(Answers, 9)}


def without_timings(standings):
    return [record.without_timings() for record in standings.records]


def same(one, two):
    assert without_timings(one) == without_timings(two)
    assert one.crosstable == two.crosstable
    assert one.ratings == two.ratings
    return True


def test_without_ray_the_message_is_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError) as caught:
        round_robin(toy_envs.DiceEnv, CROWD, games=2, runner="ray")
    assert str(caught.value) == f"ray is not installed: {install_command('ray')}"


@pytest.mark.thorough
def test_ray_is_not_imported_unless_asked_for():
    script = """
        import sys
        import zermelo.evaluation, zermelo.evaluation.workers.ray, zermelo.evaluation.cli
        from doubles.toy_envs import DiceEnv
        zermelo.evaluation.round_robin(DiceEnv, ["random", "random"], games=2)
        print("ray" in sys.modules)
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, env=env)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"runner": "dask"}, "runner must be one of 'local', 'ray', not 'dask'"),
        ({"ray_address": "auto"}, r"the address of a Ray cluster \('auto'\) needs runner='ray'"),
        ({"runner": "ray", "workers": 0}, "workers must be a whole number of at least 1, not 0"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        round_robin(toy_envs.DiceEnv, CROWD, games=2, **settings)


@pytest.mark.thorough
def test_what_cannot_be_sent_to_other_machines_is_refused():
    pytest.importorskip("ray")
    with pytest.raises(InvalidSettingError, match=r"cannot be shared by a Ray cluster: .* and runner='local'"):
        round_robin(toy_envs.DiceEnv(), CROWD, games=2, runner="ray")
    agent = Good()
    agent.lock = threading.Lock()
    with pytest.raises(InvalidSettingError, match="cannot be sent to other machines"):
        round_robin(toy_envs.DiceEnv, {"good": agent, "first": First}, games=2, runner="ray")


@pytest.mark.thorough
def test_a_local_cluster_plays_the_games_of_this_machine(capfd):
    ray = pytest.importorskip("ray")
    ours = round_robin(toy_envs.DiceEnv, CROWD, games=4, seed=5)
    capfd.readouterr()
    theirs = round_robin(toy_envs.DiceEnv, CROWD, games=4, seed=5, runner="ray", workers=2, progress=False)
    assert same(ours, theirs)
    assert not ray.is_initialized()
    assert capfd.readouterr() == ("", ""), "Ray keeps its reports to its log files"


@pytest.fixture
def cluster():
    """Three nodes of a processor each; the games' driver is on the first."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    yield made
    made.shutdown()


@pytest.fixture
def lost(monkeypatch):
    """The ids of the first games of the batches that are handed out again."""
    from zermelo.evaluation.workers import ray as ray_engine

    seen, tried = [], ray_engine._tried

    def watched(batch, error):
        found = tried(batch, error)
        seen.append(batch.items[0].game_id)
        return found

    monkeypatch.setattr(ray_engine, "_tried", watched)
    return seen


@pytest.mark.slow
def test_a_lost_node_costs_time_only(cluster, lost, tmp_path, capfd):
    marks = tmp_path / "marks"
    marks.mkdir()

    def crowd(seconds):
        slow = partial(bad_agents.SlowOnANode, str(marks), seconds)
        return {"slow": slow, "first": First, "raises": partial(Raises, after=2), "last": Last}

    ours = round_robin(toy_envs.DiceEnv, crowd(0.0), games=30, seed=5)
    capfd.readouterr()
    nodes, kept = list(cluster.worker_nodes), []

    def lose_a_node(record):
        kept.append(record.game_id)
        busy = [node for node in nodes if (marks / node.node_id).exists()]
        if len(kept) >= 20 and busy and len(nodes) == 2:
            nodes.remove(busy[0])
            cluster.remove_node(busy[0], allow_graceful=False)

    theirs = round_robin(
        toy_envs.DiceEnv, crowd(0.6), games=30, seed=5, runner="ray", ray_address=cluster.address,
        out=tmp_path / "run", on_game=lose_a_node, progress=False,
    )  # fmt: skip
    assert same(ours, theirs)
    assert len(kept) == len(set(kept)) == 180, "each game was kept, and once"
    assert read_standings(tmp_path / "run").ratings == ours.ratings
    assert lost, "a batch was on the node, and was handed out again"


@pytest.mark.slow
def test_agents_that_end_their_processes_are_charged_as_on_this_machine(cluster, lost):
    crowd = {"good": Good, "first": First, "exits": Exits}
    ours = round_robin(toy_envs.DiceEnv, crowd, games=4, seed=5, workers=2)
    theirs = round_robin(
        toy_envs.DiceEnv, crowd, games=4, seed=5, runner="ray", ray_address=cluster.address, progress=False
    )
    assert lost
    assert same(ours, theirs)
    assert [record.failure.kind for record in theirs.records if record.failure] == [FailureKind.CRASH] * 8


@pytest.mark.slow
def test_isolated_agents_and_errors_are_as_on_this_machine(cluster):
    settings = {"games": 4, "seed": 5, "isolation": AgentLimits(isolate="all", start_seconds=60)}
    agents = ["random", "doubles.bad_agents:Exits", "doubles.bad_agents:First"]
    ours = round_robin(toy_envs.DiceEnv, agents, **settings)
    there = {"runner": "ray", "ray_address": cluster.address, "progress": False}
    assert same(ours, round_robin(toy_envs.DiceEnv, agents, **settings, **there))
    unfit = {"unfit": bad_agents.Unsupported, "good": Good}
    assert same(*(round_robin(toy_envs.DiceEnv, unfit, games=4, **where) for where in ({}, there)))


@pytest.mark.slow
def test_an_interrupt_gives_the_table_so_far_and_the_same_command_goes_on(cluster, tmp_path):
    there = {"runner": "ray", "ray_address": cluster.address, "progress": False, "out": tmp_path}
    ours = round_robin(toy_envs.DiceEnv, CROWD, games=20, seed=5)
    kept = []

    def interrupt(record):
        kept.append(record)
        if len(kept) == 30:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(TournamentInterrupted) as caught:
        round_robin(toy_envs.DiceEnv, CROWD, games=20, seed=5, on_game=interrupt, **there)
    assert 30 <= caught.value.standings.results.games < 200
    assert same(ours, round_robin(toy_envs.DiceEnv, CROWD, games=20, seed=5, **there))


@pytest.mark.slow
def test_a_batch_that_is_lost_again_and_again_ends_the_run(cluster, lost, monkeypatch):
    from zermelo.evaluation.workers import ray as ray_engine

    def lose(*_):
        os._exit(1)  # as if the node of each were lost

    monkeypatch.setattr(ray_engine, "run_batch", lose)
    message = "game_id='0.0.0'.* was handed out 5 times, and each time its Ray worker was lost .*Error"
    with pytest.raises(WorkerError, match=message):
        round_robin(
            toy_envs.DiceEnv, CROWD, games=1, runner="ray", ray_address=cluster.address, workers=1, progress=False
        )
    assert lost == ["0.0.0"] * 4


@pytest.mark.slow
def test_nodes_that_cannot_play_are_named(cluster, monkeypatch):
    from zermelo.evaluation.workers import ray as ray_engine

    there = {"games": 2, "runner": "ray", "ray_address": cluster.address, "progress": False}
    with monkeypatch.context() as patch:
        patch.setattr(ray_engine, "_version", lambda: "7.0")
        with pytest.raises(WorkerError, match=r"it has zermelo .*, this machine 7\.0"):
            round_robin(toy_envs.DiceEnv, CROWD, **there)
    with monkeypatch.context() as patch:
        patch.setattr(ray_engine, "search_path", list)  # the nodes then do not find the tests' modules
        with pytest.raises(WorkerError, match=r"cannot work .*No module named 'doubles'"):
            round_robin(toy_envs.DiceEnv, CROWD, **there)


@pytest.mark.thorough
def test_a_cluster_that_is_not_there():
    pytest.importorskip("ray")
    with pytest.raises(WorkerError, match=r"cannot connect to a Ray cluster at '127\.0\.0\.1:1'"):
        round_robin(toy_envs.DiceEnv, CROWD, games=2, runner="ray", ray_address="127.0.0.1:1")
