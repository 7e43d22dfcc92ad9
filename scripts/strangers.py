"""Prints a table of how `auto` fares in the environments of strangers.txt, each in a process of its own.

Usage: python scripts/strangers.py [--score SECONDS] [--json FILE] [--install PYTHON] [NAME ...]

``--score`` plays up to 20 episodes by ``auto`` and 20 at random in each environment, for so many seconds at most,
and prints the mean return of the first seat where all 20 were played. ``--install`` installs the requirements,
without their dependencies, for a Python and ends.
"""

import argparse
import contextlib
import copy
import importlib
import json
import os
import pickle
import random
import statistics
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

SECONDS = 0.3
TIMEOUT = 150
EPISODES, EPISODE_MOVES, EPISODE_SECONDS = 20, 40, 0.05
COLUMNS = {
    "outcome": "", "first_move": ".2f", "clone_ms": ".2f", "deepcopy_ms": ".2f", "score": ".2f", "random": ".2f",
    "harmed": "", "message": "",
}  # fmt: skip
"""The columns of the table after the names, and how their numbers are written."""
LISTED = {
    line.partition(" | ")[0]: line.split(" | ", 2)[1:]
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines()
    if line and not line.startswith("#")
}
"""Names of the environments with their requirement and source, ``module : expression``."""


def made(name, seed=0):
    """A new environment, reset with a seed; PettingZoo 1.27's agent_selector is a class again."""
    import gymnasium
    import pettingzoo.utils

    pettingzoo.utils.agent_selector = pettingzoo.utils.AgentSelector
    module, expression = LISTED[name][1].split(" : ", 1)
    random.seed(seed)
    env = eval(expression, {**vars(importlib.import_module(module.strip())), "gym": gymnasium})
    try:
        env.reset(seed=seed)
    except TypeError:  # written for Gym before 0.26
        env.reset()
    return env


def mover(env):
    """Who is to move; None where the environment has one player, or moves at the same time."""
    layers = (env, getattr(env, "unwrapped", None))
    return next((layer.agent_selection for layer in layers if hasattr(layer, "agent_selection")), None)


def stepped(env, action):
    """Steps: all that shows, the reward of each seat, and whether the episode is over."""
    if mover(env) is None:
        *answer, _ = env.step(action)
        return repr(answer), {None: float(answer[1])}, answer[2] or answer[3]
    dead = env.terminations.get(env.agent_selection) or env.truncations.get(env.agent_selection)
    env.step(None if dead else action)
    ended = all(env.terminations.get(agent) or env.truncations.get(agent) for agent in env.agents)
    seen = [env.agent_selection, env.rewards, [env.observe(agent) for agent in env.agents]] if env.agents else []
    return repr(seen), {} if dead else dict(env.rewards), ended


def harmed(name, env):
    """Whether the searched environment goes on unlike one that was never searched; None if two such differ."""
    import numpy as np

    from zermelo.agents import make_agent

    def played(env):
        agent, seen = make_agent("random(seed=3)"), []
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - what environments draw from
        for _ in range(20):
            shown, _, ended = stepped(env, agent.act(env))
            seen.append(shown)
            if ended:
                break
        return seen

    try:
        first, second = played(made(name)), played(made(name))
        return None if first != second else played(env) != first
    except Exception:
        return None


def global_state():
    """The states of the global generators."""
    import numpy as np

    state = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
    torch = sys.modules.get("torch")
    return state if torch is None else (*state, bytes(torch.get_rng_state().tolist()))


def milliseconds(action, count):
    """The median time of a call, in a second at most."""
    took = []
    while len(took) < count and sum(took) <= 1:
        begun = time.perf_counter()
        action()
        took.append(time.perf_counter() - begun)
    return 1000 * statistics.median(took)


def score(name, spec, seconds):
    """The mean return of the first seat by an agent among random ones; None if the time does not suffice."""
    from zermelo.agents import make_agent

    ends, total = time.monotonic() + seconds, 0.0
    for seed in range(EPISODES):
        env, agent, others = (
            made(name, seed),
            make_agent(spec.format(seed=seed)),
            make_agent(f"random(seed={seed})"),
        )
        first, moves, ended = env.possible_agents[0] if mover(env) else None, 0, False
        while moves < EPISODE_MOVES and not ended:
            if time.monotonic() >= ends:
                return None
            is_mine = mover(env) == first
            moves += is_mine
            _, rewards, ended = stepped(env, (agent if is_mine else others).act(env))
            total += float(rewards.get(first, 0))
    return round(total / EPISODES, 3)


