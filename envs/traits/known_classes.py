"""Traits of particular environment classes, found by the class's full name.

They hold for subclasses too, unless a nearer class says otherwise; fast ways to legal actions and keys do not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zermelo.envs.clone.kinds import full_name
from zermelo.envs.game import Chance, Information, RewardSum
from zermelo.envs.live.wrappers import is_gymnasium, layers
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.calls import checked_call
from zermelo.envs.traits.declared import declares_information
from zermelo.envs.traits.hanabi import deal_hanabi, hanabi_key
from zermelo.envs.traits.hidden import (
    DECLARED,
    PARALLEL,
    POKER,
    RPS,
    HiddenInformation,
    InformationStateKey,
    Resample,
    hidden_of_rules,
    hidden_of_shimmy,
)
from zermelo.envs.traits.openspiel import SHIMMY, shimmy_traits


@dataclass(frozen=True, kw_only=True)
class KnownClass:
    """The traits of an environment class, and fast ways to ask it.

    Attributes:
        traits: Fields of ``Traits`` and their values; or a function of an environment that returns them.
        legal_actions: The legal actions of the agent to move, ascending, without an observation.
        key: A value such that equal keys mean the same future.
        hidden: Its hidden information; or a function of an environment that returns it.
    """

    traits: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] = field(default_factory=dict)
    legal_actions: Callable[[Any], tuple[int, ...]] | None = None
    key: Callable[[Any], Hashable] | None = None
    hidden: HiddenInformation | Callable[[Any], HiddenInformation | None] | None = None

    def traits_of(self, env: Any) -> Mapping[str, Any]:
        """The fields of ``Traits`` known of an environment."""
        return self.traits(env) if callable(self.traits) else self.traits

    def hidden_of(self, env: Any) -> HiddenInformation | None:
        """The hidden information of an environment; None where there is none, or nothing says it."""
        hidden = self.hidden
        return hidden if hidden is None or isinstance(hidden, HiddenInformation) else hidden(env)


def _chess_actions(env: Any) -> tuple[int, ...]:
    from pettingzoo.classic.chess import chess_utils

    return tuple(sorted(chess_utils.legal_moves(env.board)))


def _redraw_hole_card(env: Any, agent: None, generator: np.random.Generator) -> None:
    """Gymnasium's Blackjack deals the dealer's second card before the player decides, from an endless deck."""
    env.unwrapped.dealer[1] = min(int(generator.integers(1, 14)), 10)


def _blackjack_key(env: Any) -> Hashable:
    """The player's hand and the dealer's open card: the hidden one is drawn again in every sample."""
    raw = env.unwrapped
    return tuple(sorted(raw.player)), raw.dealer[0]


def _rps_key(env: Any) -> Hashable:
    """The round, whose turn it is, and the first player's choice where it has been made: no round counts later."""
    first, second = env.possible_agents
    chosen = env.state[first] if env.agent_selection == second else None
    return env.num_moves, env.agent_selection, chosen


_RULES_ENV = "zermelo.envs.rules.env.RulesEnv"
_OF_RULES = (
    "reward_sum", "constant", "chance", "information", "simultaneous", "utility_bounds", "terminal_rewards_only",
)  # fmt: skip


def _rules_traits(env: Any) -> dict[str, Any]:
    """Traits that the rules declare; the utility bounds hold for the environment too."""
    traits = RulesGame(env.rules).traits
    return {name: getattr(traits, name) for name in _OF_RULES}


def _atari_traits(env: Any) -> dict[str, Any]:
    """Searches plan with the emulator's state, of which the screen shows most."""
    is_sticky = env.ale.getFloat("repeat_action_probability") > 0
    known = {"information": Information.PERFECT, "reward_sum": RewardSum.GENERAL, "terminal_rewards_only": False}
    return {**known, "chance": Chance.SAMPLED if is_sticky or not isinstance(env._frameskip, int) else Chance.NONE}


_DUEL = {
    "reward_sum": RewardSum.ZERO, "chance": Chance.NONE, "information": Information.PERFECT,
    "utility_bounds": (-1.0, 1.0), "terminal_rewards_only": True,
}  # fmt: skip
_CARDS = {"chance": Chance.SAMPLED, "information": Information.HIDDEN}
_SIMULTANEOUS = {"information": Information.HIDDEN, "simultaneous": True}
_POKER = KnownClass(traits={**_CARDS, "reward_sum": RewardSum.ZERO, "terminal_rewards_only": True}, hidden=POKER)

