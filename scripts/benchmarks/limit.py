"""Searches of copies beside what anybody must pay: a copy, a step, and what the next player sees."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo

from zermelo.agents import make_agent
from zermelo.envs import UnsupportedGameError, clone_env, register_envs

OURS = (
    "MNK", "ConnectFour", "Hex", "Othello", "Breakthrough", "Kalah", "DotsAndBoxes", "Chess", "Amazons",
    "Isolation", "Nim", "Pentago", "Go",
)  # fmt: skip
CLASSIC = ("tictactoe-v3", "connect_four-v3", "chess-v6", "go-v5")
SINGLE = ("FrozenLake-v1", "Taxi-v4", "CartPole-v1", "Acrobot-v1")
STRANGERS = Path(__file__).parents[1] / "strangers.txt"
FEWEST = 30
_MOST_SECONDS = 1  # for searches of tables, which end after a few nodes
SPECS = {
    "alphabeta": "alphabeta(nodes={0},backend=clone,compile=never)",
    "mcts": "mcts(nodes={0},backend=clone)",
}


def environments() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names and ways to make them: ours as any others', PettingZoo's and Gymnasium's, and strangers installed."""
    register_envs()
    for name in OURS:
        yield name, lambda name=name: pettingzoo.make("aec", f"zermelo/{name}-v0")
    for name in CLASSIC:
        yield name, lambda name=name: pettingzoo.make("aec", f"classic/{name}")
    for name in SINGLE:
        yield name, lambda name=name: gymnasium.make(name)
    for line in STRANGERS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, requirement, source = line.split(" | ", 2)
        if requirement in ("pettingzoo", "gymnasium"):
            continue
        module, expression = source.split(" : ", 1)
        if importlib.util.find_spec(module.split(".")[0]) is not None:
            yield (
                name,
                lambda module=module, expression=expression: eval(
                    expression, {**vars(importlib.import_module(module)), "gym": gymnasium}
                ),
            )


def bare_rate(env: Any, seconds: float) -> float:
    """Copies and steps a second of the processor: random lines of four moves from where the environment stands."""
    agent, steps = make_agent("random(seed=0)"), 0
    is_turns = hasattr(env, "agent_selection")
    lines = []
    for _ in range(20):  # found beforehand: who asks what is legal is no part of the loop
        line, state = [], clone_env(env)
        for _ in range(4):
            action = agent.act(state)
            line.append(action)
            answered = state.step(action)
            if not state.agents if is_turns else answered[2] or answered[3]:
                break
        lines.append(line)
    began = time.process_time()
    while (spent := time.process_time() - began) < seconds or steps < FEWEST:
        state = env
        for action in lines[steps % len(lines)]:
            state = clone_env(state)
            state.step(action)
            if is_turns and state.agents:
                state.last()
            steps += 1
    return steps / spent


def search_rate(env: Any, spec: str, most: int) -> float:
    """Nodes a second of the processor of a search of so many, or several where each comes to an end sooner."""
    agent, nodes = make_agent(spec.format(most)), 0
    agent.prepare(env)
    began = time.process_time()
    while nodes < 0.9 * most and time.process_time() - began < _MOST_SECONDS:
        nodes += agent.search(env).nodes
    return float(nodes / (time.process_time() - began))


def limit(seconds: float = 0.5, rounds: int = 3, only: str = "") -> Iterator[dict[str, Any]]:
    """Nodes a second of the processor by copies, in thousands, beside the bare loop of copy, step and last().

    Searches make as many nodes as the loop does in ``seconds``, however busy the machine is. They may be faster,
    as they need not build what the next player observes. The last row has the medians of all. ``only`` is the
    beginning of the names to measure.
    """
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    ratios: dict[str, list[float]] = {name: [] for name in SPECS}
    for name, make in environments():
        if not name.startswith(only):
            continue
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - what environments draw from
        try:
            env = make()
            env.reset(seed=0)
            row: dict[str, Any] = {"environment": name, "bare": []}
            for _ in range(rounds):  # in turn, as machines are noisy
                rate = bare_rate(env, seconds)
                row["bare"].append(rate / 1000)
                for agent, spec in SPECS.items():
                    with contextlib.suppress(UnsupportedGameError):  # alpha-beta is for two players
                        row.setdefault(agent, []).append(search_rate(env, spec, int(rate * seconds)) / 1000)
        except Exception as error:
            print(f"{name} is left out: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        bare = statistics.median(row["bare"])
        shown: dict[str, Any] = {"environment": name, "bare": bare}
        for agent in SPECS:
            rates = row.get(agent, ())
            ratios[agent] += [statistics.median(rates) / bare] if rates else []
            shown |= {agent: "", f"{agent} / bare": ""}
            if rates:
                shown |= {agent: statistics.median(rates), f"{agent} / bare": ratios[agent][-1]}
        yield shown
    last: dict[str, Any] = {"environment": "median", "bare": ""}
    for agent, found in ratios.items():
        last |= {agent: "", f"{agent} / bare": statistics.median(found) if found else ""}
    yield last
