#!/usr/bin/env python
"""Nodes a second of alpha-beta through our clone, beside the same search over a deep copy of the attributes.

Both search copies of the live environment with the same settings and visit the same nodes; only the copying
differs. (``copy.deepcopy`` of the environment itself cannot take part: it returns an unreset game.) Runs are
interleaved and the best of each is shown.

    python scripts/bench_clone_search.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import copy
from typing import Any

import pettingzoo

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import as_game
from zermelo.envs.adapters.aec.game import AECGame
from zermelo.envs.adapters.wrappers import innermost

PLAIN: dict[str, Any] = {"sooner": False, "ordering": "fixed", "table_mb": 0, "ties": "first"}

SEARCHES = [
    ("classic/tictactoe-v3", "to the end, plain", AlphaBetaAgent(depth="full", window="full", **PLAIN)),
    ("classic/tictactoe-v3", "to the end, all the engineering", AlphaBetaAgent(depth="full")),
    (
        "classic/connect_four-v3",
        "depth 5, rewards only, plain",
        AlphaBetaAgent(depth=5, evaluator="rewards", **PLAIN),
    ),
    ("classic/connect_four-v3", "depth 6", AlphaBetaAgent(depth=6, evaluator="rewards")),
    ("classic/connect_four-v3", "depth 5, open windows", AlphaBetaAgent(depth=5, evaluator="connect_four")),
]


def deepcopy_of_attributes(env: Any) -> Any:
    """What a user writes who has found out that ``copy.deepcopy(env)`` loses the game."""
    new = type(env).__new__(type(env))
    new.__dict__.update(copy.deepcopy(env.__dict__))
    return new


class DeepcopyGame(AECGame):
    """The adapter of live environments, with that copy instead of ours."""

    def __init__(self, env: Any, traits: Any) -> None:
        super().__init__(env, traits)
        self._copy = deepcopy_of_attributes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each search; the best counts")
    rounds = parser.parse_args().rounds
    print(f"{'environment':<24} {'alpha-beta':<32} {'nodes':>7} {'clone':>9} {'deepcopy':>9} {'ratio':>6}")
    for name, what, agent in SEARCHES:
        env = pettingzoo.make("aec", name)
        env.reset(seed=0)
        ours = as_game(env, backend="clone")
        games = [ours, DeepcopyGame(innermost(env), ours.traits)]
        best = [0.0, 0.0]
        nodes = set()
        for _ in range(rounds):
            for index, game in enumerate(games):
                agent.reset(0)
                result = agent.search_state(game, game.snapshot(env))
                best[index] = max(best[index], result.nodes / result.seconds)
                nodes.add(result.nodes)
        assert len(nodes) == 1, f"both must search the same tree, not {nodes}"
        rates = f"{best[0]:>7,.0f}/s {best[1]:>7,.0f}/s {best[0] / best[1]:>5.1f}x"
        print(f"{name:<24} {what:<32} {nodes.pop():>7} {rates}")


if __name__ == "__main__":
    main()
