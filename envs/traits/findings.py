"""What was found out about environments, kept for later ones of the same class and configuration.

Findings are kept in this process, and in the cache folder: in a file named by the sources of the environment's
class and modules and by versions, an entry for each configuration. A damaged file is as good as none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import full_name
from zermelo.envs.clone.outside_state import modules_of
from zermelo.envs.game import Chance, Information, RewardSum, Traits
from zermelo.envs.live.configuration import configuration, differences
from zermelo.envs.live.wrappers import game_layers
from zermelo.envs.support.files import cache_root, read_checked, write_checked

_MOST: Final = 32  # configurations of a class that are kept
_LARGEST: Final = 1 << 22
_ROOMS: Final = ("adapters", "clone", "live", "traits")
_VERSIONS: Final = ("gymnasium", "numpy", "pettingzoo")
_ENUMS: Final[Mapping[str, Any]] = {"chance": Chance, "information": Information, "reward_sum": RewardSum}


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of random play.

    Attributes:
        inferred: Fields of ``Traits`` that play showed.
        assumed: Fields that play did not show, with what is assumed.
        draws_from: The generators that steps drew from and the environment does not hold.
        constants: Digests of the attributes that never changed, by path.
        games: Games that were played to their end.
        needed: The fields that were looked for, as nobody had given or declared them.
        without: Attributes that differ although nothing else does, such as clocks: no part of a key.
        dear_keys: Whether a key takes longer than several moves.
        is_done: Whether play came to its end in time.
        notes: What users should be told, as the ends of sentences that begin with the environment's name.
    """

    inferred: dict[str, Any]
    assumed: dict[str, Any]
    draws_from: tuple[str, ...] = ()
    constants: dict[str, bytes] = {}
    games: int = 0
    needed: tuple[str, ...] = ()
    without: dict[str, dict[str, str]] = {}
    as_numpy: bool = False
    pays_by_rewards: bool = False
    dear_keys: bool = False
    is_done: bool = True
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def serves(self, needed: set[str], patience: float) -> bool:
        """Whether play that looks for these fields, and may take so long, would show no more."""
        return needed <= set(self.needed) and patience <= self.enough

    @property
    def enough(self) -> float:
        """The patience with which play would show no more."""
        return math.inf if self.is_done else 1.5 * self.seconds


_memory: Final[dict[tuple[type, ...], list[Findings]]] = {}


def recall(env: Any) -> Findings | None:
    """Findings about an environment of the same class and configuration; None if there are none."""
    classes = _classes(env)
    if classes not in _memory:
        file = _file_of(classes)
        _memory[classes] = [] if file is None else _read(file)
    known = _memory[classes]
    if not known:
        return None
    now = configuration(env)
    return next((each for each in known if not differences(each.constants, now)), None)


def remember(env: Any, findings: Findings) -> None:
    """Keeps findings, in place of earlier ones for the same configuration."""
    classes = _classes(env)
    _memory[classes] = _with(_memory.get(classes, []), findings)
    file = _file_of(classes)
    if file is None:
        return
    with contextlib.suppress(OSError):  # then the next process finds it out again
        file.parent.mkdir(parents=True, exist_ok=True)
        entries = _with(_read(file), findings)  # another process may have written meanwhile
        write_checked(file, msgspec.json.encode(entries))


def _with(kept: list[Findings], findings: Findings) -> list[Findings]:
    others = [each for each in kept if differences(each.constants, findings.constants)]
    return [findings, *others][:_MOST]


def _read(file: Path) -> list[Findings]:
    content = read_checked(file, _LARGEST)
    if content is None:
        return []
    try:
        found = msgspec.json.decode(content, type=list[Findings])
        for each in found:
            for fields in (each.inferred, each.assumed):
                for name in fields.keys() & _ENUMS.keys():
                    fields[name] = _ENUMS[name](fields[name])
                Traits(name="", seat_names=(), **fields)  # checks them
    except (ValueError, TypeError, RecursionError):
        return []
    return found


def _classes(env: Any) -> tuple[type, ...]:
    return tuple(original_class(type(layer)) for layer in game_layers(env))


@functools.lru_cache(maxsize=256)
def _file_of(classes: tuple[type, ...]) -> Path | None:
    """The file of findings about environments of these classes; None where their source is nowhere."""
    digest = hashlib.sha256(_own().encode())
    for cls in classes:
        digest.update(full_name(cls).encode())
    for module in sorted(modules_of(classes), key=lambda module: module.__name__):
        file = getattr(module, "__file__", None)
        try:
            content = Path(file).read_bytes() if file else b""
        except OSError:
            content = b""
        if not content and not (file and file.endswith("__init__.py")):
            return None  # typed into an interpreter
        digest.update(module.__name__.encode() + hashlib.sha256(content).digest())
    name = classes[-1].__name__
    return cache_root() / "environments" / f"{name}-{digest.hexdigest()[:32]}.json"


@functools.cache
def _own() -> str:
    """All that decides what is found besides the environment: this package's modules, and versions."""
    digest = hashlib.sha256(sys.version.encode())
    for room in _ROOMS:
        for path in sorted((Path(__file__).parents[1] / room).glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    for name in _VERSIONS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            digest.update(importlib.metadata.version(name).encode())
    return digest.hexdigest()
