"""A game of an environment, played beside the environment itself."""

from __future__ import annotations

import copy
import gc
import importlib
import random
import sys
import time
import weakref
from typing import Any

import numpy as np
import pettingzoo
import pytest
from doubles.game_envs import (
    Broken,
    DeclaredDice,
    Dice,
    LastOneStanding,
    Numbers,
    SmallEnv,
    Vectors,
    Walk,
)
from gymnasium import spaces
from pettingzoo.utils import wrappers

from zermelo.envs import (
    CHANCE,
    Chance,
    EnvFailedError,
    GameOverError,
    IllegalActionError,
    Information,
    InvalidSettingError,
    RewardSum,
    Traits,
    TraitSource,
    UnsupportedGameError,
    as_game,
    clone_env,
    legal_actions,
    register_rules,
)
from zermelo.envs.adapters.actions import MAX_ENUMERATED_ACTIONS
from zermelo.envs.adapters.facts.inference import infer


def classic(name: str, **parameters: Any) -> Any:
    return pettingzoo.make("aec", f"classic/{name}", **parameters)


PERFECT = {
    "tictactoe": (lambda: classic("tictactoe-v3"), 40, 9),
    "connect_four": (lambda: classic("connect_four-v3"), 20, 42),
    "chess": (lambda: classic("chess-v6"), 4, 120),
    "go": (lambda: classic("go-v5", board_size=4), 4, 80),
    "last_one_standing": (LastOneStanding, 40, 20),
    "numbers": (Numbers, 40, 20),
    "numbers_bool": (lambda: Numbers(mask_type=bool), 10, 20),
    "numbers_float": (lambda: Numbers(mask_type=float), 10, 20),
    "walk": (Walk, 10, 10),
    "ordered": (lambda: wrappers.OrderEnforcingWrapper(Numbers()), 10, 20),
    "multi_discrete": (lambda: Vectors(spaces.MultiDiscrete([2, 3], start=[4, -1])), 10, 4),
    "multi_discrete_2d": (lambda: Vectors(spaces.MultiDiscrete([[2, 1], [3, 2]])), 10, 4),
    "multi_binary": (lambda: Vectors(spaces.MultiBinary((2, 2))), 10, 4),
    "subclassed_wrapper": (lambda: DoublingWrapper(Numbers()), 10, 20),
}


class DoublingWrapper(wrappers.BaseWrapper):
    """A wrapper that is part of the game: it doubles the rewards."""

    @property
    def rewards(self) -> Any:
        return {agent: 2 * reward for agent, reward in self.env.rewards.items()}


def visible(env: Any) -> Any:
    """All that the agents' loop can see of an environment."""
    return (
        list(env.agents),
        env.agent_selection if env.agents else None,
        dict(env.rewards),
        dict(env.terminations),
        dict(env.truncations),
    )


def env_mask_actions(env: Any) -> list[Any]:
    """The legal actions as the agents' loop finds them, independently of the package."""
    agent = env.agent_selection
    observation = env.observe(agent)
    space = env.action_space(agent)
    mask = observation.get("action_mask") if isinstance(observation, dict) else None
    mask = env.infos[agent].get("action_mask") if mask is None else mask
    if isinstance(space, spaces.Discrete):
        allowed = range(space.n) if mask is None else np.flatnonzero(np.asarray(mask))
        return [int(space.start + i) for i in allowed]
    assert mask is None
    if isinstance(space, spaces.MultiBinary):
        return [np.array(i).tolist() for i in np.ndindex(*[2] * int(np.prod(space.shape)))]
    return [(np.array(i) + np.ravel(space.start)).tolist() for i in np.ndindex(*np.ravel(space.nvec))]


