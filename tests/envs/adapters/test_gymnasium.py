"""Gymnasium's environments: exact ones from their table, others through copies."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from doubles.game_envs import started
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from zermelo.envs import CHANCE, IllegalActionError, UnsupportedGameError, as_game, legal_actions
from zermelo.envs.adapters.gymnasium import GymGame
from zermelo.envs.adapters.transition_table import TableGame
from zermelo.envs.errors import EnvFailedError, GameOverError
from zermelo.envs.game import Chance, RewardSum, TraitSource

TABLES = [
    ("FrozenLake-v1", {}, Chance.EXACT),
    ("FrozenLake-v1", {"is_slippery": False}, Chance.NONE),
    ("FrozenLake-v1", {"map_name": "8x8"}, Chance.EXACT),
    ("Taxi-v4", {}, Chance.NONE),
    ("Taxi-v4", {"is_rainy": True}, Chance.EXACT),
    ("CliffWalking-v1", {}, Chance.NONE),
    ("CliffWalking-v1", {"is_slippery": True}, Chance.EXACT),
]


def made(name: str, seed: int = 0, **parameters: Any) -> Any:
    return started(gymnasium.make(name, **parameters), seed=seed)


def backup(game: Any, state: Any, values: Any) -> list[float]:
    """For each action, its expected reward plus the value of where it leads, over the game's own chance."""
    totals = []
    for action in game.legal_actions(state):
        after = game.result(state, action)
        if game.to_move(after) == CHANCE:
            branches = [(p, game.result(after, outcome)) for outcome, p in game.chance_outcomes(after)]
            assert sum(p for p, _ in branches) == pytest.approx(1)
        else:
            branches = [(1.0, after)]
        totals.append(
            sum(p * (s.total - state.total + (0 if game.is_terminal(s) else values[s.state])) for p, s in branches)
        )
    return totals


@pytest.mark.parametrize(("name", "parameters", "chance"), TABLES)
def test_one_backup_over_the_game_is_one_over_the_table(
    name: str, parameters: dict[str, Any], chance: Chance
) -> None:
    env = made(name, **parameters)
    game = as_game(env)
    assert isinstance(game, TableGame)
    assert game.traits.chance is chance
    assert game.traits.reward_sum is RewardSum.GENERAL
    table = env.unwrapped.P
    values = np.random.default_rng(0).normal(size=len(table))
    checked = 0
    for number in table:
        env.unwrapped.s = number
        state = game.snapshot(env)
        if game.is_terminal(state):
            assert all(s == number and over and not r for t in table[number].values() for _, s, r, over in t)
            continue
        checked += 1
        expected = [
            sum(p * (r + (0 if over else values[s])) for p, s, r, over in table[number][action])
            for action in sorted(table[number])
        ]
        assert backup(game, state, values) == pytest.approx(expected)
    assert checked > 8


def test_equal_outcomes_are_merged() -> None:
    env = made("FrozenLake-v1")
    game = as_game(env)
    corner = game.result(game.snapshot(env), 0)
    assert game.chance_outcomes(corner) == ((0, pytest.approx(2 / 3)), (1, pytest.approx(1 / 3)))
    with pytest.raises(IllegalActionError, match="2 is not a chance outcome: there are 2"):
        game.result(corner, 2)


def test_a_time_limit_is_part_of_a_transition_tables_game() -> None:
    env = started(TimeLimit(made("FrozenLake-v1", is_slippery=False), 3), seed=0)
    env.step(0)
    game = as_game(env)
    assert isinstance(game, TableGame)
    start = game.snapshot(env)
    once = game.result(start, 0)
    twice = game.result(once, 0)
    assert game.key(once) != game.key(start)
    assert not game.is_terminal(once)
    assert game.is_terminal(twice)
    with pytest.raises(GameOverError, match="FrozenLake-v1 is over"):
        game.result(twice, 0)


def test_the_table_plays_as_the_environment_does() -> None:
    env = made("CliffWalking-v1")
    game = as_game(env)
    state = game.snapshot(env)
    total = 0.0
    for action in [0, *[1] * 11, 2]:
        state = game.result(state, action)
        _, reward, terminated, _, _ = env.step(action)
        total += float(reward)
        assert (state.state, game.utility(state), game.is_terminal(state)) == (
            env.unwrapped.s,
            (total,),
            terminated,
        )
    assert game.utility(state) == (-13.0,)
    with pytest.raises(IllegalActionError, match="7 is not legal in CliffWalking-v1: legal are 0, 1, 2, 3"):
        game.result(game.initial_state(), 7)


@pytest.mark.thorough
def test_a_table_under_a_wrapper_that_changes_rewards_is_not_used() -> None:
    env = started(
        gymnasium.wrappers.TransformReward(gymnasium.make("FrozenLake-v1"), lambda reward: 10 * reward), seed=0
    )
    assert isinstance(as_game(env), GymGame)
    assert as_game(env).traits.chance is Chance.SAMPLED


@pytest.mark.thorough
def test_fickle_passengers_are_not_in_the_table() -> None:
    assert isinstance(as_game(made("Taxi-v4", fickle_passenger=True)), GymGame)


@pytest.mark.thorough
def test_the_clone_of_a_table_environment_is_sampled() -> None:
    env = made("FrozenLake-v1")
    game = as_game(env, backend="clone")
    assert game.traits.chance is Chance.SAMPLED
    assert game.traits.source("chance") is TraitSource.SEEN
    assert len({game.result(game.snapshot(env), 2).env.unwrapped.s for _ in range(60)}) == 3


