"""Prints a table of how `auto` fares in the environments of strangers.txt, each in a process of its own.

Usage: python scripts/strangers.py [--score MOVES] [--json FILE] [--install VENV] [NAME ...]

``--install`` installs the requirements, without their dependencies, into a virtual environment and ends.
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


def listed():
    """Names of the environments with their requirement, module and expression."""
    rows = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            name, requirement, source = (part.strip() for part in line.split("|", 2))
            module, expression = (part.strip() for part in source.split(" : ", 1))
            rows[name] = (requirement, module, expression)
    return rows


def made(name):
    """A new environment, reset with seed 0; PettingZoo 1.27's agent_selector is a class again."""
    import gymnasium
    import pettingzoo.utils

    pettingzoo.utils.agent_selector = pettingzoo.utils.AgentSelector
    _, module, expression = listed()[name]
    random.seed(0)
    env = eval(expression, {**vars(importlib.import_module(module)), "gym": gymnasium})
    try:
        env.reset(seed=0)
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


def score(name, moves):
    """What auto gets in the first seat, and what a random player gets there, in so many moves."""
    from zermelo.agents import make_agent

    totals = []
    for spec in (f"auto(seconds={SECONDS}, seed=1)", "random(seed=1)"):
        env, agent, others = made(name), make_agent(spec), make_agent("random(seed=2)")
        total, made_moves = 0.0, 0
        first = env.possible_agents[0] if is_aec(env) else None
        while made_moves < moves:
            mine = first is None or env.agent_selection == first
            made_moves += mine
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
        totals.append(round(total, 3))
    return totals


def examine(name, moves):
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
    if moves and row["outcome"] == "plays":
        try:
            row["score"], row["random"] = score(name, moves)
        except Exception as error:
            row["score_error"] = f"{type(error).__name__}: {error}"
    return row


def examined(name, moves):
    """The same, in a process of its own."""
    command = [sys.executable, __file__, "--one", name, "--score", str(moves)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT + 2 * moves)
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
            number(row.get("deepcopy_ms"), ".2f"), str(row.get("score", "")), str(row.get("random", "")),
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
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
