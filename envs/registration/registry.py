"""The environments of this package, by id, and how PettingZoo and Gymnasium learn of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.envs.errors import InvalidSettingError


@dataclass(frozen=True)
class OwnEnv:
    """An environment that is made by name.

    Attributes:
        id: Such as ``zermelo/Kalah-v0``.
        entry_point: What makes it: a callable, or ``"module:name"``, imported only when it is used.
        players: How many play, as text: ``2``, ``2-6``.
        kind: What kind of game it is, in a few words.
        information: ``perfect`` or ``hidden``.
    """

    id: str
    entry_point: str | Callable[..., Any]
    players: str = "2"
    kind: str = "board"
    information: str = "perfect"

    def load(self) -> Callable[..., Any]:
        """The callable that makes the environment."""
        if not isinstance(self.entry_point, str):
            return self.entry_point
        module, _, name = self.entry_point.partition(":")
        creator: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return creator


OWN_ENVS: dict[str, OwnEnv] = {}


def register_env(
    env_id: str,
    entry_point: str | Callable[..., Any],
    *,
    players: str = "2",
    kind: str = "board",
    information: str = "perfect",
) -> None:
    """Makes an environment known by an id, to this package and to ``pettingzoo.make``.

    PettingZoo is not imported for it: if it is not there yet, ``register_envs`` tells it.

    Raises:
        InvalidSettingError: The id is not ``family/Name-vN``, or it is taken.
    """
    family, slash, name = env_id.partition("/")
    if not (family and slash and name and name.rpartition("-v")[2].isdigit()):
        raise InvalidSettingError(f"an environment id is family/Name-vN, such as zermelo/Kalah-v0, not {env_id!r}")
    if env_id in OWN_ENVS:
        raise InvalidSettingError(f"the environment id {env_id!r} is taken")
    OWN_ENVS[env_id] = OwnEnv(env_id, entry_point, players, kind, information)
    if hasattr(sys.modules.get("pettingzoo"), "aec_registry"):
        _tell_pettingzoo()


GYMNASIUM_ENVS: dict[str, str] = {}
"""The ids and entry points of our environments that are Gymnasium's."""


def register_envs() -> None:
    """Registers the environments of this package with PettingZoo and Gymnasium, for their own ``make``.

    ``zermelo.envs.make`` needs no call. Importing ``zermelo.envs`` registers with those of the two that have been
    imported before it, and imports neither; this function imports both.
    """
    importlib.import_module("pettingzoo")
    importlib.import_module("gymnasium")
    register_with_imported()


def register_with_imported() -> None:
    """Registers with those of PettingZoo and Gymnasium that are there already."""
    if hasattr(sys.modules.get("pettingzoo"), "aec_registry"):
        _tell_pettingzoo()
    if hasattr(sys.modules.get("gymnasium"), "registry"):
        _tell_gymnasium()


def _tell_pettingzoo() -> None:
    pettingzoo: Any = sys.modules["pettingzoo"]
    for env in OWN_ENVS.values():
        if env.id not in pettingzoo.aec_registry:
            pettingzoo.register("aec", env.id, entry_point=env.entry_point)


def _tell_gymnasium() -> None:
    gymnasium: Any = sys.modules["gymnasium"]
    for env_id, entry_point in GYMNASIUM_ENVS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(env_id, entry_point=entry_point)