_KNOWN_CLASSES: Mapping[str, KnownClass] = {
    "pettingzoo.classic.tictactoe.tictactoe.raw_env": KnownClass(
        traits=_DUEL, legal_actions=lambda env: tuple([n for n, mark in enumerate(env.board.squares) if mark == 0])
    ),
    "pettingzoo.classic.connect_four.connect_four.raw_env": KnownClass(
        traits=_DUEL, legal_actions=lambda env: tuple([n for n, mark in enumerate(env.board[:7]) if mark == 0])
    ),
    "pettingzoo.classic.go.go.raw_env": KnownClass(
        traits=_DUEL, legal_actions=lambda env: tuple(np.asarray(env.next_legal_moves).tolist())
    ),
    "pettingzoo.classic.chess.chess.raw_env": KnownClass(traits=_DUEL, legal_actions=_chess_actions),
    "pettingzoo.classic.rps.rps.raw_env": KnownClass(
        traits={**_SIMULTANEOUS, "chance": Chance.NONE, "reward_sum": RewardSum.ZERO}, key=_rps_key, hidden=RPS
    ),
    "pettingzoo.classic.hanabi.hanabi.raw_env": KnownClass(
        traits={**_CARDS, "reward_sum": RewardSum.GENERAL}, hidden=HiddenInformation(hanabi_key, deal_hanabi)
    ),
    "pettingzoo.classic.rlcard_envs.rlcard_base.RLCardBase": KnownClass(traits=_CARDS),
    "pettingzoo.classic.rlcard_envs.leduc_holdem.raw_env": _POKER,
    "pettingzoo.classic.rlcard_envs.texas_holdem.raw_env": _POKER,
    "pettingzoo.classic.rlcard_envs.texas_holdem_no_limit.raw_env": _POKER,
    "gymnasium.envs.toy_text.blackjack.BlackjackEnv": KnownClass(
        # The hidden card is drawn again in every sample, so that nothing is seen that the player does not know.
        traits={"chance": Chance.SAMPLED, "information": Information.PERFECT, "terminal_rewards_only": True},
        key=_blackjack_key,
        hidden=HiddenInformation(None, _redraw_hole_card),
    ),
    "ale_py.env.AtariEnv": KnownClass(traits=_atari_traits),
    "pettingzoo.utils.conversions.parallel_to_aec_wrapper": KnownClass(traits=_SIMULTANEOUS, hidden=PARALLEL),
    _RULES_ENV: KnownClass(
        traits=_rules_traits,
        legal_actions=lambda env: tuple(env.legal_actions()),
        key=lambda env: (env.agent_selection, env.position),
        hidden=hidden_of_rules,
    ),
    SHIMMY: KnownClass(traits=shimmy_traits, hidden=hidden_of_shimmy),
}


_information: dict[str, HiddenInformation] = {}


@checked_call
def register_information(
    env_class: type | str, *, information_state_key: InformationStateKey, resample: Resample
) -> None:
    """Declares what the agents of an AEC environment class know, so that searches do not see hidden cards.

    A class of your own says it by methods of these names (the guide "Cards of your own").

    Args:
        env_class: The class of the environment below its checking wrappers, or its full name, so that it need not
            be imported. It counts for exactly this class.
        information_state_key: All that an agent has seen and done, as a hashable value: called with the
            environment and the agent.
        resample: Deals again, in place, what the agent has not seen, as chance would have dealt it: called with
            a copy of the environment, the agent and a random generator. What is dealt depends on the generator and
            on what the agent has seen: sort the cards before they are shuffled.
    """
    name = env_class if isinstance(env_class, str) else full_name(env_class)
    _information[name] = HiddenInformation(information_state_key, resample)


def registered_information(env: Any) -> HiddenInformation | None:
    """The information that ``register_information`` was given for the class of an environment."""
    return _information.get(full_name(type(env)))


def known_class(env: Any) -> KnownClass:
    """The knowledge of an environment's own class, else of those that it inherits and wraps."""
    known = _KNOWN_CLASSES.get(full_name(type(env))) or _inherited(env)
    hidden = DECLARED if declares_information(env) else registered_information(env)
    if hidden is None:
        return known
    hidden_of_class = known.hidden_of(env)
    if hidden_of_class is not None:  # how moves are made at the same time stays as it is
        hidden = hidden._replace(round_start=hidden_of_class.round_start, hides_more=hidden_of_class.hides_more)
    return replace(known, hidden=hidden, traits={**known.traits_of(env), "information": Information.HIDDEN})


def _inherited(env: Any) -> KnownClass:
    # A subclass, or a wrapper that is part of the game, may change the rewards and the rules, but hidden cards
    # stay hidden, simultaneous moves simultaneous, and dice dice.
    traits, hidden = dict[str, Any](), None
    lasting = {"information": Information.HIDDEN, "chance": Chance.SAMPLED, "simultaneous": True}
    for layer in layers(env):
        for cls in type(layer).__mro__:
            known = _KNOWN_CLASSES.get(full_name(cls), KnownClass())
            values = known.traits_of(layer)
            traits |= {name: value for name, value in lasting.items() if values.get(name) == value}
            if is_gymnasium(layer):
                hidden = hidden or known.hidden
    return KnownClass(traits=traits, hidden=hidden)
