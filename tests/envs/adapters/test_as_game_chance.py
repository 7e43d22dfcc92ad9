"""Chance in a game of an environment: found out, sampled and declared."""

from __future__ import annotations

import random

import numpy as np
import pytest
from doubles.game_envs import (
    DeclaredDice,
    Dice,
    started,
)

from zermelo.envs import (
    CHANCE,
    Chance,
    EnvFailedError,
    IllegalActionError,
    TraitSource,
    as_game,
)


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["np_random", "python", "random", "numpy.random"])
def test_chance_is_found_out_and_never_the_environments_own(source: str) -> None:
    env = started(Dice(source), seed=11)
    global_state = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002 - watched, not used
    game = as_game(env)
    assert game.traits.chance is Chance.SAMPLED
    assert game.traits.source("chance") is TraitSource.INFERRED
    state = game.snapshot(env)
    faces = [game.result(state, 0).env.faces[-1] for _ in range(60)]
    assert set(faces) == {1, 2, 3, 4, 5, 6}
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == global_state  # noqa: NPY002 - as above


@pytest.mark.parametrize("source", ["np_random", "python", "random", "numpy.random"])
def test_samples_follow_the_generator_given(source: str) -> None:
    env = started(Dice(source), seed=11)
    game = as_game(env)
    state = game.snapshot(env)

    def draws(seed: int) -> list[int]:
        generator = np.random.default_rng(seed)
        return [game.sample_result(state, 0, generator).env.faces[-1] for _ in range(20)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)


@pytest.mark.parametrize("source", ["np_random", "python"])
def test_samples_do_not_depend_on_the_environments_seed(source: str) -> None:
    drawn = []
    for seed in (1, 2):
        env = started(Dice(source), seed=seed)
        game = as_game(env)
        generator = np.random.default_rng(0)
        drawn.append([game.sample_result(game.snapshot(env), 0, generator).env.faces[-1] for _ in range(20)])
    assert drawn[0] == drawn[1]


@pytest.mark.thorough
def test_declared_chance_is_exact() -> None:
    env = started(DeclaredDice(), seed=1)
    game = as_game(env)
    assert game.traits.chance is as_game(env, backend="clone").traits.chance is Chance.EXACT
    state = game.snapshot(env)
    assert game.chance_outcomes(state) == ()
    rolling = game.result(state, 0)
    assert game.to_move(rolling) == CHANCE
    assert game.legal_actions(rolling) == ()
    assert game.chance_outcomes(rolling) == ((0, 0.5), (1, 0.25), (2, 0.25))
    lost, two, three = (game.result(rolling, outcome) for outcome in range(3))
    assert game.to_move(lost) == 1
    assert (game.to_move(two), game.to_move(three)) == (0, 0)
    assert game.utility(lost) == (0.0, 0.0)
    assert game.utility(three) == (0.3, 0.0)
    again = game.result(game.result(three, 0), 1)
    assert game.utility(again) == pytest.approx((0.5, 0.0))
    won = game.result(again, 1)
    assert game.is_terminal(won)
    assert game.utility(won) == pytest.approx((1.5, -1.0))
    with pytest.raises(IllegalActionError, match="3 is not a chance outcome: there are 3"):
        game.result(rolling, 3)
    assert not env.defer_chance
    env.step(0)
    assert not env.chance_outcomes()


@pytest.mark.thorough
def test_probabilities_must_sum_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    env = started(DeclaredDice(), seed=1)
    game = as_game(env)
    monkeypatch.setattr(DeclaredDice, "chance_outcomes", lambda self: [("one", 0.5)] if self.rolling else [])
    with pytest.raises(EnvFailedError, match=r"must be probabilities that sum to 1, but sum to 0\.5"):
        game.result(game.snapshot(env), 0)
