"""Scores of searches that do not peek: Hanabi with itself, and trick-taking games of OpenSpiel's against random.

python scripts/bench_hidden.py [--hanabi 2,3,4,5] [--tricks euchre,oh_hell] [--games 20] [--agents ...]

For Hanabi each agent plays all seats, and the score counts the cards played in order, 25 at most; who loses all
lives scores nothing. In the other games the agent plays one seat, each in turn, against random players; its mean
is in points of the game, beside those of a random player in its place. Intervals are of 95 %, by the normal
approximation, over so many games.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Sequence
from typing import Any

from zermelo.agents import make_agent
from zermelo.envs import make

HANABI = (
    "random",
    "ismcts(simulations=200)",
    "ismcts(simulations=200, playout_moves=0)",
    "ismcts(simulations=200, playout_moves=2)",
    "ismcts(simulations=1000, playout_moves=0)",
)
TRICKS = ("random", "ismcts(simulations=30)", "ismcts(simulations=300)")


def played(env: Any, agents: Sequence[Any], seed: int) -> list[float]:
    """What each seat gets in one game."""
    env.reset(seed=seed)
    for seat, agent in enumerate(agents):
        agent.reset(1_000 * seed + seat)
    seats = {name: seat for seat, name in enumerate(env.possible_agents)}
    scores = [0.0] * len(seats)
    while env.agents and not any([*env.terminations.values(), *env.truncations.values()]):
        env.step(agents[seats[env.agent_selection]].act(env))
        for name, reward in env.rewards.items():
            scores[seats[name]] += reward
    return scores


def line(name: str, scores: Sequence[float], started: float) -> str:
    """The mean with its interval."""
    width = 1.96 * statistics.stdev(scores) / math.sqrt(len(scores))
    seconds = (time.process_time() - started) / len(scores)
    return f"  {name:44} {statistics.fmean(scores):7.2f} +- {width:.2f}   ({seconds:.1f} s a game)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hanabi", default="2,3,4,5", help="for how many players; empty for none")
    parser.add_argument("--tricks", default="euchre,oh_hell", help="OpenSpiel's games; empty for none")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--agents", help="instead of those listed here, separated by semicolons")
    given = parser.parse_args()
    chosen = given.agents.split(";") if given.agents else None
    for players in filter(None, given.hanabi.split(",")):
        hand_size = 4 if int(players) > 3 else 5
        env = make("classic/hanabi-v5", players=int(players), hand_size=hand_size)
        print(f"Hanabi, {players} players, {given.games} games", flush=True)
        for name in chosen or HANABI:
            started = time.process_time()
            agents = [make_agent(name) for _ in range(int(players))]
            print(line(name, [played(env, agents, seed)[0] for seed in range(given.games)], started), flush=True)
    for name in filter(None, given.tricks.split(",")):
        env = make(f"openspiel/{name}")
        print(f"{name}, one seat against random players, {given.games} games", flush=True)
        for spec in chosen or TRICKS:
            started, scores = time.process_time(), []
            for seed in range(given.games):
                env.reset(seed=seed)
                seat = seed % len(env.possible_agents)
                agents = [make_agent("random") for _ in env.possible_agents]
                agents[seat] = make_agent(spec)
                scores.append(played(env, agents, seed)[seat])
            print(line(spec, scores, started), flush=True)


if __name__ == "__main__":
    main()
