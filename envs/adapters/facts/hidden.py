"""PettingZoo's pokers and games of simultaneous moves: what an agent has seen, and how the rest is drawn again.

Chance deals every order of the deck alike. So, of what an agent sees, each order of the cards that it has not seen
is as likely as any other; that is how they are dealt again, whatever the other players' actions suggest. What
agents choose in a round of simultaneous moves is hidden until all have chosen.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

Redraw = Callable[[Any, Any, np.random.Generator], None]
"""Changes an environment in place: called with it, the agent and a random generator."""


class Hidden(NamedTuple):
    """The knowledge of an environment's agents.

    Attributes:
        key: All that an agent has seen and done: called with the environment and the agent.
        resample: Deals again what the agent has not seen.
    """

    key: Callable[[Any, Any], Hashable]
    resample: Redraw


class Rounds(NamedTuple):
    """How moves are made at the same time in an environment whose agents are asked in turn.

    Attributes:
        rewind: Takes back, in place, what agents have chosen in this round, so that the first is to be asked.
        redraw: Draws again what others than the agent have chosen in this round.
        hides_more: Whether anything else is hidden from them; None where that depends on what is inside.
    """

    rewind: Callable[[Any], None]
    redraw: Redraw
    hides_more: bool | None


# -- RLCard's Leduc and Texas hold'em


def _hand(player: Any) -> list[Any]:
    return player.hand if isinstance(player.hand, list) else [player.hand]  # a single card in Leduc


def poker_key(env: Any, agent: Any) -> Hashable:
    """The agent's hand, the open cards, every bet so far and the chips."""
    game = env.env.game
    player = game.players[env.possible_agents.index(agent)]
    open_cards = getattr(game, "public_cards", None) or [getattr(game, "public_card", None)]
    shown = [card.get_index() for card in (*_hand(player), *open_cards) if card is not None]
    return tuple(shown), tuple(env.env.action_recorder), tuple(each.in_chips for each in game.players)


def redeal_poker(env: Any, agent: Any, generator: np.random.Generator) -> None:
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


# -- simultaneous moves


def rewind_parallel(env: Any) -> None:
    """``parallel_to_aec_wrapper`` plays a round when the last agent has been asked."""
    env._actions = dict.fromkeys(env._actions)
    env.agent_selection = env._agent_selector.reset()


def redraw_parallel(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """Any action that the other's mask allows, drawn from a copy of its space."""
    for other, chosen in env._actions.items():
        if chosen is not None and other != agent:
            space = copy.deepcopy(env.action_space(other))
            space.seed(int(generator.integers(2**31)))
            seen = env.observe(other)
            holder = seen if isinstance(seen, Mapping) and "action_mask" in seen else env.infos.get(other, {})
            mask = holder.get("action_mask")
            env._actions[other] = space.sample() if mask is None else space.sample(np.asarray(mask, np.int8))


def rewind_rps(env: Any) -> None:
    """Clears player 2's stale observation at the start of a round, which is not part of the state."""
    env.agent_selection = env._agent_selector.reset()
    env.state = dict.fromkeys(env.possible_agents, env._none)


def rps_key(env: Any, agent: Any) -> Hashable:
    """The last rounds, whose turn it is, and the agent's own choice of this round, if it has made one."""
    first, second = env.possible_agents
    own = env.state[first] if agent == first and env.agent_selection == second else None
    return env.num_moves, tuple(env.history), env.agent_selection, own


def redraw_rps(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """Draws the first player's choice in this round again, which the second does not see yet."""
    first, second = env.possible_agents
    if agent == second and env.agent_selection == second:
        env.state[first] = int(generator.integers(env.action_space(first).n))
