"""First moves of a new user: an empty cache, a fresh process for each game, and the time limits after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from zermelo.envs import list_envs

GAMES = tuple(
    "classic/go-v5(board_size=9)" if entry.name == "classic/go-v5" else entry.name
    for entry in list_envs()
    if entry.name.startswith(("classic/", "zermelo/"))
)
_PLAY = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from zermelo.agents import make_agent
from zermelo.envs.registration.make import make
name, agent, later = sys.argv[1:]
env = make(name)
is_aec = hasattr(env, "agent_iter")
env.reset(seed=1)
late, first = [], None
searching = make_agent(agent)
for move in range(9):
    started = time.perf_counter()
    found = searching.search(env)
    wall = time.perf_counter() - started
    if first is None:
        about = {"chose": found.method, "nodes": found.nodes, "depth": found.depth, "compiled": found.compiled}
        first = about | {"wall": wall, "compiling": found.compiling, "seconds": found.seconds}
        searching = make_agent(later)
    elif move > 1:
        late.append(1000 * (wall - 0.05))
    env.step(found.env_action)
    if not (env.agents and not env.terminations[env.agent_selection] if is_aec else True):
        break
print(json.dumps(first | {"late": max(late, default=0.0)}))
"""


def first_moves(only: tuple[str, ...] = GAMES, seconds: float = 0.5) -> Iterator[dict[str, Any]]:
    """The first move of auto on an empty cache, and by how much its later moves overstep limits of 50 ms.

    Time for compiling is not part of the limit. The second move, which another agent makes, is not counted.
    """
    for name in only:
        with tempfile.TemporaryDirectory() as cache:
            words = [name, f"auto(seconds={seconds})", "auto(seconds=0.05)"]
            run = subprocess.run(
                [sys.executable, "-c", _PLAY, *words],
                env=os.environ | {"ZERMELO_CACHE_DIR": cache},
                capture_output=True,
                text=True,
            )
        said = [line.removeprefix("zermelo: ") for line in run.stderr.splitlines() if line.startswith("zermelo:")]
        found = json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else {}
        yield {
            "game": name,
            "chose": found.get("chose", "").partition(":")[0],
            "nodes": found.get("nodes", 0),
            "search, s": found.get("seconds", 0.0),
            "compiling, s": found.get("compiling", 0.0),
            "in all, s": found.get("wall", 0.0),
            "late, ms": found.get("late", 0.0),
            "said": "; ".join(said) if found else run.stderr.strip().rpartition("\n")[-1],
        }