@pytest.mark.parametrize("name", PERFECT)
@pytest.mark.parametrize(("seed", "backend"), [(0, "clone"), (1, "clone"), (2, "auto")])
def test_the_game_plays_as_the_environment_does(name: str, seed: int, backend: str) -> None:
    make, games, longest = PERFECT[name]
    draw = random.Random(seed)
    env = make()
    for number in range(games // 2):
        env.reset(seed=1000 * seed + number)
        game = as_game(env, backend=backend)
        state = game.snapshot(env)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for _ in range(longest):
            assert not game.is_terminal(state)
            agent = env.possible_agents[game.to_move(state)]
            assert agent == env.agent_selection
            actions = game.legal_actions(state)
            shown = [np.ravel(game.to_env_action(state, a)).tolist() for a in actions]
            expected = [np.ravel(a).tolist() for a in env_mask_actions(env)]
            assert shown == expected, (name, seed, number)
            assert [np.ravel(a).tolist() for a in legal_actions(env)] == expected
            assert list(actions) == sorted(actions)
            action = draw.choice(list(actions))
            before = game.key(state)
            following = game.result(state, action)
            assert game.key(state) == before
            env.step(game.to_env_action(state, action))
            for paid, reward in env.rewards.items():
                totals[paid] += reward
            while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
                env.step(None)
            state = following
            assert game.utility(state) == pytest.approx(tuple(totals.values())), (name, seed, number)
            assert game.is_terminal(state) == (not env.agents)
            if not env.agents:
                break


@pytest.mark.parametrize("name", ["tictactoe-v3", "connect_four-v3", "chess-v6", "leduc_holdem-v4", "hanabi-v5"])
def test_search_leaves_the_live_environment_as_it_was(name: str) -> None:
    env, twin = classic(name), classic(name)
    for e in (env, twin):
        e.reset(seed=5)
    draw = random.Random(3)
    for _ in range(6):
        if not env.agents or env.terminations[env.agent_selection]:
            break
        backend = "clone" if name == "hanabi-v5" else "auto"  # else chance is a player of its own there
        game = as_game(env, backend=backend, traits={"information": "perfect"})
        state = game.snapshot(env)
        for _ in range(4):
            if game.is_terminal(state):
                break
            state = game.result(state, draw.choice(list(game.legal_actions(state))))
        assert visible(env) == visible(twin)
        mask = env.observe(env.agent_selection)["action_mask"]
        assert (mask == twin.observe(twin.agent_selection)["action_mask"]).all()
        action = int(draw.choice(np.flatnonzero(mask)))
        env.step(action)
        twin.step(action)
    assert visible(env) == visible(twin)


def test_a_state_is_never_changed_by_its_results() -> None:
    env = classic("connect_four-v3")
    env.reset()
    game = as_game(env, backend="clone")
    state = game.snapshot(env)
    board = list(state.env.board)
    for action in game.legal_actions(state):
        game.result(state, action)
    assert state.env.board == board
    assert game.legal_actions(state) == tuple(range(7))


def test_the_agent_iter_loop_goes_on_after_a_search() -> None:
    env = classic("tictactoe-v3")
    env.reset(seed=0)
    for agent in env.agent_iter():
        _, _, terminated, truncated, _ = env.last()
        action = None
        if not (terminated or truncated):
            game = as_game(env)
            state = game.snapshot(env)
            assert env.possible_agents[game.to_move(state)] == agent
            action = game.legal_actions(state)[0]
            game.result(state, action)
        env.step(action)
    assert not env.agents


@pytest.mark.parametrize("backend", ["auto", "clone"])
def test_a_finished_environment_is_a_terminal_state_with_its_last_rewards(backend: str) -> None:
    env = classic("tictactoe-v3")
    env.reset()
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    game = as_game(env, backend=backend)
    state = game.snapshot(env)
    assert game.is_terminal(state)
    assert game.utility(state) == (1.0, -1.0)
    assert len(game.legal_actions(state)) == 0
    assert legal_actions(env) == []


def test_nothing_follows_the_end() -> None:
    env = classic("tictactoe-v3")
    env.reset()
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    game = as_game(env, backend="clone")
    with pytest.raises(GameOverError, match="tictactoe_v3 is over"):
        game.result(game.snapshot(env), 5)


def test_actions_that_are_not_legal_are_refused() -> None:
    env = classic("connect_four-v3")
    env.reset()
    for _ in range(6):
        env.step(3)
    game = as_game(env, backend="clone")
    state = game.snapshot(env)
    with pytest.raises(
        IllegalActionError, match=r"3 is not legal for 'player_0' in connect_four_v3: legal are 0, 1"
    ):
        game.result(state, 3)


def test_after_an_illegal_end_the_state_is_terminal() -> None:
    env = classic("tictactoe-v3")
    env.reset()
    env.step(0)
    env.step(0)
    game = as_game(env)
    assert game.is_terminal(game.snapshot(env))


def test_initial_state_is_the_start_whatever_the_position() -> None:
    env = classic("connect_four-v3")
    env.reset()
    start = as_game(env).key(as_game(env).snapshot(env))
    env.step(3)
    game = as_game(env)
    assert game.key(game.initial_state()) == start
    assert game.key(game.snapshot(env)) != start


def test_human_rendering_is_left_to_the_live_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = classic("connect_four-v3", render_mode="human")
    env.reset()
    game = as_game(env, backend="clone")
    monkeypatch.setattr(type(env.unwrapped), "render", lambda self: pytest.fail("a search draws nothing"))
    state = game.result(game.snapshot(env), 3)
    assert state.env.render_mode is None
    assert env.unwrapped.render_mode == "human"
    env.close()


# -- chance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["np_random", "python", "random", "numpy.random"])
def test_chance_is_found_out_and_never_the_environments_own(source: str) -> None:
    env = Dice(source)
    env.reset(seed=11)
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
    env = Dice(source)
    env.reset(seed=11)
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
        env = Dice(source)
        env.reset(seed=seed)
        game = as_game(env)
        generator = np.random.default_rng(0)
        drawn.append([game.sample_result(game.snapshot(env), 0, generator).env.faces[-1] for _ in range(20)])
    assert drawn[0] == drawn[1]


def test_declared_chance_is_exact() -> None:
    env = DeclaredDice()
    env.reset(seed=1)
    game = as_game(env)
    assert game.traits.chance is Chance.EXACT
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


def test_declared_chance_with_the_clone_backend_is_the_same_game() -> None:
    env = DeclaredDice()
    env.reset(seed=1)
    assert as_game(env, backend="clone").traits.chance is Chance.EXACT


def test_probabilities_must_sum_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    env = DeclaredDice()
    env.reset(seed=1)
    game = as_game(env)
    monkeypatch.setattr(DeclaredDice, "chance_outcomes", lambda self: [("one", 0.5)] if self.rolling else [])
    with pytest.raises(EnvFailedError, match=r"must be probabilities that sum to 1, but sum to 0\.5"):
        game.result(game.snapshot(env), 0)


# -- traits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: classic("tictactoe-v3"), (RewardSum.ZERO, Chance.NONE, Information.PERFECT, True)),
        (lambda: classic("chess-v6"), (RewardSum.ZERO, Chance.NONE, Information.PERFECT, True)),
        (lambda: classic("go-v5"), (RewardSum.ZERO, Chance.NONE, Information.PERFECT, True)),
        (Numbers, (RewardSum.CONSTANT, Chance.NONE, Information.PERFECT, True)),
        (LastOneStanding, (RewardSum.GENERAL, Chance.NONE, Information.PERFECT, False)),
        (Walk, (RewardSum.GENERAL, Chance.NONE, Information.PERFECT, False)),
        (Dice, (RewardSum.ZERO, Chance.SAMPLED, Information.PERFECT, True)),
    ],
)
def test_traits_are_found_out(make: Any, expected: Any) -> None:
    env = make()
    env.reset(seed=0)
    traits = as_game(env).traits
    assert (traits.reward_sum, traits.chance, traits.information, traits.terminal_rewards_only) == expected
    assert traits.seats == len(env.possible_agents)
    assert traits.seat_names == tuple(map(str, env.possible_agents))


