"""PettingZoo's pokers: what an agent has seen, and how the rest is dealt again.

Chance deals every order of the deck alike. So, of what an agent sees, each order of the cards that it has not seen
is as likely as any other; that is how they are dealt again, whatever the other players' actions suggest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np


class Hidden(NamedTuple):
    """The knowledge of an environment's agents.

    Attributes:
        key: All that an agent has seen and done: called with the environment and the agent.
        resample: Deals again, in place, what the agent has not seen, with the random generator given.
    """

    key: Callable[[Any, Any], Hashable]
    resample: Callable[[Any, Any, np.random.Generator], None]


# -- RLCard's Leduc and Texas hold'em -----------------------------------------------------------------------------


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
