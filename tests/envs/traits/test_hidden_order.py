"""Lists whose order nobody sees are drawn again; that steps draw nothing else is assumed, and watched."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import SmallEnv

from zermelo.agents import make_agent
from zermelo.envs import as_game
from zermelo.envs.game import Chance, Information, RewardSum, TraitSource

pytestmark = [
    pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning"),
    pytest.mark.usefixtures("seen_by_nobody"),
]


def started(cls: type[Any]) -> Any:
    """An environment of a class of its own."""
    env = type(cls.__name__, (cls,), {})()
    env.reset(seed=0)
    return env


class Bag(SmallEnv):
    """Numbers are drawn from a bag that each reset shuffles, and may be taken or left; each is paid its own."""

    zermelo_traits: Any = {}  # noqa: RUF012
    rolls = False  # whether a step adds a number that it draws

    def __init__(self) -> None:
        super().__init__(["one", "other"])

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.generator = np.random.default_rng(seed)
        self.bag = [1, 2, 3, 4, 5, 6]
        self.generator.shuffle(self.bag)
        self.seen = [self.bag.pop()]

    def observe(self, agent: Any) -> Any:
        return np.array([*self.seen, *[0] * (6 - len(self.seen))])

    def play(self, agent: Any, action: Any) -> None:
        luck = int(self.generator.integers(6)) if self.rolls else 0
        self.rewards[agent] = action * (self.seen[-1] + luck)
        if self.turns == 4:
            self.terminations = dict.fromkeys(self.agents, True)
        self.seen.append(self.bag.pop())
        self.next_agent()


class ToldBag(Bag):
    def information_state_key(self, agent: Any) -> Any:
        return tuple(self.seen)

    def resample(self, agent: Any, generator: np.random.Generator) -> None:
        generator.shuffle(self.bag)


class RollingBag(ToldBag):
    rolls = True


def test_an_order_that_nobody_sees_has_its_evidence() -> None:
    env = started(Bag)
    game = as_game(env)
    assert game.traits.chance is Chance.SAMPLED
    assert "the order of bag" in game.traits.evidence["chance"].text
    result = make_agent("alphabeta(depth=2)").search(env)
    assert "the order of bag" in result.note


@pytest.mark.parametrize(("bag", "chance"), [(ToldBag, Chance.NONE), (RollingBag, Chance.SAMPLED)])
def test_to_deal_again_is_no_chance_of_the_game(bag: type[Any], chance: Chance) -> None:
    env = started(bag)
    result = make_agent("ismcts(simulations=60)").search(env)
    traits = as_game(env).traits
    assert traits.chance is chance
    assert traits.reward_sum is RewardSum.GENERAL  # seen, although ismcts does not ask for it
    assert traits.source("reward_sum") is TraitSource.SEEN
    assert not result.note


class RareLuckBag(Bag):
    """A step draws a number that counts, but only in games that the first look does not see."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        self.luck = options.get("luck")

    def play(self, agent: Any, action: Any) -> None:
        draws = {"own": self.generator.integers, "numpy.random": np.random.randint, "random": random.randrange}
        if self.turns == 3 and self.luck:
            self.seen[-1] += int(draws[self.luck](100))
        super().play(agent, action)


@pytest.mark.parametrize("luck", ["own", "numpy.random", "random"])
def test_a_draw_that_was_not_expected_is_seen_by_the_search(luck: str) -> None:
    env = started(RareLuckBag)
    assert "drew" not in as_game(env).traits.evidence["chance"].text
    env.reset(seed=0, options={"luck": luck})
    before = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002 - watched, not used
    agent = make_agent("mcts(simulations=200, seed=1)")
    result = agent.search(env)
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before  # noqa: NPY002 - as above
    assert "searched again" in result.note
    evidence = as_game(env).traits.evidence["chance"]
    assert "a step drew" in evidence.text
    assert evidence.is_late
    again = agent.search(env)  # which draws it anew in each simulation, as chance
    assert not again.note
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before  # noqa: NPY002 - as above


class BagAmongHands(Bag):
    """A bag among many lists that everybody sees; to look takes a while."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        self.hands = {number: self.generator.permutation(3).tolist() for number in range(38)}

    def observe(self, agent: Any) -> Any:
        until = time.process_time() + 0.003
        while time.process_time() < until:
            pass
        return np.array([*super().observe(agent), *itertools.chain(*self.hands.values())])


def test_an_order_that_was_found_counts_though_there_is_no_time_for_all_lists() -> None:
    env = started(BagAmongHands)
    game = as_game(env)
    assert "the order of bag" in game.traits.evidence["chance"].text


class Field:
    """A field of a path, and the fields next to it."""

    def __init__(self, fruit: int) -> None:
        self.fruit, self.nearby = fruit, [self]


class Path(SmallEnv):
    """Two players go round a path that each reset sows, back or on, and are paid what grows there."""

    zermelo_traits: Any = {}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(["one", "other"], 4)

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.fields = [Field(int(fruit)) for fruit in np.random.default_rng(seed).integers(0, 4, 8)]
        for place, field in enumerate(self.fields):
            field.nearby = [self.fields[(place + steps) % 8] for steps in (1, 2, 3, 7)]
        self.at = self.fields[0]

    def observe(self, agent: Any) -> Any:
        return np.array([*(field.fruit for field in self.fields), self.fields.index(self.at), self.turns])

    def play(self, agent: Any, action: Any) -> None:
        self.at = self.at.nearby[action]
        self.rewards[agent] = self.at.fruit
        if self.turns == 5:
            self.terminations = dict.fromkeys(self.agents, True)
        self.next_agent()


def test_objects_that_know_each_other_are_no_deck() -> None:
    traits = as_game(started(Path), patience=20).traits
    assert "nothing hidden" in traits.evidence["information"].text
    assert "no time" not in traits.evidence["information"].text
    assert (traits.information, traits.chance) == (Information.PERFECT, Chance.NONE)
    assert traits.reward_sum is RewardSum.GENERAL
