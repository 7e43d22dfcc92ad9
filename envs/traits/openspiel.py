"""Traits of OpenSpiel's games, and states that a player cannot tell apart."""

from __future__ import annotations

import math
import sys
from typing import Any, Final

import numpy as np

from zermelo.envs.game import Chance, Information, RewardSum

SHIMMY: Final = "shimmy.openspiel_compatibility.OpenSpielCompatibilityV0"


def openspiel_traits(game: Any) -> dict[str, Any]:
    """Fields of ``Traits`` that OpenSpiel knows of a ``pyspiel.Game``."""
    kind = game.get_type()
    types: Any = type(kind)
    zero, constant = types.Utility.ZERO_SUM, types.Utility.CONSTANT_SUM
    terminal_only = kind.reward_model == types.RewardModel.TERMINAL
    is_sequential = kind.dynamics == types.Dynamics.SEQUENTIAL
    perfect = is_sequential and kind.information == types.Information.PERFECT_INFORMATION
    exact, none = types.ChanceMode.EXPLICIT_STOCHASTIC, types.ChanceMode.DETERMINISTIC
    chance = {none: Chance.NONE, exact: Chance.EXACT}.get(kind.chance_mode, Chance.SAMPLED)
    reward_sum = {zero: RewardSum.ZERO, constant: RewardSum.CONSTANT}.get(kind.utility, RewardSum.GENERAL)
    if game.num_players() == 1:
        reward_sum = RewardSum.GENERAL
    # OpenSpiel bounds the sum of rewards. What is still to come is bounded likewise only if nothing came before.
    bounds = (game.min_utility(), game.max_utility()) if terminal_only else (-math.inf, math.inf)
    return {
        "reward_sum": reward_sum,
        "constant": float(game.utility_sum()) if reward_sum is RewardSum.CONSTANT else 0.0,
        "chance": chance,
        "information": Information.PERFECT if perfect else Information.HIDDEN,
        "simultaneous": kind.dynamics == types.Dynamics.SIMULTANEOUS,
        "utility_bounds": bounds,
        "terminal_rewards_only": terminal_only,
        "num_actions": game.num_distinct_actions(),
    }


def hides_cards(kind: Any) -> bool:
    """Whether anything besides simultaneous moves is hidden in games of a ``pyspiel.GameType``."""
    return bool(kind.information == type(kind).Information.IMPERFECT_INFORMATION)


def is_openspiel(thing: Any) -> bool:
    """Whether it is an OpenSpiel game or state; imports nothing."""
    pyspiel = sys.modules.get("pyspiel")
    return pyspiel is not None and isinstance(thing, pyspiel.Game | pyspiel.State)


def shimmy_traits(env: Any) -> dict[str, Any]:
    """OpenSpiel's game type, seen through copies of Shimmy's environment, where chance can only be sampled."""
    traits = openspiel_traits(env._env)
    return traits | {"chance": Chance.NONE if traits["chance"] is Chance.NONE else Chance.SAMPLED}


def resampled(state: Any, seat: int, generator: np.random.Generator) -> Any:
    """A state that the seat cannot tell from this one, dealt by OpenSpiel; or why it cannot, as text."""
    import pyspiel

    if state.get_game().get_type().short_name == "hearts":
        # Once cards are passed, some lead to a state without a legal action, at which its random players crash.
        return "its deals of hearts lead to states in which nobody can move (OpenSpiel 2.0.2)"
    try:
        return state.resample_from_infostate(seat, generator.random)
    except pyspiel.SpielError as error:
        return str(error)