@pytest.mark.parametrize(
    "name", ["leduc_holdem-v4", "texas_holdem-v4", "texas_holdem_no_limit-v6", "hanabi-v5", "rps-v2"]
)
def test_hidden_information_is_known(name: str) -> None:
    env = classic(name)
    env.reset(seed=0)
    assert as_game(env).traits.information is Information.HIDDEN
    traits = as_game(env, backend="environment").traits
    assert traits.information is Information.HIDDEN
    assert traits.source("information") is TraitSource.KNOWN
    assert len(legal_actions(env)) > 0


def test_simultaneous_moves_are_hidden_information() -> None:
    from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec

    env = parallel_to_aec(aec_to_parallel(classic("rps-v2")))
    env.reset(seed=0)
    assert as_game(env).traits.information is Information.HIDDEN


def test_a_kept_wrapper_does_not_hide_hidden_information() -> None:
    env = DoublingWrapper(classic("leduc_holdem-v4"))
    env.reset(seed=0)
    assert as_game(env).traits.information is Information.HIDDEN


def test_the_constant_of_a_constant_sum_is_found() -> None:
    env = Numbers(total=3.0)
    env.reset()
    assert as_game(env).traits.constant == pytest.approx(3.0)


def test_sources_in_order_of_trust() -> None:
    env = Numbers()
    env.zermelo_traits = {"utility_bounds": (0, 1), "information": "hidden"}
    env.reset()
    traits = as_game(env, traits={"information": "perfect"}).traits
    assert traits.information is Information.PERFECT
    assert traits.source("information") is TraitSource.GIVEN
    assert traits.utility_bounds == (0, 1)
    assert traits.source("utility_bounds") is TraitSource.DECLARED
    assert traits.source("reward_sum") is TraitSource.INFERRED
    assert as_game(env).traits.information is Information.HIDDEN


