"""The environments of this package, by id; ``make`` of PettingZoo and Gymnasium learns of them."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from zermelo.envs.errors import InvalidSettingError

__all__ = ["OWN_ENVS", "OwnEnv", "register_env", "register_gymnasium"]


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

    PettingZoo is not imported for it: if it is not there yet, it learns of the environment when it is.

    Raises:
        InvalidSettingError: The id is not ``family/Name-vN``, or it is taken.
    """
    family, slash, name = env_id.partition("/")
    if not (family and slash and name and name.rpartition("-v")[2].isdigit()):
        raise InvalidSettingError(f"an environment id is family/Name-vN, such as zermelo/Kalah-v0, not {env_id!r}")
    if env_id in OWN_ENVS:
        raise InvalidSettingError(f"the environment id {env_id!r} is taken")
    OWN_ENVS[env_id] = OwnEnv(env_id, entry_point, players, kind, information)
    _tell("pettingzoo")


def register_gymnasium(env_id: str, entry_point: str) -> None:
    """Makes an environment known to ``gymnasium.make``; Gymnasium is not imported for it.

    Args:
        env_id: Such as ``zermelo/Game2048-v0``.
        entry_point: ``"module:name"`` of the environment's class.
    """
    _GYMNASIUM[env_id] = entry_point
    _tell("gymnasium")


_GYMNASIUM: dict[str, str] = {}


def _tell(package: str) -> None:
    """Tells a package of our environments, now or when it will have been imported."""
    attribute, tell = _PACKAGES[package]
    if hasattr(sys.modules.get(package), attribute):
        tell()
    elif _WAIT[package] not in sys.meta_path:
        sys.meta_path.insert(0, _WAIT[package])


def _tell_pettingzoo() -> None:
    pettingzoo: Any = sys.modules["pettingzoo"]
    for env in OWN_ENVS.values():
        if env.id not in pettingzoo.aec_registry:
            pettingzoo.register("aec", env.id, entry_point=env.entry_point)


def _tell_gymnasium() -> None:
    gymnasium: Any = sys.modules["gymnasium"]
    for env_id, entry_point in _GYMNASIUM.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(env_id, entry_point=entry_point)


_PACKAGES: dict[str, tuple[str, Callable[[], None]]] = {
    "pettingzoo": ("aec_registry", _tell_pettingzoo),
    "gymnasium": ("registry", _tell_gymnasium),
}
"""What shows that a package has been imported, and how it is told."""


class _WaitFor(importlib.abc.MetaPathFinder):
    """Registers our environments right after a package has been imported, and is then gone."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._package:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenRegister(spec.loader, _PACKAGES[fullname][1])
        return spec


class _ThenRegister(importlib.abc.Loader):
    """A loader that does what another does, and then registers our environments."""

    def __init__(self, loader: Any, register: Callable[[], None]) -> None:
        self._loader = loader
        self._register = register

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._register()


_WAIT = {package: _WaitFor(package) for package in _PACKAGES}
