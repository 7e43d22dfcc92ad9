"""Rules and PettingZoo's environment of the same game, side by side: all that a search or a player can see."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from zermelo.envs import CHANCE, as_game, make


def play_beside_pettingzoo(
    name: str, rules: Any, *, seed: int, games: int, longest: int = 1000, last: float = 0.0
) -> Counter[float]:
    """Plays games at random; how often the first player was paid what.

    Args:
        name: The environment.
        rules: The rules that ``as_game`` must take.
        seed: Where the random choices start.
        games: How many are played.
        longest: Moves after which a game is broken off.
        last: How often the last legal action is played, such as a pass.
    """
    generator, env, paid = random.Random(seed), make(name), Counter[float]()
    for number in range(games):
        env.reset(seed=seed + number)
        game = as_game(env)
        assert game.rules == rules
        state = game.snapshot(env)
        total = [0.0] * game.traits.seats
        for _ in range(longest):
            where = f"seed {seed}, game {number}: {state}"
            assert game.snapshot(env) == state, where
            assert game.is_terminal(state) == all(env.terminations.values()), where
            if game.is_terminal(state):
                assert game.utility(state) == tuple(total), where
                paid[total[0]] += 1
                break
            assert game.traits.seat_names[game.to_move(state)] == env.agent_selection, where
            legal = list(game.legal_actions(state))
            assert legal == np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist(), where
            action = legal[-1] if generator.random() < last else generator.choice(legal)
            env.step(game.to_env_action(state, action))
            state = game.result(state, action)
            if not game.is_terminal(state) and game.to_move(state) == CHANCE:
                drawn = game.snapshot(env)
                outcomes = [game.result(state, outcome) for outcome, _ in game.chance_outcomes(state)]
                assert drawn in outcomes, where
                state = drawn
            total = [sum(pair) for pair in zip(total, map(env.rewards.get, env.possible_agents), strict=True)]
    return paid
