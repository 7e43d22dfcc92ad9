"""Hanabi, over OpenSpiel's states: what a player knows of its own hand, and how that hand is dealt again."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np


class _Effect(NamedTuple):
    """The effect of an action: the place in the hand that is played or discarded, -1 for a hint.

    A hint is given to the player ``offset`` seats on, and speaks of ``cards``, bit ``card`` each.
    """

    place: int
    offset: int = 0
    cards: int = 0


class _Setup(NamedTuple):
    """A game of Hanabi: the size of a hand, how many there are of each card, and what each action does."""

    players: int
    size: int
    copies: tuple[int, ...]
    moves: tuple[_Effect, ...]


@functools.lru_cache(maxsize=64)
def _setup(text: str) -> _Setup:
    import pyspiel

    game = pyspiel.load_game(text)
    start = game.new_initial_state()
    chances = dict(start.chance_outcomes())
    rarest = min(chances.values())  # of the highest card of a colour there is one
    names = [start.action_to_string(start.current_player(), card)[-3:-1] for card in sorted(chances)]  # such as R1
    moves = []
    for action in range(game.num_distinct_actions()):
        words = start.action_to_string(0, action).strip("()").split()
        if words[0] != "Reveal":  # Play 0, Discard 3
            moves.append(_Effect(int(words[1])))
            continue
        _, _, offset, _, value = words  # Reveal player +1 color R
        cards = sum(1 << card for card, name in enumerate(names) if value in name)
        moves.append(_Effect(-1, int(offset), cards))
    size = 0
    while start.is_chance_node():
        start.apply_action(start.chance_outcomes()[0][0])
        size += 1
    copies = tuple(round(chances[card] / rarest) for card in sorted(chances))
    return _Setup(game.num_players(), size // game.num_players(), copies, tuple(moves))


class _HandKnowledge(NamedTuple):
    """The knowledge of one player in a state.

    ``hand`` says where among the events its cards were dealt, the oldest first, ``possible`` which cards all hints
    so far allow for each of them, bit ``card`` each; ``unseen`` are the cards that it does not see.
    """

    events: list[int]
    hand: list[int]
    possible: list[int]
    unseen: list[int]


def _knowledge(state: Any, seat: int) -> _HandKnowledge:
    setup = _setup(str(state.get_game()))
    events: list[int] = state.history()
    hands: list[list[int]] = [[] for _ in range(setup.players)]
    possible: dict[int, int] = {}
    left, all_cards = sum(setup.copies), (1 << len(setup.copies)) - 1
    copies = list(setup.copies)
    missing, mover = setup.players * setup.size, -1
    for place, event in enumerate(events):
        if missing and left:  # a card is dealt to the first who has too few
            for hand in hands:
                if len(hand) < setup.size:
                    hand.append(place)
                    break
            possible[place] = all_cards
            copies[event] -= 1
            left -= 1
            missing -= 1
            continue
        if mover < 0:  # who moves first may vary
            varies = state.get_game().get_parameters().get("random_start_player", False)
            mover = int(state.full_history()[place].player) if varies else 0
        move = setup.moves[event]
        if move.place >= 0:
            hands[mover].pop(move.place)
            missing += 1
        else:
            for card in hands[(mover + move.offset) % setup.players]:
                is_meant = move.cards >> events[card] & 1
                possible[card] &= move.cards if is_meant else ~move.cards
        mover = (mover + 1) % setup.players
    hand = hands[seat]
    for place in hand:
        copies[events[place]] += 1
    unseen = [card for card, count in enumerate(copies) for _ in range(count)]
    return _HandKnowledge(events, hand, [possible[place] for place in hand], unseen)


def key_of_hanabi(state: Any, seat: int) -> Hashable:
    """All cards dealt and all actions but for the player's own hand; of that, what the hints allow."""
    known = _knowledge(state, seat)
    seen = list(known.events)
    for place in known.hand:
        seen[place] = -1
    return tuple(seen), tuple(known.possible)


def redealt_hanabi(state: Any, seat: int, generator: np.random.Generator) -> Any:
    """An OpenSpiel state of Hanabi with another hand for a player, of unseen cards, that fits all hints."""
    known = _knowledge(state, seat)
    # Cards are drawn for each place by itself until no card is drawn twice: all hands that fit are equally likely.
    options = [[n for n, card in enumerate(known.unseen) if fits >> card & 1] for fits in known.possible]
    drawn: list[int] = [0, 0]
    while len(set(drawn)) < len(drawn):
        drawn = [cards[int(generator.random() * len(cards))] for cards in options]
    events = list(known.events)
    for place, number in zip(known.hand, drawn, strict=True):
        events[place] = known.unseen[number]
    dealt = state.get_game().new_initial_state()
    for action in events:
        dealt.apply_action(action)
    return dealt


def sees_all(env: Any) -> bool:
    """Returns whether its agents are shown their own hands too."""
    return bool(env._config["observation_type"] == "seer")


def hanabi_key(env: Any, agent: Any) -> Hashable:
    """The agent's knowledge; if it is shown all cards, the whole history."""
    state = env.hanabi_env.game_state
    if sees_all(env):
        return tuple(state.history())
    return key_of_hanabi(state, env.possible_agents.index(agent))


def deal_hanabi(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """Deals the agent's own hand again; the deck is not dealt before it is needed."""
    if sees_all(env):
        return
    inside = env.hanabi_env
    inside.game_state = redealt_hanabi(inside.game_state, env.possible_agents.index(agent), generator)
    inside._update_action_masks()
    inside._update_observations()
