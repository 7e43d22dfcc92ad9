"""What is the game? Live environments, copied and seen as games that can be searched.

Importing this package loads neither pettingzoo nor gymnasium nor pygame; what needs them loads them when called.
"""

import zermelo.envs.own_games
import zermelo.envs.rules_twins  # noqa: F401  # both for what they register
from zermelo.envs.actions import legal_actions
from zermelo.envs.as_game import as_game, register_rules
from zermelo.envs.catalogue import make, make_env
from zermelo.envs.clone import clone_env
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
from zermelo.envs.listing import EnvEntry, list_envs
from zermelo.envs.perft import perft
from zermelo.envs.registry import register_env
from zermelo.envs.verify import verify_clone

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
