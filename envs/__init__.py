"""Games: live environments, copied and adapted so that they can be searched.

Importing this package takes no time worth mentioning: a name brings its module when it is first used. None of them
loads pettingzoo, gymnasium or pygame; what needs them loads them when called.
"""

import importlib
import sys
from typing import TYPE_CHECKING

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.envs.adapters.actions import legal_actions as legal_actions
    from zermelo.envs.adapters.as_game import as_game as as_game
    from zermelo.envs.adapters.as_game import register_rules as register_rules
    from zermelo.envs.checks.check_rules import check_rules as check_rules
    from zermelo.envs.clone.clone_env import clone_env as clone_env
    from zermelo.envs.clone.clone_env import register_clone as register_clone
    from zermelo.envs.clone.verify import verify_clone as verify_clone
    from zermelo.envs.counting import perft as perft
    from zermelo.envs.errors import CloneError as CloneError
    from zermelo.envs.errors import EnvFailedError as EnvFailedError
    from zermelo.envs.errors import GameOverError as GameOverError
    from zermelo.envs.errors import IllegalActionError as IllegalActionError
    from zermelo.envs.errors import InvalidSettingError as InvalidSettingError
    from zermelo.envs.errors import MissingDependencyError as MissingDependencyError
    from zermelo.envs.errors import UnknownNameError as UnknownNameError
    from zermelo.envs.errors import UnknownTraitWarning as UnknownTraitWarning
    from zermelo.envs.errors import UnsupportedGameError as UnsupportedGameError
    from zermelo.envs.errors import ZermeloError as ZermeloError
    from zermelo.envs.game import CHANCE as CHANCE
    from zermelo.envs.game import Chance as Chance
    from zermelo.envs.game import Game as Game
    from zermelo.envs.game import Information as Information
    from zermelo.envs.game import RewardSum as RewardSum
    from zermelo.envs.game import Traits as Traits
    from zermelo.envs.game import TraitSource as TraitSource
    from zermelo.envs.live.discretise import discretise as discretise
    from zermelo.envs.registration.make import make as make
    from zermelo.envs.registration.make import make_env as make_env
    from zermelo.envs.registration.registry import EnvEntry as EnvEntry
    from zermelo.envs.registration.registry import list_envs as list_envs
    from zermelo.envs.registration.registry import register_env as register_env
    from zermelo.envs.registration.registry import register_envs as register_envs
    from zermelo.envs.traits.known_classes import register_information as register_information

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "adapters.actions": "legal_actions",
            "adapters.as_game": "as_game register_rules",
            "live.discretise": "discretise",
            "traits.known_classes": "register_information",
            "clone.clone_env": "clone_env register_clone",
            "clone.verify": "verify_clone",
            "errors": "CloneError EnvFailedError GameOverError IllegalActionError InvalidSettingError "
            "MissingDependencyError UnknownNameError UnknownTraitWarning UnsupportedGameError ZermeloError",
            "game": "CHANCE Chance Game Information RewardSum Traits TraitSource",
            "counting": "perft",
            "checks.check_rules": "check_rules",
            "registration.make": "make make_env",
            "registration.registry": "EnvEntry list_envs register_env register_envs",
        },
    )

if "pettingzoo" in sys.modules or "gymnasium" in sys.modules:  # they are told of our environments
    importlib.import_module(f"{__name__}.registration")
