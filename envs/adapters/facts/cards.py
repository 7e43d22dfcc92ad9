"""PettingZoo's games of hidden cards: what an agent has seen, and how the rest is dealt again.

Chance deals every order of the deck alike. So, of what an agent sees, each order of the cards that it has not seen
is as likely as any other; that is how they are dealt again, whatever the other players' actions suggest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Hidden",
    "deal_hanabi",
    "hanabi_key",
    "poker_key",
    "redeal_poker",
    "redealt_hanabi",
]


class Hidden(NamedTuple):
    """What the agents of an environment know.

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


# -- Hanabi -------------------------------------------------------------------------------------------------------


class _Hanabi(NamedTuple):
    """What one player of an OpenSpiel state of Hanabi knows.

    Attributes:
        events: Players, chance included, and their actions since the start.
        hand: Where among these the cards of the player's hand were dealt, the oldest first.
        possible: For each of them, the cards that all hints so far allow, as the actions that deal them.
        unseen: The cards that the player does not see, its own and the deck, each as the action that deals it.
    """

    events: list[tuple[int, int]]
    hand: list[int]
    possible: list[frozenset[int]]
    unseen: list[int]


def _known_of_hanabi(state: Any, seat: int) -> _Hanabi:
    events = [(item.player, item.action) for item in state.full_history()]
    start = state.get_game().new_initial_state()
    chances = dict(start.chance_outcomes())
    rarest = min(chances.values())  # of the highest card of a colour there is one
    unseen = Counter({card: round(chance / rarest) for card, chance in chances.items()})
    names = {card: start.action_to_string(start.current_player(), card)[-3:-1] for card in chances}  # such as R1
    players = state.num_players()
    size = next(place for place, (player, _) in enumerate(events) if player >= 0) // players
    hands: list[list[int]] = [[] for _ in range(players)]
    possible: dict[int, frozenset[int]] = {}
    for place, (player, action) in enumerate(events):
        if player < 0:  # a card is dealt to the first who has too few
            next(hand for hand in hands if len(hand) < size).append(place)
            possible[place] = frozenset(chances)
            unseen[action] -= 1
            continue
        words = state.action_to_string(player, action).strip("()").split()
        if words[0] != "Reveal":  # Play 0, Discard 3
            hands[player].pop(int(words[1]))
            continue
        _, _, offset, _, value = words  # Reveal player +1 color R
        for card in hands[(player + int(offset)) % players]:
            is_hinted = value in names[events[card][1]]
            possible[card] &= frozenset(one for one in chances if (value in names[one]) == is_hinted)
    hand = hands[seat]
    unseen.update(events[place][1] for place in hand)
    return _Hanabi(events, hand, [possible[place] for place in hand], [*unseen.elements()])


def redealt_hanabi(state: Any, seat: int, generator: np.random.Generator) -> Any:
    """An OpenSpiel state of Hanabi with another hand for a player, of unseen cards, that fits all hints."""
    known = _known_of_hanabi(state, seat)
    # Cards are drawn for each place by itself until no card is drawn twice: all hands that fit are equally likely.
    options = [[n for n, card in enumerate(known.unseen) if card in fitting] for fitting in known.possible]
    drawn: list[int] = [0, 0]
    while len(set(drawn)) < len(drawn):
        drawn = [cards[int(generator.integers(len(cards)))] for cards in options]
    events = [action for _, action in known.events]
    for place, number in zip(known.hand, drawn, strict=True):
        events[place] = known.unseen[number]
    dealt = state.get_game().new_initial_state()
    for action in events:
        dealt.apply_action(action)
    return dealt


def _sees_all(env: Any) -> bool:
    return bool(env._config["observation_type"] == "seer")


def hanabi_key(env: Any, agent: Any) -> Hashable:
    """All cards dealt and all actions but for the agent's own hand; of that, what the hints allow."""
    state, seat = env.hanabi_env.game_state, env.possible_agents.index(agent)
    if _sees_all(env):
        return tuple(state.history())
    known = _known_of_hanabi(state, seat)
    seen = tuple(-1 if place in known.hand else action for place, (_, action) in enumerate(known.events))
    return seen, tuple(known.possible)


def deal_hanabi(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """The agent's own hand; the deck is not dealt before it is needed."""
    if _sees_all(env):
        return
    inside = env.hanabi_env
    inside.game_state = redealt_hanabi(inside.game_state, env.possible_agents.index(agent), generator)
    inside._update_action_masks()
    inside._update_observations()
