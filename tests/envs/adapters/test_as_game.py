"""A game of an environment, played beside the environment itself."""

from __future__ import annotations

import copy
import gc
import importlib
import random
import weakref
from typing import Any

import gymnasium
import numpy as np
import pytest
from doubles.game_envs import (
    DoublingWrapper,
    LastOneStanding,
    Numbers,
    Vectors,
    Walk,
    classic,
    started,
)
from gymnasium import spaces
from pettingzoo.utils import wrappers

from zermelo.agents import GreedyAgent, MCTSAgent
from zermelo.envs import (
    CHANCE,
    IllegalActionError,
    UnsupportedGameError,
    as_game,
    clone_env,
    legal_actions,
    verify_clone,
)
from zermelo.envs.adapters.as_game import register_rules
from zermelo.envs.errors import GameOverError
from zermelo.envs.game import Chance, RewardSum, TraitSource
from zermelo.evaluation import play_match

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
            if game.to_move(state) == CHANCE:
                choices = [outcome for outcome, _ in game.chance_outcomes(state)]
            else:
                choices = list(game.legal_actions(state))
            state = game.result(state, draw.choice(choices))
        assert visible(env) == visible(twin)
        mask = env.observe(env.agent_selection)["action_mask"]
        assert (mask == twin.observe(twin.agent_selection)["action_mask"]).all()
        action = int(draw.choice(np.flatnonzero(mask)))
        env.step(action)
        twin.step(action)
    assert visible(env) == visible(twin)


@pytest.mark.parametrize("backend", ["auto", "clone"])
def test_a_finished_environment_is_a_terminal_state_with_its_last_rewards(backend: str) -> None:
    env = started(classic("tictactoe-v3"), moves=(0, 3, 1, 4, 2))
    game = as_game(env, backend=backend)
    state = game.snapshot(env)
    assert game.is_terminal(state)
    assert game.utility(state) == (1.0, -1.0)
    assert len(game.legal_actions(state)) == 0
    assert legal_actions(env) == []
    with pytest.raises(GameOverError, match="tictactoe_v3 is over"):
        game.result(state, 5)


def test_actions_that_are_not_legal_are_refused() -> None:
    env = started(classic("connect_four-v3"))
    for _ in range(6):
        env.step(3)
    game = as_game(env, backend="clone")
    state = game.snapshot(env)
    with pytest.raises(
        IllegalActionError, match=r"3 is not legal for 'player_0' in connect_four_v3: legal are 0, 1"
    ):
        game.result(state, 3)


def test_initial_state_is_the_start_whatever_the_position() -> None:
    env = started(classic("connect_four-v3"))
    start = as_game(env).key(as_game(env).snapshot(env))
    env.step(3)
    game = as_game(env)
    assert game.key(game.initial_state()) == start
    assert game.key(game.snapshot(env)) != start


def test_human_rendering_is_left_to_the_live_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = started(classic("connect_four-v3", render_mode="human"))
    game = as_game(env, backend="clone")
    monkeypatch.setattr(type(env.unwrapped), "render", lambda self: pytest.fail("a search draws nothing"))
    state = game.result(game.snapshot(env), 3)
    assert state.env.render_mode is None
    assert env.unwrapped.render_mode == "human"
    env.close()


# -- registered rules -------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_registered_rules_come_first_for_exactly_that_class() -> None:
    class Own(Numbers):
        pass

    class Changed(Own):
        pass

    env = started(Own(length=2))
    rules = as_game(clone_env(env))
    register_rules(Own, lambda raw: rules if raw.length == 2 else None)
    assert as_game(env) is rules
    assert as_game(env, backend="rules") is rules
    assert as_game(env, backend="clone") is not rules
    other = started(Own(length=3))
    assert as_game(other) is not rules
    with pytest.raises(UnsupportedGameError, match="no rules are registered for numbers_v0"):
        as_game(other, backend="rules")
    changed = started(Changed(length=2))
    assert as_game(changed) is not rules
    wrapped = started(wrappers.OrderEnforcingWrapper(Own(length=2)))
    assert as_game(wrapped) is rules


@pytest.mark.thorough
def test_an_environment_may_go_after_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of Python, which empties modules before it lets their last objects go."""
    env = started(LastOneStanding())
    as_game(env)
    monkeypatch.setattr(importlib.import_module("zermelo.envs.adapters.live_games"), "LIVE_GAMES", None)
    monkeypatch.setattr(importlib.import_module("zermelo.envs.adapters.as_game"), "LIVE_GAMES", None)
    reference = weakref.ref(env)
    del env
    gc.collect()  # what a weak reference's callback raises fails the test
    assert reference() is None


def test_a_deep_copy_lost_its_game_and_the_message_knows() -> None:
    env = started(classic("connect_four-v3"))
    with pytest.raises(UnsupportedGameError, match=r"copy by copy\.deepcopy, .* use zermelo\.envs\.clone_env$"):
        as_game(copy.deepcopy(env))


def test_an_environment_that_lacks_what_aec_environments_have() -> None:
    env = started(Numbers())
    del env.rewards, env.infos
    with pytest.raises(UnsupportedGameError, match=r"'left' to move, but no rewards and no infos, which an AEC"):
        as_game(env)


def test_what_play_was_given_no_time_to_show_is_assumed_and_found_out_later() -> None:
    class Numbers2(Numbers):
        pass

    env = started(Numbers2(), seed=1)
    first = as_game(env, patience=0.0).traits
    assert set(first.assumed) == {"chance", "reward_sum"}
    assert first.chance is Chance.NONE
    assert first.reward_sum is RewardSum.ZERO
    game = as_game(env)
    assert "as nothing was played" in first.evidence["chance"].text
    assert game.traits.evidence["chance"].text.startswith("no chance in ")
    assert game.traits.sources["chance"] is TraitSource.ASSUMED
    assert game.traits.reward_sum is RewardSum.CONSTANT
    env.step(5)
    assert as_game(env, patience=0.0) is game


def test_who_is_to_move_is_asked_once_what_it_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the mask that is slow in some environments; others are asked each time."""
    env = started(classic("tictactoe-v3"))
    game = as_game(env, backend="clone")
    raw, asked = type(env.unwrapped), list[Any]()
    observe = raw.observe
    monkeypatch.setattr(raw, "observe", lambda self, agent: asked.append(agent) or observe(self, agent))
    state = game.result(game.snapshot(env), 4)
    asked.clear()
    seen = [game.observation(state, seat).sum() for seat in (1, 0, 1, 0)]
    assert seen[0] == seen[2]
    assert asked == ["player_2", "player_1", "player_1"]


class OldGym(gymnasium.Env[Any, Any]):
    """Steps as Gym did before 0.26: four values, and none but the observation from reset."""

    action_space: Any = spaces.Discrete(2)
    observation_space: Any = spaces.Discrete(9)

    def reset(self, seed: Any = None, options: Any = None) -> Any:
        self.turns = 0
        return 0

    def step(self, action: Any) -> Any:  # type: ignore[override]
        self.turns += 1
        return self.turns, float(action), self.turns == 3, {}


def test_what_gym_returned_is_understood() -> None:
    env = OldGym()
    env.reset()
    assert MCTSAgent(simulations=60, traits={"information": "perfect"}).act(env) == 1
    assert as_game(env).initial_state().info == {}
    record = play_match(OldGym(), [GreedyAgent(traits={"information": "perfect"})], seed=0)
    assert record.rewards == (3.0,)
    verify_clone(OldGym, games=2)
