"""Games and states as bytes that another process of this package reads.

Of a game on copies its first copy and all that is known of it are sent: nothing is found out twice.
"""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any, NamedTuple

import cloudpickle

from zermelo.envs.adapters.copied_state import CopiedState
from zermelo.envs.adapters.copies import CopiedGame
from zermelo.envs.adapters.watching import Assumed
from zermelo.envs.clone.packing import packed
from zermelo.envs.game import Information
from zermelo.envs.traits.known_classes import register_information, registered_information
from zermelo.envs.traits.origin import origin_of


class _Recipe(NamedTuple):
    """The parts of a game on copies, and what it has learned; ``information`` is of ``register_information``."""

    kind: type[Any]
    template: Any
    traits: Any
    guarded: tuple[str, ...]
    draws_from: tuple[str, ...]
    information: Any
    as_numpy: bool
    pays_by_rewards: bool
    keys_are_slow: bool
    ignored_paths: dict[str, dict[str, str]]
    cancels: bool | None
    draws_idly: bool
    by_order: bool


def pack_game(game: Any, state: Any) -> bytes:
    """A game as bytes, for ``unpack_game``; where something is hidden, no other cards than those of the state."""
    if not isinstance(game, CopiedGame):
        return bytes(cloudpickle.dumps(game))
    template = state.env if game.traits.information is Information.HIDDEN else game._template
    outside = game.outside if game.assumed is None else game.assumed.outside
    guarded, draws_from = (tuple(source.name for source in each.used) for each in (game.outside, outside))
    cancels = None if game.assumed is None else game.assumed.cancels
    draws_idly = game.assumed is not None and game.assumed.draws_idly
    by_order = game.assumed is not None and game.assumed.by_order
    of_steps = cancels, draws_idly, by_order
    learned = game.as_numpy, game.pays_by_rewards, game.keys_are_slow, game.ignored_paths, *of_steps
    information = registered_information(template)
    return packed(_Recipe(type(game), template, game.traits, guarded, draws_from, information, *learned))


def unpack_game(data: bytes, seed: int) -> Any:
    """The game that ``pack_game`` was given; ``seed`` starts its own stream of random numbers."""
    recipe = pickle.loads(data)
    if not isinstance(recipe, _Recipe):
        return recipe
    information = recipe.information
    if information is not None:
        keys, resample = information.information_state_key, information.resample
        register_information(type(recipe.template), information_state_key=keys, resample=resample)
    game = recipe.kind(recipe.template, recipe.traits, seed=seed)
    outside, traits = game.outside.only(recipe.guarded), recipe.traits
    assumed = Assumed(
        origin_of(recipe.template),
        traits,
        outside.only(recipe.draws_from),
        cancels=bool(recipe.cancels),
        draws_idly=recipe.draws_idly,
        by_order=recipe.by_order,
        differs=game.differs_by_chance,
    )
    game = game.with_traits(traits, outside, assumed)
    game.takes_numpy(recipe.as_numpy)
    game.pays_by_rewards, game.keys_are_slow = recipe.pays_by_rewards, recipe.keys_are_slow
    game.ignored_paths = recipe.ignored_paths
    return game


def pack_state(state: Any) -> bytes:
    """A state of such a game as bytes, for ``pickle.loads``."""
    if isinstance(state, CopiedState):  # whose actions may be noted outside, as PettingZoo's chess does
        seen = None if state.info is None else state.seen
        return packed(dataclasses.replace(state, seen=seen, actions=None, codec=None, key=None, watch=None))
    return bytes(cloudpickle.dumps(state))
