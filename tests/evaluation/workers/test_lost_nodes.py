"""All that is long runs on a Ray cluster, loses a node in the middle, and gives what one process gives."""

import contextlib
import gc

import pytest

from zermelo.agents import make_agent
from zermelo.agents.base.tasks import Tasks
from zermelo.agents.knowledge_building.build_table import build_table
from zermelo.agents.knowledge_building.grow_book import grow_book
from zermelo.agents.training.labels import label_positions
from zermelo.agents.training.networks.self_play import LessonWork
from zermelo.evaluation import round_robin
from zermelo.evaluation.analysis.judge import judge
from zermelo.evaluation.ladders.games import Block, BlockPlayer
from zermelo.evaluation.workers.work import SerialRunner

GAME = "zermelo/MNK-v0"
FOUR = "zermelo/ConnectFour-v0(rows=5, columns=5)"


def mapped(work, items, runner):
    with contextlib.closing(Tasks(work, runner)) as tasks:
        return list(tasks.map(items))


def book(runner, folder):
    agent = make_agent("mcts(simulations=20000, seed=1)")
    path = folder / f"{type(runner).__name__}.zbook"
    found = grow_book(FOUR, path, agent=agent, positions=120, nodes=20_000, runner=runner)
    return found.keys.tolist(), found.values.tolist(), found.flags.tolist()


def table(runner, folder):
    made = build_table("classic/chess-v6", folder / f"{type(runner).__name__}.ztable", pieces="3", runner=runner)
    return made.table.scores.tolist()


def ladder(runner, folder):
    pair = "noisy(agent=alphabeta(depth=4), epsilon=0.1)", "mcts(simulations=64, reuse=False)"
    found = mapped(BlockPlayer(FOUR, 0), [Block(*pair, 200, number) for number in range(30)], runner)
    return [(block, result) for block, result, _ in found]


def tune(runner, folder):
    found = mapped(LessonWork("zermelo/Othello-v0(rows=6, columns=6)", "", 300, 4), range(16), runner)
    return [(lessons.planes.tolist(), lessons.outcomes.tolist()) for lessons in found]


def labels(runner, folder):
    return list(label_positions(FOUR, positions=1_500, agent="mcts(simulations=2000, seed=1)", runner=runner))


def judged(runner, folder):
    games = round_robin("classic/connect_four-v3", ["random", "greedy"], games=15, seed=1, progress=False).records
    return judge(games, nodes=500, runner=runner).to_dict()


class Losing:
    """Loses a node once there are some results."""

    def __init__(self, cluster, runner):
        self.cluster, self.runner, self.nodes = cluster, runner, list(cluster.worker_nodes)

    def run(self, work, items):
        for done, found in enumerate(self.runner.run(work, items)):
            if done == 1 and len(self.nodes) == 2:
                self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)
            yield found


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("job", [book, table, ladder, tune, labels, judged])
def test_a_node_that_is_lost_in_the_middle_changes_nothing(job, tmp_path, monkeypatch):
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    from zermelo.evaluation.workers import ray as ray_engine

    monkeypatch.setattr(ray_engine, "BATCH_SECONDS", 0.2)
    ours = job(SerialRunner(), tmp_path)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        runner = Losing(cluster, ray_engine.RayRunner(address=cluster.address))
        assert job(runner, tmp_path) == ours
        assert len(runner.nodes) == 1
    finally:
        del runner
        gc.collect()  # the runner ends its connection, which would be in the way
        cluster.shutdown()
