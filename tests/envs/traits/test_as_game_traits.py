"""The traits of an environment, its chance among them: declared, known or found out."""

from __future__ import annotations

import gc
import random
import time
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from doubles.awkward_lifetimes import CountToSix
from doubles.game_envs import (
    DeclaredDice,
    Dice,
    DoublingWrapper,
    LastOneStanding,
    Numbers,
    SmallEnv,
    Walk,
    classic,
    started,
)

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import CHANCE, IllegalActionError, Traits, as_game, legal_actions
from zermelo.envs.adapters import adapting
from zermelo.envs.errors import EnvFailedError, InvalidSettingError, UnknownTraitWarning, UnsupportedGameError
from zermelo.envs.game import Chance, Information, RewardSum, TraitSource
from zermelo.envs.support import waiting


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: classic("tictactoe-v3"), (RewardSum.ZERO, Chance.NONE, Information.PERFECT, True)),
        (lambda: classic("chess-v6"), (RewardSum.ZERO, Chance.NONE, Information.PERFECT, True)),
        (lambda: classic("go-v5"), (RewardSum.ZERO, Chance.NONE, Information.PERFECT, True)),
        (Numbers, (RewardSum.CONSTANT, Chance.NONE, Information.PERFECT, False)),
        (LastOneStanding, (RewardSum.GENERAL, Chance.NONE, Information.PERFECT, False)),
        (Walk, (RewardSum.GENERAL, Chance.NONE, Information.PERFECT, False)),
        (Dice, (RewardSum.ZERO, Chance.SAMPLED, Information.PERFECT, False)),
    ],
)
def test_traits_are_found_out(make: Any, expected: Any) -> None:
    env = started(make(), seed=0)
    traits = as_game(env).traits
    assert (traits.reward_sum, traits.chance, traits.information, traits.terminal_rewards_only) == expected
    assert traits.seats == len(env.possible_agents)
    assert traits.seat_names == tuple(map(str, env.possible_agents))


@pytest.mark.parametrize(
    "name", ["leduc_holdem-v4", "texas_holdem-v4", "texas_holdem_no_limit-v6", "hanabi-v5", "rps-v2"]
)
def test_hidden_information_is_known(name: str) -> None:
    env = started(classic(name), seed=0)
    assert as_game(env).traits.information is Information.HIDDEN
    traits = as_game(env, backend="environment").traits
    assert traits.information is Information.HIDDEN
    assert traits.source("information") is TraitSource.KNOWN
    assert len(legal_actions(env)) > 0


def in_turn() -> Any:
    from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec

    return parallel_to_aec(aec_to_parallel(classic("rps-v2")))


@pytest.mark.parametrize("make", [in_turn, lambda: DoublingWrapper(classic("leduc_holdem-v4"))])
def test_wrappers_do_not_hide_hidden_information(make: Any) -> None:
    assert as_game(started(make(), seed=0)).traits.information is Information.HIDDEN


def test_sources_in_order_of_trust() -> None:
    env = Numbers()
    env.zermelo_traits = {"utility_bounds": (0, 1), "information": "hidden"}
    env.reset()
    traits = as_game(env, traits={"information": "perfect"}).traits
    assert traits.information is Information.PERFECT
    assert traits.source("information") is TraitSource.GIVEN
    assert traits.utility_bounds == (0, 1)
    assert traits.source("utility_bounds") is TraitSource.DECLARED
    assert traits.source("reward_sum") is TraitSource.ASSUMED
    assert as_game(env).traits.information is Information.HIDDEN


def test_traits_declared_in_metadata() -> None:
    class Declaring(Numbers):
        metadata = {**Numbers.metadata, "zermelo_traits": {"reward_sum": "general_sum"}}  # noqa: RUF012 - as PettingZoo

    env = started(Declaring())
    traits = as_game(env).traits
    assert traits.reward_sum is RewardSum.GENERAL
    assert traits.source("reward_sum") is TraitSource.DECLARED


def test_whole_traits_can_be_given() -> None:
    env = started(Numbers())
    given = Traits(name="mine", seat_names=("x", "y"), reward_sum=RewardSum.GENERAL, num_actions=4)
    traits = as_game(env, traits=given).traits
    assert (traits.name, traits.reward_sum, traits.num_actions) == ("mine", RewardSum.GENERAL, 4)


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"players": 2}, "traits has no field 'players': there are reward_sum"),
        (["zero_sum"], "traits must map names of Traits fields to values"),
        (
            {"reward_sum": "zero"},
            "reward_sum must be one of 'zero_sum', 'constant_sum', 'general_sum', not 'zero'",
        ),
    ],
)
def test_wrong_traits(traits: Any, message: str) -> None:
    env = started(Numbers())
    with pytest.raises(InvalidSettingError, match=message):
        as_game(env, traits=traits)


