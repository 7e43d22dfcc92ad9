"""The kind of a tournament's game, found before its first game: whether there is luck, or one team.

Only what is known of the environment or declared by it counts, and for teams a few random games; other
environments are taken to have luck, and to be no team.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents import RandomAgent
from zermelo.envs import ZermeloError
from zermelo.envs.adapters.facts.declared import declared_traits
from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.wrappers import innermost
from zermelo.envs.game import Chance, Information, RewardSum
from zermelo.evaluation.match.env_driver import drive_env
from zermelo.evaluation.schedule import derived_seed

GAMES: Final = 3
MOVES: Final = 200
"""Random games that are looked at, and moves of each."""


def has_luck(env: Any) -> bool:
    """Whether chance or hidden moves may decide: everywhere but where it is known or declared that they do not."""
    said = _said(env)
    return not (said.get("chance") == Chance.NONE and said.get("information") == Information.PERFECT)


def is_cooperative(env: Any, seed: int) -> bool:
    """Whether all seats of a live environment are paid alike, at every step of a few random games.

    The environment is played in. Only games whose seats are known not to be opposed may be a team's, and of those
    only what paid something.
    """
    if _said(env).get("reward_sum") != RewardSum.GENERAL:
        return False
    agent, paid = RandomAgent(), False
    try:
        for number in range(GAMES):
            game_seed = derived_seed(seed, "cooperative", number)
            agent.reset(game_seed)
            driver = drive_env(env, game_seed)
            for _ in range(MOVES):
                if driver.turn() is None:
                    break
                driver.step(agent.act(env))
                if len(set(driver.rewards)) > 1:
                    return False
                paid |= any(driver.rewards)
        return paid
    except ZermeloError:  # whatever fails here fails in the games too, and is reported there
        return False


def _said(env: Any) -> dict[str, Any]:
    raw = innermost(env)
    return {**known_facts(raw).traits_of(raw), **declared_traits(raw)}
