"""The tables of ``zermelo.envs.games``: they say of each game what its module does, and load none of them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

from zermelo.envs import games
from zermelo.envs.games import tables
from zermelo.envs.rules import EquivalentRules
from zermelo.envs.rules.rules_game import is_rules

CODE = """
import sys
import zermelo.agents, zermelo.envs, zermelo.envs.registration
from zermelo.agents import {agent}
from zermelo.envs import as_game
from zermelo.envs.registration.make import make
print(*sorted(name for name in sys.modules if name.startswith("zermelo.envs.games.") and name[19:] != "tables"))
{then}
print(*sorted(name for name in sys.modules if name.startswith("zermelo.envs.games.") and name[19:] != "tables"))
"""
PLAY = "env = make('classic/tictactoe-v3'); env.reset(seed=0); {agent}(depth=2).act(env)"


@pytest.mark.parametrize("name", tables.GAMES)
def test_rows_are_what_their_classes_are(name: str) -> None:
    row, cls = tables.GAMES[name], getattr(games, name)
    assert cls.__name__ == name
    assert (row.information == "hidden") == hasattr(cls, "information_state_key")


def test_every_class_of_rules_is_listed() -> None:
    found = set()
    for module in pkgutil.walk_packages(games.__path__, f"{games.__name__}."):
        for name, cls in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(cls) and cls.__module__ == module.name and hasattr(cls, "legal_actions"):
                instance = None if inspect.isabstract(cls) else cls
                if instance is not None and issubclass(cls, tuple) and is_rules(cls()):
                    found.add(name)
    assert found == set(tables.GAMES) == set(games.__all__)


@pytest.mark.parametrize("env_class", tables.SAME_GAME)
def test_environments_of_others_have_rules_and_a_reader(env_class: str) -> None:
    assert isinstance(tables.load(tables.SAME_GAME[env_class]), EquivalentRules)


@pytest.mark.parametrize("short_name", tables.OPENSPIEL)
def test_openspiels_games_have_a_function_of_their_parameters(short_name: str) -> None:
    assert callable(tables.load(tables.OPENSPIEL[short_name]))


def test_names_that_are_no_games() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Poker'"):
        games.Poker  # noqa: B018  # asking for it is the test


def test_importing_an_agent_loads_no_game_and_one_environment_loads_its_own() -> None:
    code = CODE.format(agent="AlphaBetaAgent", then=PLAY.format(agent="AlphaBetaAgent"))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    before, after = done.stdout.split("\n")[:2]
    assert before == ""
    assert after == "zermelo.envs.games.mnk"
