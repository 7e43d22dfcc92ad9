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
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")
SECONDS = 0.3
TIMEOUT = 150
EPISODES, EPISODE_MOVES, EPISODE_SECONDS = 20, 40, 0.05


def listed():
    """Names of the environments with their requirement, module and expression."""
    rows = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            name, requirement, source = (part.strip() for part in line.split("|", 2))
            module, expression = (part.strip() for part in source.split(" : ", 1))
            rows[name] = (requirement, module, expression)
    return rows


def made(name, seed=0):
    """A new environment, reset with a seed; PettingZoo 1.27's agent_selector is a class again."""
    import gymnasium
    import pettingzoo.utils

    pettingzoo.utils.agent_selector = pettingzoo.utils.AgentSelector
    _, module, expression = listed()[name]
    random.seed(seed)
    env = eval(expression, {**vars(importlib.import_module(module)), "gym": gymnasium})
    try:
        env.reset(seed=seed)
    except TypeError:  # written for Gym before 0.26
        env.reset()
    return env


def is_aec(env):
    return hasattr(env, "agent_selection") or hasattr(getattr(env, "unwrapped", env), "agent_selection")


def played(env, actions=None, moves=20):
    """What shows when an environment is played by actions, or at random: the actions, and all that was seen."""
    import numpy as np

    from zermelo.agents import make_agent

    agent, seen, done = make_agent("random(seed=3)"), [], []
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - what environments draw from
    for number in range(moves):
        try:
            action = agent.act(env) if actions is None else actions[number]
        except Exception:
            break
        done.append(action)
        if is_aec(env):
            env.step(action)
            seen.append(
                repr([env.agent_selection, env.rewards, [env.observe(a) for a in env.agents]])
                if env.agents
                else ""
            )
            over = not env.agents
        else:
            *answer, _ = env.step(action)
            seen.append(repr(answer))
            over = answer[2] or answer[3]
        if over:
            break
    return done, seen


def harmed(name, env):
    """Whether the searched environment goes on unlike one that was never searched; None if two such differ."""
    try:
        actions, first = played(made(name))
        _, second = played(made(name), actions)
        if first != second:
            return None
        return played(env, actions)[1] != first
    except Exception:
        return None


def global_state():
    import numpy as np

    state = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
    torch = sys.modules.get("torch")
    return state if torch is None else (*state, bytes(torch.get_rng_state().tolist()))


def timed(action, count):
    took = []
    for _ in range(count):
        begun = time.perf_counter()
        action()
        took.append(time.perf_counter() - begun)
        if sum(took) > 1:
            break
    return statistics.median(took)


def episode(name, spec, seed, ends):
    """The return of the first seat in an episode, cut off after some moves; None where the time is up."""
    from zermelo.agents import make_agent

    env, agent, others = made(name, seed), make_agent(spec), make_agent(f"random(seed={seed})")
    first = env.possible_agents[0] if is_aec(env) else None
    total, moves = 0.0, 0
    while moves < EPISODE_MOVES:
        if time.monotonic() >= ends:
            return None
        mine = first is None or env.agent_selection == first
        moves += mine
        action = (agent if mine else others).act(env)
        if first is None:
            _, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        else:
            dead = env.terminations.get(env.agent_selection) or env.truncations.get(env.agent_selection)
            env.step(None if dead else action)
            total += 0.0 if dead else float(env.rewards.get(first, 0))
            if not env.agents or all(env.terminations.get(a) or env.truncations.get(a) for a in env.agents):
                break
    return total


def score(name, seconds):
    """The mean returns of auto and of a random player; None where there was no time for all episodes."""
    ends, totals = time.monotonic() + seconds, ([], [])
    for number in range(EPISODES):
        specs = (f"auto(seconds={EPISODE_SECONDS}, seed={number})", "random(seed=1)")
        for spec, found in zip(specs, totals, strict=True):
            total = episode(name, spec, number, ends)
            if total is None:
                return None
            found.append(total)
    return [round(statistics.mean(found), 3) for found in totals]


