"""What a cluster makes: nodes of one processor each, and how many results its driver takes."""

import contextlib
import time
from dataclasses import dataclass

from zermelo.agents.core.tasks import PureWork, Tasks
from zermelo.evaluation.runners.ray import RayRunner


@dataclass
class Sleeping(PureWork):
    """Tasks that take so long and do nothing; an item is a number of bytes, and so long is the result."""

    seconds: float

    def run(self, item, on_turn=None):
        """Sleeps."""
        time.sleep(self.seconds)
        return bytes(item)


def rate(nodes, seconds, size, count):
    """Tasks a second from the first fifth of them on, on so many nodes beside the driver's."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(nodes):
            made.add_node(num_cpus=1)
        times = []
        with contextlib.closing(Tasks(Sleeping(seconds), runner := RayRunner(address=made.address))) as tasks:
            for _ in tasks.map([size] * count):
                times.append(time.perf_counter())
        del tasks, runner
    finally:
        made.shutdown()
    first = count // 5
    return (count - 1 - first) / (times[-1] - times[first])


def cluster(games: int = 600, empty: int = 40_000):
    """Tasks a second on a local Ray cluster of nodes of one processor each."""
    for seconds, size, count in ((0.05, 4_000, games), (0.0, 0, empty), (0.0, 4_000, empty)):
        one, two = (rate(nodes, seconds, size, count) for nodes in (1, 2))
        task = f"{1000 * seconds:.0f} ms, results of {size:,} bytes"
        yield {"task": task, "one node": one, "two nodes": two, "ratio": f"{two / one:.2f}"}
