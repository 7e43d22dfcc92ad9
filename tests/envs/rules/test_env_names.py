"""Environments of rules by their names, in PettingZoo's registry and ours."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest
from doubles.game_envs import started
from doubles.own_envs import OWN, api_warnings
from doubles.own_rules import ThreeTake

import zermelo.envs
from zermelo.envs import as_game, make
from zermelo.envs.errors import InvalidSettingError, RulesError
from zermelo.envs.registration.registry import OWN_ENVS
from zermelo.envs.rules.env import env_name

with warnings.catch_warnings():  # it imports an environment in the old way
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test


def test_every_game_has_an_id_and_its_table() -> None:
    assert OWN
    for name in OWN:
        document = OWN_ENVS[name].load().__doc__ or ""
        for line in ("Creation", "Agents", "Actions", "Observation", "Action mask", "Rewards", "Version history"):
            assert f"\n{line}" in document, (name, line)


@pytest.mark.parametrize("name", OWN)
def test_the_tables_are_true(name: str) -> None:
    """What the table says makes the environment, which then has those actions, for players only."""
    document = OWN_ENVS[name].load().__doc__ or ""
    rows = dict(re.findall(r"^(\w[\w ]*?)  +(.+)$", document, flags=re.MULTILINE))
    live = started(eval(rows["Creation"], {"zermelo": zermelo}), seed=0)
    spaces = [live.action_space(agent) for agent in live.possible_agents]
    assert {str(space) for space in spaces} == {rows["Actions"]}
    mask = live.observe(live.agent_selection)["action_mask"]
    assert rows["Action mask"].startswith(f"{len(mask)} of 0 and 1")
    assert len(mask) == spaces[0].n == as_game(live).traits.num_actions


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("zermelo/Pig-v0", 2),
        ("zermelo/Pig-v0(dice=2, snake_eyes=True, players=3)", 2),
        ("zermelo/Game2048-v0(rows=2, columns=3)", 4),
        ("zermelo/EinStein-v0", 81),
        ("zermelo/EinStein-v0(random_start=True)", 75),
    ],
)
@api_warnings
def test_outcomes_of_chance_are_no_actions(text: str, actions: int) -> None:
    live = started(make(text), seed=0)
    assert live.action_space(live.agent_selection).n == actions
    api_test(live, num_cycles=100)


@pytest.mark.parametrize(
    ("cls", "name"),
    [("DotsAndBoxes", "dots_and_boxes_v0"), ("MNK", "mnk_v0"), ("Nim", "nim_v0"), ("MNKGame2", "mnk_game2_v0")],
)
def test_names_of_classes(cls: str, name: str) -> None:
    assert env_name(type(cls, (), {})) == name


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("doubles.own_rules:ThreeTake", ThreeTake(10)),
        ("doubles.own_rules:ThreeTake(counters=7)", ThreeTake(7)),
        ("doubles.own_rules:game_of_five", ThreeTake(5)),
        ("doubles.own_rules:make_rules(counters=6)", ThreeTake(6)),
    ],
)
def test_rules_of_the_users_by_name(text: str, rules: Any) -> None:
    live = started(make(text))
    assert live.unwrapped.rules == rules
    assert as_game(live).rules == rules


def test_parameters_that_rules_do_not_take_are_named() -> None:
    with pytest.raises(InvalidSettingError, match=r"takes no parameter 'width': it takes m, n, k, .*render_mode"):
        make("zermelo/MNK-v0(width=4)")
    with pytest.raises(InvalidSettingError, match=r"needs rows of 1 to \d+, not rows=0$"):
        make("zermelo/ConnectFour-v0", rows=0)
    with pytest.raises(RulesError, match=r"MNK.m must be an integer, not 'wide'"):
        make("zermelo/MNK-v0", m="wide")
    with pytest.raises(InvalidSettingError, match="takes no parameter 'heaps': it takes counters, render_mode"):
        make("doubles.own_rules:ThreeTake(heaps=4)")