def examine(name, seconds):
    """Everything the table says about one environment."""
    from zermelo.agents import make_agent
    from zermelo.envs import ZermeloError, clone_env

    row = {"name": name}
    try:
        env = made(name)
    except Exception as error:
        return row | {"outcome": "broken", "message": f"{type(error).__name__}: {error}"}
    agent = make_agent(f"auto(seconds={SECONDS})")
    before, begun = global_state(), time.perf_counter()
    try:
        with contextlib.redirect_stderr(open(os.devnull, "w")):
            row |= {"message": f"{agent.act(env)!r}"[:60], "outcome": "plays"}
    except ZermeloError as error:
        row |= {"outcome": "refused", "message": str(error)}
    except Exception as error:
        trace = traceback.format_exc()[-1500:]
        row |= {"outcome": "traceback", "message": f"{type(error).__name__}: {error}", "trace": trace}
    row["first_move"] = time.perf_counter() - begun
    if global_state() != before:
        row["harmed"] = True
    elif row["outcome"] != "refused":
        row["harmed"] = harmed(name, env)
    env = made(name)
    with contextlib.suppress(Exception):
        row["clone_ms"] = milliseconds(lambda: clone_env(env), 60)
        row["deepcopy_ms"] = milliseconds(lambda: copy.deepcopy(env), 20)
    if seconds and row["outcome"] == "plays":
        try:
            specs = {"score": f"auto(seconds={EPISODE_SECONDS}, seed={{seed}})", "random": "random(seed=1)"}
            row |= {key: score(name, spec, seconds / 2) for key, spec in specs.items()}
        except Exception as error:
            row["score_error"] = f"{type(error).__name__}: {error}"
    return row


def examined(name, seconds):
    """Everything the table says about one environment, found in a process of its own."""
    command = [sys.executable, __file__, "--one", name, "--score", str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT + 3 * seconds)
    except subprocess.TimeoutExpired:
        return {"name": name, "outcome": "timeout", "message": f"longer than {TIMEOUT} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("ROW ")]
    if not lines:
        return {"name": name, "outcome": "died", "message": done.stderr[-300:]}
    return json.loads(lines[-1][4:]) | {"printed": done.stdout.count("\n") - len(lines)}


def summary(rows):
    """Lines about all environments."""
    counts = Counter(row["outcome"] for row in rows)
    yield f"{len(rows)} environments: {dict(counts)}; harmed: {[row['name'] for row in rows if row.get('harmed')]}"
    if first := [row["first_move"] for row in rows if row["outcome"] == "plays"]:
        yield f"first move at seconds={SECONDS}: median {statistics.median(first):.2f} s, worst {max(first):.2f} s"
    if ratios := [row["clone_ms"] / row["deepcopy_ms"] for row in rows if row.get("deepcopy_ms")]:
        spread = f"{statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"
        yield f"clone against a deep copy: median {spread}"
    scored = [row for row in rows if row.get("score") is not None and row.get("random") is not None]
    better = sum(row["score"] > row["random"] for row in scored)
    worse = sum(row["score"] < row["random"] for row in scored)
    yield f"returns over {EPISODES} episodes: {better} better than random, {worse} worse, of {len(scored)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--score", type=int, default=0)
    parser.add_argument("--json")
    parser.add_argument("--install")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        os.environ["SDL_VIDEODRIVER"] = os.environ["SDL_AUDIODRIVER"] = "dummy"
        print("\nROW " + json.dumps(examine(given.one, given.score)))
        return
    if given.install:
        wanted = {one for requirement, _ in LISTED.values() for one in requirement.split(", ") if "==" in one}
        pip = [sys.executable, "-m", "pip", "--python", given.install, "install", "-q", "--no-deps"]
        subprocess.run([*pip, *sorted(wanted)], check=True)
        return
    rows = []
    print(f"| environment | {' | '.join(COLUMNS)} |\n{'| --- ' * (len(COLUMNS) + 1)}|")
    for name in given.names or LISTED:
        row = examined(name, given.score)
        rows.append(row)
        cells = ["" if row.get(key) is None else format(row[key], form) for key, form in COLUMNS.items()]
        print("| " + " | ".join([name, *cells]).replace("\n", " ")[:400] + " |", flush=True)
    print("", *summary(rows), sep="\n")
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
