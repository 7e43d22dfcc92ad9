"""Texas hold'em for two against random play and RLCard's rules."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zermelo.agents import make_agent
from zermelo.agents.experts.poker.betting import BLINDS, Limit, betting_tree
from zermelo.agents.experts.poker.buckets import CLASSES, Boards, Sizes, fit_buckets
from zermelo.agents.experts.poker.cards import is_compiled
from zermelo.agents.experts.poker.public_trees import Deals, PublicTreeCFR, exploitability_on, with_memory
from zermelo.envs import make_env
from zermelo.envs.live.wrappers import innermost

_ENVS = {"limit": "classic/texas_holdem-v4", "no_limit": "classic/texas_holdem_no_limit-v6"}


def poker(
    deals: int = 10_000,
    agent: str = "holdem",
    games: tuple[str, ...] = tuple(_ENVS),
    seed: int = 1,
) -> Iterator[dict[str, Any]]:
    """Mean reward of a deal with its 95 % interval; each deal is played twice, with the seats exchanged.

    Rewards are big blinds in limit hold'em, and chips, half as much, in no-limit. RLCard has rules for limit
    hold'em; in no-limit they raise by half the pot, and check rather than fold where nothing is to pay.
    """
    for game in games:
        name = _ENVS[game]
        for opponent, act in (("random", _random(seed)), ("RLCard's rules", _rules)):
            env, player = make_env(name), make_agent(agent)
            player.reset(seed)
            pairs, spent, moves = [], 0.0, 0
            for number in range(deals // 2):
                rewards = []
                for seat in (0, 1):
                    env.reset(seed=seed + number)
                    while env.agents:
                        turn = env.possible_agents.index(env.agent_selection)
                        if env.terminations[env.agent_selection]:
                            rewards += [float(env.rewards[env.possible_agents[seat]])]
                            break
                        started = time.perf_counter()
                        action = player.act(env) if turn == seat else act(env)
                        spent += (time.perf_counter() - started) * (turn == seat)
                        moves += turn == seat
                        env.step(action)
                pairs.append(sum(rewards) / 2)
            mean, error = float(np.mean(pairs)), 1.96 * float(np.std(pairs, ddof=1)) / math.sqrt(len(pairs))
            row = {"game": game, "agent": f"`{agent}`", "opponent": opponent, "deals": deals}
            row |= {"reward of a deal": f"{mean:+.3f} ({mean - error:+.3f} to {mean + error:+.3f})"}
            yield row | {"ms a move": f"{1000 * spent / moves:.1f}"}


def poker_exploitability(
    raises: int = 1, buckets: int = 3, deals: int = 5_000, seconds: float = 40, seed: int = 1
) -> Iterator[dict[str, Any]]:
    """What a best response gains in an abstract limit hold'em, in which players remember all.

    Chance draws one of some deals, hands of each round are sorted into a few buckets, and there are fewer raises.
    """
    is_compiled()
    generator = np.random.default_rng(seed)
    boards = Boards(fit_buckets(Sizes((buckets,) * 3, (1, 1, 1)), 100, seed), 60, generator)
    drawn = boards.deals(deals)
    drawn.types[:, :, 0] = drawn.types[:, :, 0] * buckets // CLASSES
    whole, types = with_memory(drawn, [buckets] * 4)
    tree = betting_tree(Limit(raises=raises), forgets=False)
    cfr, started, done = PublicTreeCFR(tree, types), time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        chosen = generator.integers(len(whole.outcomes), size=20_000)
        cfr.iterate(Deals(whole.types[chosen], whole.outcomes[chosen]))
        done += len(chosen)
    gain, pot = exploitability_on(tree, types, cfr.average(), whole), sum(BLINDS) / Limit().unit
    row = {"raises a round": raises, "buckets": buckets, "entries": len(cfr.regrets), "iterations": done}
    yield row | {"big blinds a deal": f"{gain:.4f}", "of the blinds": f"{gain / pot:.2%}"}


def _random(seed: int) -> Callable[[Any], int]:
    source = random.Random(seed)
    return lambda env: source.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist())


def _rules(env: Any) -> int:
    """The action of RLCard's rules for limit hold'em."""
    from rlcard.models.limitholdem_rule_models import LimitholdemRuleAgentV1

    inside = innermost(env).env
    state = inside.get_state(inside.game.game_pointer)
    if inside.name == "limit-holdem":
        return ["call", "raise", "fold", "check"].index(LimitholdemRuleAgentV1.step(state))
    raw = inside.game.round.raised
    pays = max(raw) > raw[inside.game.game_pointer]
    names = ["call", "raise", "fold"] if pays else ["raise", "fold", "check"]
    legal = [action.value for action in state["raw_legal_actions"]]
    chosen = LimitholdemRuleAgentV1.step({**state, "raw_legal_actions": names})
    if chosen == "raise":
        return 2 if 2 in legal else 1
    return 0 if chosen == "fold" and pays else 1