def test_traits_declared_in_metadata() -> None:
    class Declaring(Numbers):
        metadata = {**Numbers.metadata, "zermelo_traits": {"reward_sum": "general_sum"}}  # noqa: RUF012 - as PettingZoo

    env = Declaring()
    env.reset()
    traits = as_game(env).traits
    assert traits.reward_sum is RewardSum.GENERAL
    assert traits.source("reward_sum") is TraitSource.DECLARED


def test_whole_traits_can_be_given() -> None:
    env = Numbers()
    env.reset()
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
    env = Numbers()
    env.reset()
    with pytest.raises(InvalidSettingError, match=message):
        as_game(env, traits=traits)


def test_unfinished_play_assumes_and_says_so() -> None:
    class Endless(SmallEnv):
        def play(self, agent: Any, action: int) -> None:
            self.next_agent()

    env = Endless(["one", "two"])
    env.reset()
    traits = as_game(env).traits
    assert traits.reward_sum is RewardSum.ZERO
    assert traits.source("reward_sum") is TraitSource.ASSUMED


def test_inference_is_remembered_for_a_configuration_and_only_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Paying(Numbers):
        pass

    calls = []

    def counting(*arguments: Any) -> Any:
        calls.append(arguments)
        return infer(*arguments)

    monkeypatch.setattr(sys.modules["zermelo.envs.adapters.facts.found_traits"], "infer", counting)
    for total in (1.0, 1.0, 0.0, 1.0):
        env = Paying(total=total)
        env.reset()
        expected = RewardSum.CONSTANT if total else RewardSum.ZERO
        assert as_game(env).traits.reward_sum is expected
    assert len(calls) == 2


def test_the_same_environment_gives_the_same_game() -> None:
    env = Numbers()
    env.reset()
    game = as_game(env)
    env.step(5)
    assert as_game(env) is game
    assert as_game(env, backend="clone") is not game
    assert as_game(env, traits={"information": "hidden"}) is not game


def test_a_reset_with_other_options_gives_another_game() -> None:
    env = Numbers()
    env.reset()
    game = as_game(env)
    env.reset(options={"length": 2})
    assert as_game(env) is not game