def examine(name, seconds):
    """Everything the table says about one environment."""
    import zermelo.agents as agents
    from zermelo.envs import ZermeloError, clone_env

    row = {"name": name}
    try:
        env = made(name)
    except Exception as error:
        return row | {"outcome": "broken", "message": f"{type(error).__name__}: {error}"}
    agent = agents.make_agent(f"auto(seconds={SECONDS})")
    before, begun = global_state(), time.perf_counter()
    try:
        with contextlib.redirect_stderr(open(os.devnull, "w")):
            action = agent.act(env)
        row |= {"outcome": "plays", "message": f"{action!r}"[:60]}
    except ZermeloError as error:
        row |= {"outcome": "refused", "message": str(error)}
    except Exception as error:
        row |= {"outcome": "traceback", "message": f"{type(error).__name__}: {error}"}
        row["trace"] = traceback.format_exc()[-1500:]
    row["first_move"] = time.perf_counter() - begun
    row["harmed"] = (
        True if global_state() != before else None if row["outcome"] == "refused" else harmed(name, env)
    )
    env = made(name)
    with contextlib.suppress(Exception):
        row["clone_ms"] = 1000 * timed(lambda: clone_env(env), 60)
        row["deepcopy_ms"] = 1000 * timed(lambda: copy.deepcopy(env), 20)
    if seconds and row["outcome"] == "plays":
        try:
            row["score"], row["random"] = score(name, seconds) or (None, None)
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
    row = json.loads(lines[-1][4:])
    row["printed"] = done.stdout.count("\n") - len(lines)
    return row


def number(value, form):
    return "" if value is None else format(value, form)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--score", type=int, default=0)
    parser.add_argument("--json")
    parser.add_argument("--install")
    parser.add_argument("--one")
    given = parser.parse_args()
    if given.one:
        os.environ["SDL_VIDEODRIVER"] = os.environ["SDL_AUDIODRIVER"] = "dummy"
        print("\nROW " + json.dumps(examine(given.one, given.score)))
        return
    rows = listed()
    if given.install:
        wanted = sorted({one.strip() for row in rows.values() for one in row[0].split(",") if "==" in one})
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", given.install, "install", "-q", "--no-deps", *wanted],
            check=True,
        )
        return
    results = []
    print(
        "| environment | outcome | first move | clone | deep copy | auto | random | harmed | |\n"
        "|---|---|--:|--:|--:|--:|--:|---|---|"
    )
    for name in given.names or rows:
        row = examined(name, given.score)
        results.append(row)
        cells = [
            name, row["outcome"], number(row.get("first_move"), ".2f"), number(row.get("clone_ms"), ".2f"),
            number(row.get("deepcopy_ms"), ".2f"),
            number(row.get("score"), ".2f"), number(row.get("random"), ".2f"),
            {True: "HARMED", False: "no"}.get(row.get("harmed"), "?"), row["message"].replace("\n", " ")[:200],
        ]  # fmt: skip
        print("| " + " | ".join(cells) + " |", flush=True)
    counts = {
        outcome: sum(row["outcome"] == outcome for row in results)
        for outcome in {row["outcome"] for row in results}
    }
    first = sorted(row["first_move"] for row in results if row["outcome"] == "plays")
    print(
        f"\n{len(results)} environments: {counts}; harmed: {[row['name'] for row in results if row.get('harmed')]}"
    )
    if first:
        print(f"first move at seconds={SECONDS}: median {statistics.median(first):.2f} s, worst {first[-1]:.2f} s")
    ratios = sorted(row["clone_ms"] / row["deepcopy_ms"] for row in results if row.get("deepcopy_ms"))
    if ratios:
        print(
            f"clone against a deep copy: median {statistics.median(ratios):.2f}, "
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        )
    scored = [row for row in results if row.get("score") is not None]
    if scored:
        better = sum(row["score"] > row["random"] for row in scored)
        worse = sum(row["score"] < row["random"] for row in scored)
        print(f"returns over {EPISODES} episodes: {better} better than random, {worse} worse, of {len(scored)}")
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
