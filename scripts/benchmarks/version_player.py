"""Plays alpha-beta in the version of the package that is on the path, asked line by line (``versions``).

Called with a tree, a game's id and settings as JSON. It says "ready"; of "new" nothing; of "go 12 34", where
12 and 34 were played since it was asked last, the action that it chooses, its value, nodes and processor seconds.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import zermelo.agents
from zermelo.agents import AlphaBetaAgent
from zermelo.envs import as_game, make


def main(tree: str, env_id: str, settings: str) -> None:
    if not Path(zermelo.agents.__file__).is_relative_to(tree):
        raise SystemExit(f"{zermelo.agents.__file__} was imported, which is not of {tree}")
    env = make(env_id)
    env.reset(seed=0)
    game = as_game(env)
    agent = AlphaBetaAgent(**json.loads(settings))
    agent.prepare(env)
    state = start = game.snapshot(env)
    print("ready", flush=True)
    for line in sys.stdin:
        word, *actions = line.split()
        if word == "new":
            agent.reset(0)
            state = start
            continue
        for action in actions:
            state = game.result(state, int(action))
        began = time.process_time()
        found = agent.search_state(game, state)
        print(found.action, found.value, found.nodes, time.process_time() - began, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
