"""Prints how `auto` fares in the environments of strangers.txt, each in a process of its own.

Usage: python scripts/strangers.py [--install PYTHON] [NAME ...]

``--install`` installs the requirements, without their dependencies, for a Python and ends.
"""

import argparse
import contextlib
import importlib
import json
import os
import pickle
import random
import subprocess
import sys
import traceback
from pathlib import Path

SECONDS = 0.3
TIMEOUT = 150
LISTED = {
    line.partition(" | ")[0]: line.split(" | ", 2)[1:]
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines()
    if line and not line.startswith("#")
}
"""Names of the environments with their requirement and source, ``module : expression``."""


def made(name):
    """A new environment, reset; PettingZoo 1.27's agent_selector is a class again."""
    import gymnasium
    import pettingzoo.utils

    pettingzoo.utils.agent_selector = pettingzoo.utils.AgentSelector
    module, expression = LISTED[name][1].split(" : ", 1)
    random.seed(0)
    env = eval(expression, {**vars(importlib.import_module(module.strip())), "gym": gymnasium})
    try:
        env.reset(seed=0)
    except TypeError:  # written for Gym before 0.26
        env.reset()
    return env


def stepped(env, action):
    """Steps: returns all that shows, and whether the episode is over."""
    if not any(hasattr(layer, "agent_selection") for layer in (env, getattr(env, "unwrapped", None))):
        *answer, _ = env.step(action)  # one player, or all at the same time
        return repr(answer), answer[2] or answer[3]
    dead = env.terminations.get(env.agent_selection) or env.truncations.get(env.agent_selection)
    env.step(None if dead else action)
    ended = all(env.terminations.get(agent) or env.truncations.get(agent) for agent in env.agents)
    seen = [env.agent_selection, env.rewards, [env.observe(agent) for agent in env.agents]] if env.agents else []
    return repr(seen), ended


def harmed(name, env):
    """Whether the searched environment goes on unlike one that was never searched; None if two such differ."""
    import numpy as np

    from zermelo.agents import make_agent

    def played(env):
        agent, seen = make_agent("random(seed=3)"), []
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - what environments draw from
        for _ in range(20):
            shown, ended = stepped(env, agent.act(env))
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


def examine(name):
    """The outcome of a move by ``auto``, what it chose or said, and whether that harmed anything."""
    from zermelo.agents import make_agent
    from zermelo.envs import ZermeloError

    try:
        env = made(name)
    except Exception as error:
        return {"outcome": "broken", "message": f"{type(error).__name__}: {error}"}
    agent, before = make_agent(f"auto(seconds={SECONDS})"), global_state()
    try:
        with contextlib.redirect_stderr(open(os.devnull, "w")):
            row = {"outcome": "plays", "message": f"{agent.act(env)!r}"[:60]}
    except ZermeloError as error:
        row = {"outcome": "refused", "message": str(error)}
    except Exception as error:
        trace = traceback.format_exc()[-1500:]
        row = {"outcome": "traceback", "message": f"{type(error).__name__}: {error}", "trace": trace}
    is_changed = global_state() != before
    return row | {"harmed": is_changed or (harmed(name, env) if row["outcome"] != "refused" else None)}


def examined(name):
    """What ``examine`` finds in a process of its own."""
    command = [sys.executable, __file__, "--one", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"outcome": "timeout", "message": f"longer than {TIMEOUT} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("ROW ")]
    return json.loads(lines[-1][4:]) if lines else {"outcome": "died", "message": done.stderr[-300:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--install")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        os.environ["SDL_VIDEODRIVER"] = os.environ["SDL_AUDIODRIVER"] = "dummy"
        print("\nROW " + json.dumps(examine(given.one)))
    elif given.install:
        wanted = {one for requirement, _ in LISTED.values() for one in requirement.split(", ") if "==" in one}
        pip = [sys.executable, "-m", "pip", "--python", given.install, "install", "-q", "--no-deps"]
        subprocess.run([*pip, *sorted(wanted)], check=True)
    else:
        for name in given.names or LISTED:
            row = examined(name)
            about = "harmed" if row.get("harmed") else row["outcome"]
            print(f"{name}: {about}: {row['message']}".replace("\n", " ")[:400], flush=True)


if __name__ == "__main__":
    main()