@pytest.mark.thorough
def test_unfinished_play_assumes_and_says_so() -> None:
    class Endless(SmallEnv):
        def play(self, agent: Any, action: int) -> None:
            self.next_agent()

    env = started(Endless(["one", "two"]))
    traits = as_game(env).traits
    assert traits.reward_sum is RewardSum.ZERO
    assert traits.source("reward_sum") is TraitSource.ASSUMED


def test_the_same_environment_gives_the_same_game() -> None:
    env = started(Numbers())
    game = as_game(env)
    env.step(5)
    assert as_game(env) is game
    assert as_game(env, backend="clone") is not game
    assert as_game(env, traits={"information": "hidden"}) is not game


@pytest.mark.thorough
def test_a_reset_with_other_agents_gives_another_game() -> None:
    class Crowd(LastOneStanding):
        def start(self, seed: int | None, options: dict[str, Any]) -> None:
            if "agents" in options:
                self.possible_agents = options["agents"]
                super().reset()

    env = started(Crowd())
    assert as_game(env).traits.seats == 3
    env.reset(options={"agents": ["x", "y", "z", "w"]})
    assert as_game(env).traits.seats == 4


@pytest.mark.thorough
def test_games_do_not_keep_environments_alive() -> None:
    env = started(Numbers())
    game = as_game(env)
    reference = weakref.ref(env)
    del env
    gc.collect()
    assert reference() is None
    assert game.traits.seats == 2


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["np_random", "python", "random", "numpy.random"])
def test_chance_is_found_out_and_never_the_environments_own(source: str) -> None:
    env = started(Dice(source), seed=11)
    global_state = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002 - watched, not used
    game = as_game(env)
    assert game.traits.chance is Chance.SAMPLED
    assert game.traits.source("chance") is TraitSource.SEEN
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


def test_a_step_must_leave_declared_chance_to_the_search() -> None:
    """Else a search takes one outcome for the only one."""

    class NotDeferred(DeclaredDice):
        def play(self, agent: Any, action: int) -> None:
            deferred, self.defer_chance = self.defer_chance, False
            super().play(agent, action)
            self.defer_chance = deferred

    class DrawsIdly(DeclaredDice):
        def play(self, agent: Any, action: int) -> None:
            self.np_random.random()
            super().play(agent, action)

    game = as_game(env := started(NotDeferred(), seed=1))
    with pytest.raises(UnsupportedGameError, match=r"depends on a random number: where defer_chance is set"):
        game.result(game.snapshot(env), 0)
    game = as_game(env := started(DrawsIdly(), seed=1))
    assert game.to_move(game.result(game.snapshot(env), 0)) == CHANCE
    assert game.to_move(game.result(game.snapshot(env), 1)) == 1


@pytest.mark.thorough
def test_probabilities_must_sum_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    env = started(DeclaredDice(), seed=1)
    game = as_game(env)
    monkeypatch.setattr(DeclaredDice, "chance_outcomes", lambda self: [("one", 0.5)] if self.rolling else [])
    with pytest.raises(EnvFailedError, match=r"must be probabilities that sum to 1, but sum to 0\.5"):
        game.result(game.snapshot(env), 0)


class LateDice(Dice):
    """Rolls only on the last of many turns."""

    def __init__(self) -> None:
        super().__init__("np_random", rolls=60)

    def roll(self) -> int:
        return super().roll() if self.turns >= self.rolls else 1


@pytest.mark.thorough
@pytest.mark.alone
def test_a_draw_that_comes_late_is_found() -> None:
    assert as_game(started(LateDice(), seed=0)).traits.chance is Chance.SAMPLED


@pytest.mark.usefixtures("seen_by_nobody")
@pytest.mark.parametrize("begins", [1, 5, 20])
def test_where_time_is_short_the_rest_is_assumed(begins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps, so that patience ends on the way."""
    asked = 0

    def clock() -> float:
        nonlocal asked
        asked += 1
        return time.monotonic() + 60 * (asked > begins)

    monkeypatch.setattr(adapting, "can_fork", lambda: False)
    monkeypatch.setattr(waiting, "time", SimpleNamespace(perf_counter=clock, process_time=clock))
    env = started(CountToSix(goal=8 + begins), seed=0)
    traits = as_game(env).traits
    assert asked > begins
    assert "chance" in traits.assumed
    assert traits.chance is Chance.NONE
    assert traits.reward_sum is RewardSum.ZERO
    with pytest.warns(UnknownTraitWarning, match="is searched on assumptions"):
        assert not AlphaBetaAgent(depth=3).search(env).proven