@pytest.mark.thorough
def test_blackjack_is_sampled_without_a_look_at_the_hole_card() -> None:
    env = made("Blackjack-v1", seed=1)
    raw = env.unwrapped
    raw.player, raw.dealer = [10, 10], [10, 1]
    game = as_game(env)
    assert game.traits.chance is Chance.SAMPLED
    state = game.snapshot(env)
    generator = np.random.default_rng(0)
    outcomes = [game.utility(game.sample_result(state, 0, generator))[0] for _ in range(3000)]
    # Standing on 20 against a ten: the dealer, drawing to 17 from an endless deck, is computed here by recursion.
    win, _, loss = dealer_against(20, 10)
    assert np.mean(outcomes) == pytest.approx(win - loss, abs=0.05)
    assert raw.dealer == [10, 1]
    other = made("Blackjack-v1", seed=1)
    other.unwrapped.player, other.unwrapped.dealer = [10, 10], [10, 6]
    assert game.key(game.snapshot(other)) == game.key(state)


def dealer_against(player: int, card: int) -> tuple[float, float, float]:
    """The chances that the player wins, draws and loses on standing."""
    deck = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]

    def play(total: int, ace: bool) -> np.ndarray[Any, Any]:
        best = total + 10 if ace and total + 10 <= 21 else total
        if best >= 17:
            return np.array([best > 21 or best < player, best == player, player < best <= 21], dtype=float)
        return np.mean([play(total + drawn, ace or drawn == 1) for drawn in deck], axis=0)

    first = np.mean([play(card + drawn, 1 in (card, drawn)) for drawn in deck], axis=0)
    return tuple(first)


class Corridor(gymnasium.Env):
    """Walk left or right along five cells; the mask, in the info and from ``action_masks``, stops at the walls."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, mask_in: str = "info") -> None:
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Discrete(5)
        self.mask_in = mask_in

    def _mask(self) -> Any:
        return np.array([self.place > 0, self.place < 4], dtype=np.int8)

    def _get_info(self) -> dict[str, Any]:
        return {"action_mask": self._mask()} if self.mask_in == "info" else {}

    def __getattr__(self, name: str) -> Any:
        if name == "action_masks" and self.__dict__.get("mask_in") == "method":
            return self._mask
        raise AttributeError(name)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place = 1
        return self.place, self._get_info()

    def step(self, action: int) -> Any:
        if action == 1 and self.place == 3:
            raise RuntimeError("the floor is wet")
        self.place += 1 if action else -1
        return self.place, float(self.place), self.place == 0, False, self._get_info()


@pytest.mark.parametrize("mask_in", ["info", "method"])
def test_masks(mask_in: str) -> None:
    env = started(Corridor(mask_in), seed=0)
    env.place = 4
    game = as_game(env)
    state = game.snapshot(env)
    assert game.legal_actions(state) == (0,)
    assert legal_actions(env) == [0]
    with pytest.raises(IllegalActionError, match="1 is not legal in Corridor: legal are 0"):
        game.result(state, 1)
    assert game.legal_actions(game.result(state, 0)) == (0, 1)


def test_an_episode() -> None:
    env = started(Corridor(), seed=0)
    game = as_game(env)
    state = game.snapshot(env)
    assert game.traits.chance is Chance.NONE
    assert not game.traits.terminal_rewards_only
    right = game.result(state, 1)
    assert (right.env.place, env.place, game.utility(right)) == (2, 1, (2.0,))
    back = game.result(right, 0)
    assert game.key(back) == game.key(state)
    over = game.result(back, 0)
    assert game.is_terminal(over)
    assert game.utility(over) == (3.0,)
    assert game.legal_actions(over) == ()
    with pytest.raises(GameOverError, match="Corridor is over"):
        game.result(over, 0)
    wet = game.result(right, 1)
    with pytest.raises(EnvFailedError, match=r"Corridor raised RuntimeError in step\(1\).*the floor is wet"):
        game.result(wet, 1)


def test_a_time_limit_is_part_of_a_copied_game() -> None:
    env = started(gymnasium.wrappers.TimeLimit(Corridor(), 2), seed=0)
    game = as_game(env)
    state = game.result(game.snapshot(env), 1)
    assert not game.is_terminal(state)
    assert game.is_terminal(game.result(state, 0))


@pytest.mark.thorough
def test_cart_pole_goes_on_as_the_live_one_does() -> None:
    env = made("CartPole-v1", seed=4)
    game = as_game(env)
    assert as_game(env) is game
    state = game.snapshot(env)
    for action in (0, 1, 1, 0, 1, 0):
        state = game.result(state, action)
        observation, *_ = env.step(action)
        assert np.allclose(state.env.unwrapped.state, observation, atol=1e-6)


def test_an_environment_that_is_not_reset() -> None:
    with pytest.raises(UnsupportedGameError, match="FrozenLake-v1 has not been reset"):
        as_game(gymnasium.make("FrozenLake-v1"))


@pytest.mark.thorough
def test_a_reset_without_a_seed_is_named_with_its_remedy() -> None:
    class Old(gymnasium.Env[Any, Any]):
        action_space = gymnasium.spaces.Discrete(2)
        observation_space = gymnasium.spaces.Discrete(2)

        def reset(self) -> Any:  # type: ignore[override]  # the mistake that is meant
            return 0

        def step(self, action: int) -> Any:
            return 0, 0.0, False, False, {}

    game = as_game(
        Old(), traits={"chance": "deterministic", "information": "perfect", "terminal_rewards_only": True}
    )
    with pytest.raises(EnvFailedError, match=r"TypeError in reset\(seed=0\) .* give it a reset\(self, seed=None"):
        game.initial_state()
