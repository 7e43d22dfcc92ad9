"""Points of whole Atari episodes by agents that search copies of the emulator, and a picture of one.

python scripts/atari.py [--games Freeway Boxing Breakout] [--agents random greedy "mcts(seconds=0.5)"]
    [--actions 300] [--seeds 1] [--picture FILE.png]

Needs ale-py, and Pillow for the picture: frames of the last agent's first episode of each game, in a row.
"""

import argparse
import statistics
import time

import ale_py
import gymnasium
import numpy as np

from zermelo.agents import make_agent

SHOWN = 6


def episode(game, spec, seed, actions):
    """The points of an episode, its frames, and the nodes of a move."""
    env = gymnasium.make(f"ALE/{game}-v5", render_mode="rgb_array")
    env.reset(seed=seed)
    agent, points, frames, nodes = make_agent(spec), 0.0, [], []
    agent.reset(seed=seed)
    for step in range(actions):
        if step % (actions // SHOWN) == actions // SHOWN - 1:
            frames.append(env.render())
        if hasattr(agent, "search"):
            found = agent.search(env)
            nodes.append(found.nodes)
            action = found.action
        else:
            action = agent.act(env)
        _, paid, terminated, truncated, _ = env.step(action)
        points += paid
        if terminated or truncated:
            break
    return points, frames, statistics.mean(nodes) if nodes else 0


def picture(rows, file):
    from PIL import Image

    rows = [frames + [np.zeros_like(frames[0])] * (SHOWN - len(frames)) for frames in rows]  # some end early
    sheet = np.vstack([np.hstack([frame[::2, ::2] for frame in frames]) for frames in rows])
    Image.fromarray(sheet).quantize(32).save(file, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=["Freeway", "Boxing", "Breakout"])
    parser.add_argument("--agents", nargs="+", default=["random", "greedy", "mcts(seconds=0.5)"])
    parser.add_argument("--actions", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--picture")
    given = parser.parse_args()
    gymnasium.register_envs(ale_py)
    rows = []
    for game in given.games:
        for spec in given.agents:
            begun = time.perf_counter()
            played = [episode(game, spec, seed, given.actions) for seed in range(given.seeds)]
            points = ", ".join(f"{points:g}" for points, _, _ in played)
            nodes = statistics.mean(nodes for *_, nodes in played)
            seconds = time.perf_counter() - begun
            print(f"{game}: {spec}: points {points}; {nodes:.0f} nodes a move; {seconds:.0f} s", flush=True)
        rows.append(played[0][1])
        if given.picture:
            picture(rows, given.picture)


if __name__ == "__main__":
    main()
