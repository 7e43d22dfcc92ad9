"""Environments by name: ours, how PettingZoo and Gymnasium learn of them, and the list of all that are known."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import tables
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import Spec, parse_spec


@dataclass(frozen=True)
class EnvEntry:
    """A line of the list of environments.

    Attributes:
        name: What ``make`` takes, such as ``zermelo/Kalah-v0``.
        players: How many play, as text: ``2``, ``2-6``.
        kind: Board, cards, dice, ... in a few words.
        information: ``perfect``, or ``hidden``: hidden cards or simultaneous moves.
        needs: The extra that has to be installed, as in ``scripts/setup classic``, or nothing.
        entry_point: What makes an environment of ours: a callable, or ``"module:name"``, imported when it is used.
    """

    name: str
    players: str = "2"
    kind: str = "board"
    information: str = "perfect"
    needs: str = ""
    entry_point: str | Callable[..., Any] = ""

    @property
    def summary(self) -> str:
        """The line without the name: players, kind, what players see, whether it is installed."""
        from zermelo.envs.support.installing import install_command, is_installed

        players = "1 player" if self.players == "1" else f"{self.players} players"
        search = {"perfect": "searchable", "hidden": "hidden information"}.get(self.information)
        needs = None
        if self.needs:
            needs = "installed" if is_installed(self.needs) else f"not installed: {install_command(self.needs)}"
        return "; ".join(part for part in (players, self.kind, search, needs) if part)

    def load(self) -> Callable[..., Any]:
        """The callable that makes an environment of ours."""
        place = self.entry_point
        made: Callable[..., Any] = pkgutil.resolve_name(place) if isinstance(place, str) else place
        return made


def _own(name: str, game: tables.Listed) -> EnvEntry:
    place = f"zermelo.envs.registration.own_games:{name}"
    return EnvEntry(f"zermelo/{name}-v0", game.players, game.kind, game.information, entry_point=place)


OWN_ENVS: dict[str, EnvEntry] = {f"zermelo/{name}-v0": _own(name, game) for name, game in tables.GAMES.items()}
"""The environments of this package, and those of ``register_env``, by id."""
GYMNASIUM_ENVS = {f"zermelo/{name}-v0": game.gymnasium for name, game in tables.GAMES.items() if game.gymnasium}
"""The ids and entry points of our environments that are Gymnasium's."""


@checked_call
def register_env(
    env_id: str,
    entry_point: str | Callable[..., Any],
    *,
    players: str = "2",
    kind: str = "board",
    information: str = "perfect",
) -> None:
    """Makes an environment known by an id, to this package and to ``pettingzoo.make``.

    The same class or function again, as when a notebook's cell is run twice, replaces what the id stood for.
    PettingZoo is not imported for it: if it is not there yet, ``register_envs`` tells it.

    Raises:
        InvalidSettingError: The id is not ``family/Name-vN``, or another environment has it.
    """
    family, slash, name = env_id.partition("/")
    if not (family and slash and name and name.rpartition("-v")[2].isdigit()):
        raise InvalidSettingError(f"an environment id is family/Name-vN, such as zermelo/Kalah-v0, not {env_id!r}")
    place, known = _place(entry_point), OWN_ENVS.get(env_id)
    if known is not None:
        if _place(known.entry_point) != place:
            taken = f"the environment id {env_id!r} is that of {_place(known.entry_point)}"
            raise InvalidSettingError(f"{taken}: give {place} another one, such as a higher version")
        _forget(env_id)
    OWN_ENVS[env_id] = EnvEntry(env_id, players, kind, information, entry_point=entry_point)
    register_with_imported()


def _place(entry_point: str | Callable[..., Any]) -> str:
    if isinstance(entry_point, str):
        return entry_point
    made = getattr(entry_point, "func", entry_point)
    return f"{made.__module__}:{getattr(made, '__qualname__', type(made).__qualname__)}"


def _forget(env_id: str) -> None:
    pettingzoo = sys.modules.get("pettingzoo")
    if pettingzoo is not None and hasattr(pettingzoo, "aec_registry"):
        pettingzoo.aec_registry.pop(env_id, None)


@checked_call
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
    pettingzoo, gymnasium = sys.modules.get("pettingzoo"), sys.modules.get("gymnasium")
    if pettingzoo is not None and hasattr(pettingzoo, "aec_registry"):
        for env_id in [known for known in OWN_ENVS if known not in pettingzoo.aec_registry]:
            pettingzoo.register("aec", env_id, entry_point=OWN_ENVS[env_id].entry_point)
    if gymnasium is not None and hasattr(gymnasium, "registry"):
        for env_id in [known for known in GYMNASIUM_ENVS if known not in gymnasium.registry]:
            gymnasium.register(env_id, entry_point=GYMNASIUM_ENVS[env_id])


_OTHERS = (
    EnvEntry("classic/tictactoe-v3", needs="classic"),
    EnvEntry("classic/connect_four-v3", needs="classic"),
    EnvEntry("classic/chess-v6", needs="classic"),
    EnvEntry("classic/go-v5", needs="classic"),
    EnvEntry("classic/hanabi-v5", "2-5", "cards", "hidden", "classic"),
    EnvEntry("classic/leduc_holdem-v4", "2", "cards", "hidden", "classic"),
    EnvEntry("classic/rps-v2", "2", "simultaneous", "hidden", "classic"),
    EnvEntry("classic/texas_holdem-v4", "2 or more", "cards", "hidden", "classic"),
    EnvEntry("classic/texas_holdem_no_limit-v6", "2 or more", "cards", "hidden", "classic"),
    EnvEntry("FrozenLake-v1", "1", "grid, exact chance"),
    EnvEntry("Taxi-v4", "1", "grid"),
    EnvEntry("CliffWalking-v1", "1", "grid"),
    EnvEntry("Blackjack-v1", "1", "cards, sampled chance"),
    EnvEntry("openspiel/<game>", "any", "OpenSpiel's games, through Shimmy", "by game", "openspiel"),
)


@checked_call
def list_envs() -> list[EnvEntry]:
    """The environments of this package, PettingZoo's classics, Gymnasium's tables, and a line for OpenSpiel.

    Others work too: any AEC or Gymnasium environment, by its id or as ``module:function``.
    """
    return [*OWN_ENVS.values(), *_OTHERS]


_TEXT_ALLOWED = frozenset({"FrozenLake", "FrozenLake8x8"})
"""Environments besides ours of which a setting may be text: it names nothing outside of them."""


def env_runs_own_code(text: str) -> bool:
    """Whether making this environment may run code of a module or agent that the text names, or read a file.

    It may unless the name is an id and the settings are numbers, or in environments of ours plain values.
    """
    try:
        spec = parse_spec(text)
    except InvalidSettingError:
        return True
    base = spec.name.partition("-v")[0]
    takes_text = base in _TEXT_ALLOWED or f"{base}-v0" in OWN_ENVS
    return ":" in spec.name or not all(_is_harmless(value, takes_text) for value in spec.arguments.values())


def _is_harmless(value: Any, takes_text: bool) -> bool:
    if isinstance(value, Spec):  # another game of OpenSpiel's
        return all(_is_harmless(part, takes_text) for part in value.arguments.values())
    if isinstance(value, str):
        return takes_text and value != "human"
    if isinstance(value, list | tuple):
        return all(_is_harmless(part, takes_text) for part in value)
    return value is None or isinstance(value, bool | int | float)
