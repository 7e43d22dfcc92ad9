"""Hidden information of environments: what an agent has seen, and how the rest is drawn again.

An environment says it by methods, somebody else by ``register_information``, and of some classes it is known. Each
order of the cards that an agent has not seen is as likely as any other, whatever the other players' actions
suggest. What agents choose in a round of simultaneous moves is hidden until all have chosen.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.live.masks import mask_of
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.traits.openspiel import hides_cards, resampled

InformationStateKey = Callable[[Any, Any], Hashable]
"""Called with an environment and an agent."""
Resample = Callable[[Any, Any, np.random.Generator], None]
"""Changes an environment in place: called with it, the agent and a random generator."""


class HiddenInformation(NamedTuple):
    """The hidden information of an environment.

    Attributes:
        information_state_key: All that an agent has seen and done; None where nothing says it.
        resample: Deals again what the agent has not seen; of a Gymnasium environment, whose player is None, before
            each step, so that its game is one of chance.
        round_start: Takes back, in place, what agents have chosen in this round; None where they take turns.
        hides_more: Whether anything besides the moves of a round is hidden; None where nothing says it.
    """

    information_state_key: InformationStateKey | None
    resample: Resample
    round_start: Callable[[Any], None] | None = None
    hides_more: bool | None = True


DECLARED: Final = HiddenInformation(
    lambda env, agent: env.information_state_key(agent),
    lambda env, agent, generator: env.resample(agent, generator),
)
"""Said by methods of the environment."""


# -- environments over rules


def hidden_of_rules(env: Any) -> HiddenInformation | None:
    """The hidden information of an environment over rules, as they say it."""
    rules = env.rules
    if not hasattr(rules, "resample"):
        return None
    rewind = _rewind_rules if hasattr(rules, "round_start") else None
    return HiddenInformation(
        lambda env, agent: env.rules.information_state_key(env.position, env.possible_agents.index(agent)),
        _resample_rules,
        rewind,
        bool(method_or_default(rules, "hides_more")()),
    )


def _resample_rules(env: Any, agent: Any, generator: np.random.Generator) -> None:
    env.position = env.rules.resample(env.position, env.possible_agents.index(agent), generator)


def _rewind_rules(env: Any) -> None:
    env.position = env.rules.round_start(env.position)
    env.agent_selection = env.possible_agents[env.rules.to_move(env.position)]


# -- OpenSpiel's games behind Shimmy


def hidden_of_shimmy(env: Any) -> HiddenInformation | None:
    """For games that OpenSpiel can deal again, and those in which nothing but simultaneous moves is hidden."""
    if hides_cards(env.game_type) and isinstance(resampled(env.game_state, 0, np.random.default_rng(0)), str):
        return None
    return HiddenInformation(
        lambda env, agent: env.game_state.information_state_string(env.possible_agents.index(agent)),
        _resample_shimmy,
    )


def _resample_shimmy(env: Any, agent: Any, generator: np.random.Generator) -> None:
    if hides_cards(env.game_type):
        env.game_state = resampled(env.game_state, env.possible_agents.index(agent), generator)
        env._update_observations()
    for other in env.simultaneous_actions:
        if other != agent:
            actions = env.game_state.legal_actions(env.possible_agents.index(other))
            env.simultaneous_actions[other] = actions[int(generator.integers(len(actions)))]


# -- RLCard's Leduc and Texas hold'em


def _hand(player: Any) -> list[Any]:
    return player.hand if isinstance(player.hand, list) else [player.hand]  # a single card in Leduc


def _poker_key(env: Any, agent: Any) -> Hashable:
    """The agent's hand, the open cards, every bet so far and the chips."""
    game = env.env.game
    player = game.players[env.possible_agents.index(agent)]
    open_cards = getattr(game, "public_cards", None) or [getattr(game, "public_card", None)]
    cards = [card.get_index() for card in (*_hand(player), *open_cards) if card is not None]
    return tuple(cards), tuple(env.env.action_recorder), tuple(each.in_chips for each in game.players)


def _redeal_poker(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """The other players' hands and the rest of the deck, which lies in the order in which it will be dealt."""
    game = env.env.game
    deck = game.dealer.deck
    others = [each for seat, each in enumerate(game.players) if env.possible_agents[seat] != agent]
    unseen = [*deck, *(card for other in others for card in _hand(other))]
    unseen.sort(key=lambda card: card.get_index())  # what is dealt must not depend on what lies where
    unseen = [unseen[place] for place in generator.permutation(len(unseen))]
    for other in others:
        dealt = [unseen.pop() for _ in _hand(other)]
        other.hand = dealt if isinstance(other.hand, list) else dealt[0]
    deck[:] = unseen


POKER: Final = HiddenInformation(_poker_key, _redeal_poker)


# -- simultaneous moves


def _rewind_parallel(env: Any) -> None:
    """``parallel_to_aec_wrapper`` plays a round when the last agent has been asked."""
    env._actions = dict.fromkeys(env._actions)
    env.agent_selection = env._agent_selector.reset()


def _redraw_parallel(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """Any action that the other's mask allows, drawn from a copy of its space."""
    for other, chosen in env._actions.items():
        if chosen is not None and other != agent:
            space = copy.deepcopy(env.action_space(other))
            space.seed(int(generator.integers(2**31)))
            mask = mask_of(env.observe(other), env.infos.get(other))
            env._actions[other] = space.sample() if mask is None else space.sample(np.asarray(mask, np.int8))


PARALLEL: Final = HiddenInformation(None, _redraw_parallel, _rewind_parallel, hides_more=None)


def _rewind_rps(env: Any) -> None:
    """Clears player 2's stale observation, which is not part of the state, too."""
    env.agent_selection = env._agent_selector.reset()
    env.state = dict.fromkeys(env.possible_agents, env._none)


def _rps_key(env: Any, agent: Any) -> Hashable:
    """The last rounds, whose turn it is, and the agent's own choice of this round, if it has made one."""
    first, second = env.possible_agents
    own = env.state[first] if agent == first and env.agent_selection == second else None
    return env.num_moves, tuple(env.history), env.agent_selection, own


def _redraw_rps(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """The first player's choice in this round, which the second does not see yet."""
    first, second = env.possible_agents
    if agent == second and env.agent_selection == second:
        env.state[first] = int(generator.integers(env.action_space(first).n))


RPS: Final = HiddenInformation(_rps_key, _redraw_rps, _rewind_rps, hides_more=False)
