"""What is the game? Live environments, copied and seen as games that can be searched.

Importing this package loads neither pettingzoo nor gymnasium nor pygame; what needs them loads them when called.
"""

from zermelo.envs.as_game import as_game
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

__all__ = [
    "CHANCE",
    "Chance",
    "CloneError",
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
]
