"""What random play shows of an environment counts for its configuration, and for no other."""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import pytest
from doubles.awkward_configurations import (
    ManyStages,
    MaybeDice,
    PaysByClass,
    PaysByFunction,
    PaysByObjects,
    PaysBySlots,
    PaysByTable,
    SlottedValue,
    Value,
)
from doubles.game_envs import SmallEnv

from zermelo.envs import as_game
from zermelo.envs.game import Chance, RewardSum
from zermelo.envs.traits import random_play as inference


def reward_sum(env: SmallEnv) -> RewardSum:
    env.reset(seed=0)
    return as_game(env, backend="clone").traits.reward_sum


def table(last: float) -> np.ndarray[Any, Any]:
    values = np.zeros(200)
    values[-1] = last
    return values


CASES: list[tuple[Any, Any]] = [
    (PaysByTable, lambda loss: table(loss)),
    (PaysByTable, lambda loss: table(loss).tolist()),
    (PaysByTable, lambda loss: {**dict.fromkeys(range(200), 0.0), -1: loss}),
    (PaysByTable, lambda loss: table(loss).astype(object)),
    (PaysByTable, lambda loss: [[0.0], loss]),
    (PaysByFunction, lambda loss: (lambda: -1.0) if loss == -1 else (lambda: -3.0)),
    (PaysByFunction, lambda loss: lambda: loss),
    (PaysByFunction, lambda loss: lambda loss=loss: loss),
    (PaysByObjects, lambda loss: [Value(loss)]),
    (PaysByObjects, lambda loss: [SlottedValue(loss)]),
    (PaysBySlots, lambda loss: table(loss)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_payoffs_of_one_environment_are_not_taken_for_those_of_another(number: int) -> None:
    cls, make = CASES[number]
    cls = type(cls.__name__, (cls,), {})
    assert [reward_sum(cls(make(loss))) for loss in (-1.0, -3.0, -1.0)] == [
        RewardSum.ZERO,
        RewardSum.CONSTANT,
        RewardSum.ZERO,
    ]


def test_attributes_of_classes_count() -> None:
    cls = type("PaysByClass", (PaysByClass,), {})
    assert reward_sum(cls()) is RewardSum.ZERO
    cls.losing = -3.0
    assert reward_sum(cls()) is RewardSum.CONSTANT


@pytest.mark.parametrize("how", ["array", "option"])
def test_dice_are_not_searched_as_if_there_were_none(how: str) -> None:
    cls = type("MaybeDice", (MaybeDice,), {})
    plain = cls()
    plain.reset(seed=0)
    assert as_game(plain).traits.chance is Chance.NONE
    dice = cls(np.ones(100)) if how == "array" else cls()
    dice.reset(seed=0, options={"dice": True})
    assert as_game(dice).traits.chance is Chance.SAMPLED


def test_the_same_configuration_is_not_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cls = type("PaysByTable", (PaysByTable,), {})
    assert reward_sum(cls(table(-1.0))) is RewardSum.ZERO
    monkeypatch.setattr(inference._Play, "run", lambda self: pytest.fail("played again"))
    assert reward_sum(cls(table(-1.0))) is RewardSum.ZERO
    again = copy.copy(cls(table(-1.0)))
    again.rewards = {"one": 5}
    assert reward_sum(again) is RewardSum.ZERO


def test_nothing_is_inferred_anew_within_an_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    cls = type("ManyStages", (ManyStages,), {})
    env = cls()
    env.reset(seed=0)
    game = as_game(env)
    runs = []
    monkeypatch.setattr(
        sys.modules["zermelo.envs.traits.of_copies"], "infer", lambda *arguments: runs.append(arguments)
    )
    for _ in range(300):
        env.step(0)
        assert as_game(env) is game
    assert runs == []


def test_other_options_of_reset_are_another_configuration() -> None:
    env = type("ManyStages", (ManyStages,), {})()
    env.reset(seed=0)
    game = as_game(env)
    for _ in range(25):
        env.step(0)
    env.reset(seed=0, options={"length": 40})
    assert as_game(env) is not game