def test_a_reset_with_other_agents_gives_another_game() -> None:
    class Crowd(LastOneStanding):
        def start(self, seed: int | None, options: dict[str, Any]) -> None:
            if "agents" in options:
                self.possible_agents = options["agents"]
                super().reset()

    env = Crowd()
    env.reset()
    assert as_game(env).traits.seats == 3
    env.reset(options={"agents": ["x", "y", "z", "w"]})
    assert as_game(env).traits.seats == 4


def test_games_do_not_keep_environments_alive() -> None:
    env = Numbers()
    env.reset()
    game = as_game(env)
    reference = weakref.ref(env)
    del env
    gc.collect()
    assert reference() is None
    assert game.traits.seats == 2


# -- what cannot be searched ------------------------------------------------------------------------------------


def test_what_is_not_an_environment() -> None:
    with pytest.raises(UnsupportedGameError, match="cannot see a game in str object 'chess'"):
        as_game("chess")
    with pytest.raises(UnsupportedGameError, match="Numbers is a class: make an environment of it"):
        as_game(Numbers)
    with pytest.raises(UnsupportedGameError, match="cannot see a game in int object 42"):
        as_game(42)


def test_a_parallel_environment() -> None:
    env = pettingzoo.make("parallel", "classic/rps-v2")
    env.reset(seed=0)
    with pytest.raises(UnsupportedGameError, match="rps_v2 is a parallel environment"):
        as_game(env)


@pytest.mark.parametrize(
    "make",
    [
        lambda: classic("tictactoe-v3"),
        lambda: classic("tictactoe-v3").unwrapped,
        lambda: classic("chess-v6"),
        Numbers,
    ],
)
def test_an_environment_that_is_not_reset(make: Any) -> None:
    with pytest.raises(UnsupportedGameError, match=r"has not been reset: call env\.reset\(\) first"):
        as_game(make())


def test_no_such_backend() -> None:
    offered = "'auto', 'rules', 'environment', 'clone'"
    with pytest.raises(InvalidSettingError, match=f"backend must be one of {offered}, not 'fast'"):
        as_game(Numbers(), backend="fast")


def test_an_error_in_the_environment_names_it_and_keeps_the_error() -> None:
    env = Broken("raises")
    env.reset()
    game = as_game(env)
    state = game.snapshot(env)
    game.result(state, 0)
    with pytest.raises(
        EnvFailedError, match=r"broken_v0 raised RuntimeError in step\(2\).*the cat walked"
    ) as error:
        game.result(state, 2)
    assert isinstance(error.value.__cause__, RuntimeError)


def test_a_mask_that_allows_nothing() -> None:
    env = Broken("empty_mask")
    env.reset()
    game = as_game(env)
    stuck = game.result(game.snapshot(env), 0)
    with pytest.raises(GameOverError, match="broken_v0 is not over, but the action mask of 'two'"):
        game.legal_actions(stuck)


def test_a_dead_agent_that_stays() -> None:
    env = Broken("stuck")
    env.reset()
    game = as_game(env)
    with pytest.raises(EnvFailedError, match="is dead and stays selected"):
        game.result(game.snapshot(env), 0)


def test_an_action_space_without_end() -> None:
    env = Vectors(spaces.Box(0, 1))
    env.reset()
    with pytest.raises(UnsupportedGameError, match="cannot be enumerated"):
        as_game(env)


def test_an_action_space_too_great() -> None:
    env = Vectors(spaces.MultiBinary(30))
    env.reset()
    with pytest.raises(UnsupportedGameError, match=f"at most {MAX_ENUMERATED_ACTIONS:,}"):
        as_game(env).legal_actions(as_game(env).snapshot(env))


