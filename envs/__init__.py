"""What is the game? Live environments, copied and seen as games that can be searched.

Importing this package takes no time worth mentioning: a name brings its module when it is first used. None of them
loads pettingzoo, gymnasium or pygame; what needs them loads them when called.
"""

import importlib
import sys
from typing import TYPE_CHECKING

from zermelo.envs.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.envs.adapters.actions import legal_actions
    from zermelo.envs.adapters.as_game import as_game, register_rules
    from zermelo.envs.adapters.discretise import discretise
    from zermelo.envs.adapters.facts.known import register_information
    from zermelo.envs.checks.check_rules import check_rules
    from zermelo.envs.clone.clone_env import clone_env
    from zermelo.envs.clone.own_clone import register_clone
    from zermelo.envs.clone.verify import verify_clone
    from zermelo.envs.counting import perft
    from zermelo.envs.errors import (
        CloneError,
        EnvFailedError,
        GameOverError,
        IllegalActionError,
        InvalidSettingError,
        MissingDependencyError,
        UnknownNameError,
        UnknownTraitWarning,
        UnsupportedGameError,
        ZermeloError,
    )
    from zermelo.envs.game import CHANCE, Chance, Game, Information, RewardSum, Traits, TraitSource
    from zermelo.envs.registration.listing import EnvEntry, list_envs
    from zermelo.envs.registration.make import make, make_env
    from zermelo.envs.registration.registry import register_env, register_envs

__all__ = [
    "CHANCE",
    "Chance",
    "CloneError",
    "EnvEntry",
    "EnvFailedError",
    "Game",
    "GameOverError",
    "IllegalActionError",
    "Information",
    "InvalidSettingError",
    "MissingDependencyError",
    "RewardSum",
    "TraitSource",
    "Traits",
    "UnknownNameError",
    "UnknownTraitWarning",
    "UnsupportedGameError",
    "ZermeloError",
    "as_game",
    "check_rules",
    "clone_env",
    "discretise",
    "legal_actions",
    "list_envs",
    "make",
    "make_env",
    "perft",
    "register_clone",
    "register_env",
    "register_envs",
    "register_information",
    "register_rules",
    "verify_clone",
]

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__ = lazy_names(
        __name__,
        {
            "adapters.actions": "legal_actions",
            "adapters.as_game": "as_game register_rules",
            "adapters.discretise": "discretise",
            "adapters.facts.known": "register_information",
            "clone.clone_env": "clone_env",
            "clone.own_clone": "register_clone",
            "clone.verify": "verify_clone",
            "errors": "CloneError EnvFailedError GameOverError IllegalActionError InvalidSettingError "
            "MissingDependencyError UnknownNameError UnknownTraitWarning UnsupportedGameError ZermeloError",
            "game": "CHANCE Chance Game Information RewardSum Traits TraitSource",
            "counting": "perft",
            "checks.check_rules": "check_rules",
            "registration.listing": "EnvEntry list_envs",
            "registration.make": "make make_env",
            "registration.registry": "register_env register_envs",
        },
    )

if "pettingzoo" in sys.modules or "gymnasium" in sys.modules:  # they are told of our environments
    importlib.import_module(f"{__name__}.registration")
