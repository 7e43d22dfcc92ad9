"""Environments over rules: what agents see, what they are paid, chance and copies."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from doubles.checked import assert_clones_right
from doubles.game_envs import started
from doubles.own_envs import EVERY, api_warnings, every_env
from doubles.own_rules import Piglike
from pettingzoo.utils import BaseWrapper

from zermelo.envs import CHANCE, IllegalActionError, UnsupportedGameError, as_game, clone_env, make
from zermelo.envs import games as own_games
from zermelo.envs.adapters.aec import AECGame
from zermelo.envs.adapters.rules import LiveRulesGame
from zermelo.envs.game import Chance, RewardSum, TraitSource
from zermelo.envs.rules.env import RulesEnv, env, raw_env
from zermelo.envs.rules.rules_game import RulesGame

with warnings.catch_warnings():  # it imports an environment in the old way
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, render_test, seed_test

VARIANTS = [
    "zermelo/Kalah-v0(houses=3, seeds=5, empty_capture=True, margin=True)",
    "zermelo/Othello-v0(rows=4, columns=5, margin=True)",
    "zermelo/Nim-v0(heaps=[2, 4], misere=True, players=3)",
    "zermelo/DotsAndBoxes-v0(rows=2, columns=3, players=3, margin=True)",
    "zermelo/Breakthrough-v0(rows=4, columns=3, pawn_rows=1)",
    "zermelo/MNK-v0(m=7, n=2, k=3)",
]


def play(live: Any, seed: int, moves: int = 1000) -> list[int]:
    """Random legal moves; the actions played."""
    draw_from = random.Random(seed)
    played = []
    while len(played) < moves and (actions := live.unwrapped.legal_actions()):
        played.append(draw_from.choice(actions))
        live.step(played[-1])
    return played


# -- PettingZoo's own tests ---------------------------------------------------------------------------------------


@api_warnings
@every_env
def test_pettingzoo_api(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(EVERY[name](), num_cycles=1000)
    assert "Passed API test" in capsys.readouterr().out


@api_warnings
@pytest.mark.parametrize("name", VARIANTS)
def test_pettingzoo_api_of_other_sizes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(make(name), num_cycles=1000)
    assert "Passed API test" in capsys.readouterr().out
    render_test(lambda **parameters: make(name, **parameters))
    assert_clones_right(lambda: make(name), games=1)


def test_where_the_margin_counts_an_illegal_action_costs_the_greatest_one() -> None:
    live = started(make("zermelo/Othello-v0(rows=4, columns=4, margin=True)"))
    live.step(0)
    assert live.rewards == {"black": -16.0, "white": 0}


@every_env
def test_pettingzoo_seed(name: str) -> None:
    seed_test(EVERY[name], num_cycles=100)
    one, two = EVERY[name](), EVERY[name]()
    one.reset(seed=3)
    two.reset(seed=3)
    assert play(one, seed=5, moves=20) == play(two, seed=5, moves=20)
    assert as_game(one).snapshot(one) == as_game(two).snapshot(two)


@every_env
def test_pettingzoo_render(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(EVERY[name])
    assert capsys.readouterr().out


@pytest.mark.thorough
@every_env
def test_clones_are_right(name: str) -> None:
    assert_clones_right(EVERY[name], games=1)


# -- the game that is searched is the game that is played ---------------------------------------------------------


@every_env
@pytest.mark.parametrize("seed", range(3))
def test_rules_clone_and_environment_agree(name: str, seed: int) -> None:
    live = started(EVERY[name](), seed=seed)
    by_rules, by_clone = as_game(live), as_game(live, backend="clone")
    assert type(by_rules) is LiveRulesGame
    assert isinstance(by_clone, AECGame)
    assert by_rules.traits.seat_names == tuple(live.possible_agents) == by_clone.traits.seat_names
    for trait in ("reward_sum", "constant", "chance", "information", "terminal_rewards_only", "num_actions"):
        assert getattr(by_rules.traits, trait) == getattr(by_clone.traits, trait), trait
    draw_from = random.Random(seed)
    state, copied = by_rules.snapshot(live), by_clone.snapshot(live)
    while not by_rules.is_terminal(state):
        assert state == by_rules.snapshot(live)
        assert not by_clone.is_terminal(copied)
        actions = list(by_rules.legal_actions(state))
        assert actions == list(by_clone.legal_actions(copied)) == live.unwrapped.legal_actions()
        assert by_rules.to_move(state) == by_clone.to_move(copied)
        assert live.agent_selection == live.possible_agents[by_rules.to_move(state)]
        action = draw_from.choice(actions)
        state, copied = by_rules.result(state, action), by_clone.result(copied, action)
        while by_rules.to_move(state) == CHANCE and not by_rules.is_terminal(state):
            assert by_clone.to_move(copied) == CHANCE
            outcomes = by_rules.chance_outcomes(state)
            rolled = by_clone.chance_outcomes(copied)
            assert [p for _, p in rolled] == pytest.approx([p for _, p in outcomes])
            index = draw_from.randrange(len(outcomes))
            state = by_rules.result(state, outcomes[index][0])
            copied = by_clone.result(copied, index)
        assert state == copied.env.position
        live = copied.env if by_rules.traits.chance is Chance.EXACT else live
        if by_rules.traits.chance is Chance.NONE:
            live.step(action)
    assert by_clone.is_terminal(copied)
    assert by_rules.utility(state) == by_clone.utility(copied)


@every_env
def test_masks_and_rewards(name: str) -> None:
    live = started(EVERY[name](), seed=1)
    draw_from = random.Random(1)
    while actions := live.unwrapped.legal_actions():
        assert set(live.rewards.values()) == {0.0}
        for agent in live.agents:
            mask = live.observe(agent)["action_mask"]
            expected = actions if agent == live.agent_selection else []
            assert np.flatnonzero(mask).tolist() == expected
        live.step(draw_from.choice(actions))
    raw = live.unwrapped
    assert live.terminations == dict.fromkeys(live.possible_agents, True)
    assert not any(live.truncations.values())
    assert list(live.rewards.values()) == [
        raw.rules.utility(raw.position, seat) for seat in range(len(live.possible_agents))
    ]
    assert all(not live.observe(agent)["action_mask"].any() for agent in live.possible_agents)
    for _ in live.possible_agents:
        assert live.last()[1] == raw.rules.utility(raw.position, live.possible_agents.index(live.agent_selection))
        live.step(None)
    assert not live.agents


def test_observations_are_seen_from_the_observers_side() -> None:
    live = started(make("zermelo/ConnectFour-v0"), moves=(3, 3, 0))
    first, second = (live.observe(agent)["observation"] for agent in live.possible_agents)
    assert first.shape == (6, 7, 2)
    assert np.argwhere(first[:, :, 0]).tolist() == [[5, 0], [5, 3]]  # the bottom row is the last
    assert np.argwhere(first[:, :, 1]).tolist() == [[4, 3]]
    assert (second == first[:, :, ::-1]).all()


@pytest.mark.thorough
def test_traits_of_a_subclass_or_a_wrapper_are_not_taken_from_the_rules() -> None:
    class Doubled(RulesEnv):
        def step(self, action: Any) -> None:
            is_dead = self.terminations[self.agent_selection]
            super().step(action)
            for agent, reward in self.rewards.items() if not is_dead else ():
                self._cumulative_rewards[agent] += reward + 1
                self.rewards[agent] = 2 * reward + 1

    changed = started(Doubled(own_games.MNK()))
    game = as_game(changed)
    assert isinstance(game, AECGame)
    assert game.traits.source("reward_sum") is not TraitSource.DECLARED
    assert game.traits.reward_sum is not RewardSum.ZERO
    assert game.traits.chance is Chance.NONE


def test_another_game_in_the_same_environment_is_seen() -> None:
    live = started(RulesEnv(own_games.MNK(3, 3, 3)))
    before = as_game(live)
    live.rules = own_games.ConnectFour(3, 3)  # equal integers, another class
    live.reset()
    assert as_game(live).rules == live.rules
    assert type(as_game(live).rules) is own_games.ConnectFour
    with pytest.raises(UnsupportedGameError, match="its rules cannot reach"):
        before.snapshot(live)


# -- illegal actions ----------------------------------------------------------------------------------------------


def test_an_illegal_action_ends_the_game_and_is_searched_as_such() -> None:
    live = started(make("zermelo/MNK-v0"))
    live.step(4)
    game = as_game(live)
    live.step(4)
    assert live.rewards == {"player_0": 0, "player_1": -1.0}
    assert all(live.terminations.values())
    with pytest.raises(UnsupportedGameError, match="ended by an illegal action"):
        game.snapshot(live)
    again = as_game(live)
    state = again.snapshot(live)
    assert again.is_terminal(state)
    assert again.utility(state) == (0.0, -1.0)
    live.reset()
    assert type(as_game(live)) is LiveRulesGame


@pytest.mark.parametrize("action", [9, -1, None, 1.0, "a", 4])
def test_the_raw_environment_refuses_illegal_actions(action: Any) -> None:
    live = started(raw_env(own_games.MNK()))
    live.step(np.int64(4))
    before = live.position
    with pytest.raises(IllegalActionError, match=r"is not legal for player_1 in mnk_v0: legal are 0, 1, 2, 3, 5"):
        live.step(action)
    assert live.position == before


# -- chance -------------------------------------------------------------------------------------------------------


def test_dice_are_rolled_from_the_seed() -> None:
    def course(seed: int | None) -> list[Any]:
        live = started(env(Piglike(goal=30, faces=6)), seed=seed)
        positions = [live.unwrapped.position]
        for action in (1, 1, 0, 1, 1, 1, 0, 1) * 3:
            if live.unwrapped.legal_actions():
                live.step(action)
            positions.append(live.unwrapped.position)
        return positions

    assert course(5) == course(5)
    assert len({str(course(seed)) for seed in range(20)}) > 15
    assert len({str(course(None)) for _ in range(20)}) > 15


def test_a_reset_without_a_seed_goes_on_in_the_stream() -> None:
    live = started(RulesEnv(Piglike(goal=1000, faces=100)), seed=3)
    rolls = []
    for _ in range(10):
        rolls.append(live.position.turn)
        live.reset()
    live.reset(seed=3)
    assert live.position.turn == rolls[0]
    assert len(set(rolls)) > 5


def test_every_face_is_as_likely() -> None:
    live = RulesEnv(Piglike(goal=10**6, faces=4))
    counts = dict.fromkeys((0, 2, 3, 4), 0)
    live.reset(seed=11)
    for _ in range(2000):
        counts[live.position.turn] += 1
        live.reset()
    assert all(420 < count < 580 for count in counts.values()), counts  # 500, give or take four deviations


@pytest.mark.thorough
def test_dice_under_a_wrapper_that_may_change_the_game_are_sampled_and_not_foreseen() -> None:
    class Reward(BaseWrapper):
        pass

    live = started(Reward(env(Piglike(goal=50))), seed=1)
    game = as_game(live)
    assert game.traits.chance is Chance.SAMPLED
    state = game.snapshot(live)
    assert len({game.result(state, 1).env.unwrapped.position for _ in range(30)}) == 4


# -- copies -------------------------------------------------------------------------------------------------------


@every_env
@pytest.mark.parametrize("way", [copy.deepcopy, clone_env, lambda live: pickle.loads(pickle.dumps(live))])
@pytest.mark.parametrize("wrapped", [True, False])
def test_copies_keep_the_game(name: str, way: Any, wrapped: bool) -> None:
    live = EVERY[name]()
    live = started(live if wrapped else live.unwrapped, seed=2)
    play(live, seed=2, moves=3)
    other = way(live)
    assert type(other) is type(live)
    assert other.unwrapped.position == live.unwrapped.position
    assert str(other.unwrapped) == str(live.unwrapped)
    before = live.unwrapped.position
    actions = play(other, seed=5)
    assert live.unwrapped.position == before
    for action in actions:
        live.step(action)  # with the same dice
    assert live.unwrapped.position == other.unwrapped.position
    assert live.rewards == other.rewards


class Counted(NamedTuple):
    """Rules whose parameters may be equal and of other types."""

    size: int = 1

    def num_actions(self) -> int:
        return 2

    def initial_state(self) -> Any:
        return (0,)

    def to_move(self, state: Any) -> int:
        return 0

    def legal_actions(self, state: Any, actions: Any) -> int:
        actions[0] = 0
        return 1

    def result(self, state: Any, action: int) -> Any:
        return (1,)

    def is_terminal(self, state: Any) -> bool:
        return state[0] == 1

    def utility(self, state: Any, seat: int) -> int:
        return 0

    def seats(self) -> int:
        return 1 if isinstance(self.size, bool) else 2


def test_equal_parameters_of_other_types_are_another_game():
    assert Counted(1) == Counted(True)
    assert RulesGame(Counted(1)) != RulesGame(Counted(True))
    assert [len(RulesEnv(Counted(size)).possible_agents) for size in (1, True)] == [2, 1]
