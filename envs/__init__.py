"""What is the game? Live environments, copied and seen as games that can be searched.

Importing this package loads neither pettingzoo nor gymnasium nor pygame; what needs them loads them when called.
"""

import zermelo.envs.adapters.rules
import zermelo.envs.registration.own_games  # noqa: F401  # both for what they register
from zermelo.envs.adapters.actions import legal_actions
from zermelo.envs.adapters.as_game import as_game, register_rules
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.verify import verify_clone
from zermelo.envs.errors import (
    CloneError,
    EnvFailedError,
    GameOverError,
    IllegalActionError,
    InvalidSettingError,
    MissingDependencyError,
    UnknownNameError,
    UnsupportedGameError,
    ZermeloError,
)
from zermelo.envs.game import CHANCE, Chance, Game, Information, RewardSum, Traits, TraitSource
from zermelo.envs.perft import perft
from zermelo.envs.registration.listing import EnvEntry, list_envs
from zermelo.envs.registration.make import make, make_env
from zermelo.envs.registration.registry import register_env

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
    "UnsupportedGameError",
    "ZermeloError",
    "as_game",
    "clone_env",
    "legal_actions",
    "list_envs",
    "make",
    "make_env",
    "perft",
    "register_env",
    "register_rules",
    "verify_clone",
]
