"""Leduc hold'em as PettingZoo and OpenSpiel have it."""

from __future__ import annotations

from typing import Any

from zermelo.envs.game import CHANCE
from zermelo.envs.games.hidden.leduc.rules import CALL, CHECK, FOLD, MOST_RAISES, NAMES, RAISE, Leduc, LeducState
from zermelo.envs.rules.about import OpenSpielRules, equivalent_rules, openspiel_rules


@equivalent_rules("pettingzoo.classic.rlcard_envs.leduc_holdem.raw_env", Leduc(blinds=True), scale=0.5)
def _pettingzoo(env: Any) -> LeducState | None:
    """Played over again from RLCard's record; its rewards are in big blinds."""
    game, played = env.env.game, env.env.action_recorder
    if len(game.players) != 2 or game.allowed_raise_num != MOST_RAISES:
        return None
    rules = Leduc(blinds=True)
    begins = played[0][0] if played else game.game_pointer
    cards = ["JQK".index(player.hand.rank) for player in game.players]
    state = rules.initial_state()
    for outcome in (begins, *cards):
        state = rules.result(state, outcome)
    for _, name in played:
        if rules.is_terminal(state):
            return None
        state = rules.result(state, NAMES.index(name))
        if not rules.is_terminal(state) and rules.to_move(state) == CHANCE:
            if game.public_card is None:
                return None
            state = rules.result(state, "JQK".index(game.public_card.rank))
    chips = [player.in_chips for player in game.players]
    return state if chips == [state.first_chips, state.second_chips] else None


def _to_openspiel(state: LeducState, action: int) -> int:
    """There 0 folds, 1 calls and checks, 2 raises; of each rank there are the cards 2 * rank and 2 * rank + 1."""
    if Leduc().to_move(state) == CHANCE:
        return 2 * action + (state.first_card == action + 1 or state.second_card == action + 1)
    return (1, 2, 0, 1)[action]


def _from_openspiel(state: LeducState, number: int) -> int:
    if Leduc().to_move(state) == CHANCE:
        return number // 2
    return (FOLD, CHECK if state.first_chips == state.second_chips else CALL, RAISE)[number]


@openspiel_rules("leduc_poker")
def _openspiel(
    action_mapping: bool, players: int, starting_player: int, suit_isomorphism: bool
) -> OpenSpielRules | None:
    """For two players, the first beginning, and with cards that have suits."""
    if action_mapping or players != 2 or starting_player != 0 or suit_isomorphism:
        return None
    return OpenSpielRules(rules=Leduc(), to_openspiel=_to_openspiel, from_openspiel=_from_openspiel)
