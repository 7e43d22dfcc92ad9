"""Networks that this package brings, each for the rules that it learned by ``zermelo tune --model network``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.agents.evaluators.network import NetworkEvaluator, NetworkTables, StoredNetwork
from zermelo.envs import Game, UnsupportedGameError
from zermelo.envs.rules.rules_game import RulesGame

FOLDER: Final = Path(__file__).with_name("networks")


@functools.cache
def _files() -> dict[str, Path]:
    """The files by the rules that they are for, with parameters, as text."""
    paths = sorted(FOLDER.glob("*.json"))
    return {msgspec.json.decode(path.read_bytes(), type=StoredNetwork).about["rules"]: path for path in paths}


@functools.cache
def _read(path: Path) -> NetworkEvaluator:
    return msgspec.json.decode(path.read_bytes(), type=StoredNetwork).evaluator(str(path))


def _rules_of(rules: Any) -> str:
    """Rules with their parameters, as text; those that only say where a game starts are left at their defaults."""
    starts: Sequence[str] = getattr(rules, "start_parameters", ())
    if not starts:
        return str(rules)
    return str(type(rules)(**{name: value for name, value in rules._asdict().items() if name not in starts}))


def shipped_network(game: Game[Any]) -> NetworkEvaluator | None:
    """The network for a game; None if there is none."""
    path = _files().get(_rules_of(game.rules)) if isinstance(game, RulesGame) else None
    return None if path is None else _read(path)


@dataclass(frozen=True, kw_only=True)
class ShippedNetwork:
    """The network that this package brings for the game."""

    def spec(self) -> str:
        return "network"

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        return self._network(game)(game, state)

    def tables(self, game: Game[Any]) -> NetworkTables | None:
        """Lookup tables of the network for compiled code; None if only plain Python can evaluate."""
        return self._network(game).tables(game)

    def _network(self, game: Game[Any]) -> NetworkEvaluator:
        found = shipped_network(game)
        if found is None:
            raise UnsupportedGameError(
                f"this package has no network for {game.traits.name}: `zermelo tune ENV --model network "
                "--out FILE` learns one, for evaluator='FILE'"
            )
        return found