def test_an_agent_that_is_not_possible() -> None:
    class Stranger(Numbers):
        def play(self, agent: Any, action: int) -> None:
            super().play(agent, action)
            self.rewards["late"] = 0
            self._cumulative_rewards["late"] = 0
            if not self.terminations["left"] and self.turns == 2:
                self.agents.append("late")
                self.terminations["late"] = self.truncations["late"] = False
                self.agent_selection = "late"

    env = Stranger()
    env.reset()
    game = as_game(env)
    state = game.snapshot(env)
    state = game.result(state, 8)
    with pytest.raises(UnsupportedGameError, match="agent 'late' of numbers_v0 is not among the possible agents"):
        game.result(state, 8)


def test_a_game_is_returned_as_it_is() -> None:
    env = Numbers()
    env.reset()
    game = as_game(env)
    assert as_game(game) is game
    with pytest.raises(InvalidSettingError, match="AECGame, which is a game with traits of its own"):
        as_game(game, traits={"information": "hidden"})


# -- registered rules -------------------------------------------------------------------------------------------


def test_registered_rules_come_first_for_exactly_that_class() -> None:
    class Own(Numbers):
        pass

    class Changed(Own):
        pass

    env = Own(length=2)
    env.reset()
    rules = as_game(clone_env(env))
    register_rules(Own, lambda raw: rules if raw.length == 2 else None)
    assert as_game(env) is rules
    assert as_game(env, backend="rules") is rules
    assert as_game(env, backend="clone") is not rules
    other = Own(length=3)
    other.reset()
    assert as_game(other) is not rules
    with pytest.raises(UnsupportedGameError, match="no rules are registered for numbers_v0"):
        as_game(other, backend="rules")
    changed = Changed(length=2)
    changed.reset()
    assert as_game(changed) is not rules
    wrapped = wrappers.OrderEnforcingWrapper(Own(length=2))
    wrapped.reset()
    assert as_game(wrapped) is rules


def test_an_environment_may_go_after_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of Python, which empties modules before it lets their last objects go."""
    env = LastOneStanding()
    env.reset()
    as_game(env)
    monkeypatch.setattr(importlib.import_module("zermelo.envs.adapters.as_game"), "_games", None)
    reference = weakref.ref(env)
    del env
    gc.collect()  # what a weak reference's callback raises fails the test
    assert reference() is None


def test_a_deep_copy_lost_its_game_and_the_message_knows() -> None:
    env = classic("connect_four-v3")
    env.reset()
    with pytest.raises(UnsupportedGameError, match=r"copy by copy\.deepcopy, .* use zermelo\.envs\.clone_env$"):
        as_game(copy.deepcopy(env))


def test_an_environment_that_lacks_what_aec_environments_have() -> None:
    env = Numbers()
    env.reset()
    del env.rewards, env.infos
    with pytest.raises(UnsupportedGameError, match=r"'left' to move, but no rewards and no infos, which an AEC"):
        as_game(env)


def test_a_slow_environment_is_not_played_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000_000))
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    steps: list[int] = []

    class Counting(Numbers):
        def step(self, action: Any) -> None:
            steps.append(action)
            super().step(action)

    env = Counting()
    env.reset(seed=1)
    assert as_game(env).traits.sources["chance"] is TraitSource.INFERRED
    few = len(steps)
    monkeypatch.undo()

    class Quick(Counting):
        pass

    other = Quick()
    other.reset(seed=1)
    as_game(other)
    assert few < len(steps) - few


def test_who_is_to_move_is_asked_once_what_it_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the mask that is slow in some environments; others are asked each time."""
    env = classic("tictactoe-v3")
    env.reset()
    game = as_game(env, backend="clone")
    raw, asked = type(env.unwrapped), list[Any]()
    observe = raw.observe
    monkeypatch.setattr(raw, "observe", lambda self, agent: asked.append(agent) or observe(self, agent))
    state = game.result(game.snapshot(env), 4)
    asked.clear()
    seen = [game.observation(state, seat).sum() for seat in (1, 0, 1, 0)]
    assert seen[0] == seen[2]
    assert asked == ["player_2", "player_1", "player_1"]
