"""Perfect information is not assumed: who sees what, found by play on copies; and what a search may then claim."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import Numbers, SmallEnv
from gymnasium.utils import seeding

from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.solving.solve import exact_values
from zermelo.agents.tree_search.many_players.agents import MaxNAgent
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.errors import UnknownTraitWarning
from zermelo.envs.game import Information, RewardSum, TraitSource


class Undeclared(SmallEnv):
    """Says nothing of its traits."""

    zermelo_traits: Any = {}  # noqa: RUF012  # one a class
    hands: dict[Any, list[int]]

    def __init__(self, actions: int = 3) -> None:
        super().__init__(["left", "right"], actions)


class Dealt(Undeclared):
    """Three cards each, dealt in reset; three times both play one, and the greater one wins a point."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.random, _ = seeding.np_random(seed)
        deck = self.random.permutation(12).tolist()
        self.hands = {"left": deck[:3], "right": deck[3:6]}
        self.played: list[int] = []

    def observe(self, agent: Any) -> Any:
        return {
            "observation": np.array([*self.hands[agent], *self.played]),
            "action_mask": np.array([card >= 0 for card in self.hands[agent]], dtype=np.int8),
        }

    def play(self, agent: Any, action: int) -> None:
        self.played.append(self.hands[agent][action])
        self.hands[agent][action] = -1
        if len(self.played) == 6:
            won = sum(np.sign(a - b) for a, b in zip(self.played[::2], self.played[1::2], strict=True))
            self.rewards = {"left": int(won), "right": -int(won)}
            self.end()
        self.next_agent()


class AlwaysTheSameDeal(Dealt):
    """The generator is made with the environment, and reset does not look at its seed."""

    def __init__(self) -> None:
        super().__init__()
        self.random = np.random.default_rng(5)

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        deck = self.random.permutation(12).tolist()
        self.hands = {"left": deck[:3], "right": deck[3:6]}
        self.played = []


class Drawn(Dealt):
    """Hands are empty at first: each draws a card after playing, which only it sees."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.random, _ = seeding.np_random(seed)
        self.hands = {"left": [1, 2, 3], "right": [1, 2, 3]}
        self.played = []

    def play(self, agent: Any, action: int) -> None:
        super().play(agent, action)
        self.hands[agent][action] = int(self.random.integers(20))


class SecretNumber(Undeclared):
    """One writes a number down, the other guesses it."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.secret = -1

    def observe(self, agent: Any) -> Any:
        return np.array([self.turns, self.secret if agent == "left" else 0])

    def play(self, agent: Any, action: int) -> None:
        if agent == "left":
            self.secret = action
            self.next_agent()
        else:
            won = 1 if action == self.secret else -1
            self.rewards = {"left": -won, "right": won}
            self.end()


class Open(Undeclared):
    """Numbers are added up, and all see the sum; rewards are zero-sum but for one end in 3 ** length."""

    def __init__(self, length: int = 5, both: float = 0.0) -> None:
        super().__init__()
        self.length = length
        self.both = both

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.history: list[int] = []

    def observe(self, agent: Any) -> Any:
        return np.array([sum(self.history), len(self.history), agent == self.agent_selection])

    def play(self, agent: Any, action: int) -> None:
        self.history.append(action)
        self.next_agent()
        if len(self.history) == self.length:
            won = 1 - sum(self.history) % 3
            self.rewards = {"left": won, "right": -won}
            if not any(self.history):
                self.rewards = {"left": self.both, "right": self.both} if self.both else self.rewards
            self.end()


class WhoBegins(Open):
    """Reset draws who begins, and all see it."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        self.agent_selection = self.agents[int(np.random.default_rng(seed).integers(2))]


@pytest.mark.thorough
@pytest.mark.parametrize("cls", [Dealt, AlwaysTheSameDeal, Drawn, SecretNumber])
def test_hidden_information_is_never_taken_for_perfect(cls: Any) -> None:
    env = cls()
    env.reset(seed=1)
    traits = as_game(env).traits
    assert traits.source("information") is TraitSource.ASSUMED or traits.peeks


@pytest.mark.thorough
@pytest.mark.parametrize("cls", [Open, WhoBegins])
def test_observations_that_determine_the_state_are_evidence_and_no_proof(cls: Any) -> None:
    env = cls()
    env.reset(seed=1)
    traits = as_game(env).traits
    assert traits.information is Information.PERFECT
    assert traits.source("information") is TraitSource.ASSUMED
    assert traits.evidence["information"].text.startswith("nothing hidden in ")
    assert not traits.evidence["information"].is_thin


def test_a_search_that_may_peek_says_so_once_and_proves_nothing() -> None:
    env = Dealt()
    env.reset(seed=1)
    env.metadata = {"name": "dealt_for_this_test_v0"}
    result = AlphaBetaAgent(depth="full").search(env)
    assert any("starts look different, so that what they deal may be hidden" in text for text in result.assumed)
    assert not result.proven
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert AlphaBetaAgent(depth="full").search(env).value == result.value
        known = AlphaBetaAgent(
            depth="full", traits={"information": "perfect", "chance": "deterministic", "reward_sum": "zero_sum"}
        )
        assert known.search(env).proven
    with pytest.raises(UnsupportedGameError, match="hides part of it"):
        AlphaBetaAgent(depth="full", traits={"information": "hidden"}).search(env)


@pytest.mark.thorough
def test_a_rare_end_that_breaks_the_sum_is_no_proof() -> None:
    env = Open(length=7, both=0.5)
    env.reset()
    game = as_game(env)
    assert game.traits.reward_sum is RewardSum.ZERO
    assert game.traits.source("reward_sum") is TraitSource.ASSUMED
    with pytest.raises(UnsupportedGameError, match=r"needs to know the information and .* of small_v0"):
        exact_values(env, [game.initial_state()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownTraitWarning)  # that another search answers
        results = solve(env), AlphaBetaAgent(depth="full").search(env)
    for result in results:
        assert not result.proven
        assert result.plies is None
    assert MaxNAgent(depth="full", traits={"reward_sum": "general_sum"}).search(env).values_by_seat[0] >= 0


def test_traits_are_found_by_games_and_not_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine so slow that every look at the clock is a second later."""
    seconds = iter(range(10**9))
    monkeypatch.setattr("time.monotonic", lambda: float(next(seconds)))

    class Slow(Numbers):
        pass

    env = Slow(total=3.0)
    env.reset()
    traits = as_game(env).traits
    assert (traits.reward_sum, traits.constant) == (RewardSum.CONSTANT, 3.0)
    assert traits.source("reward_sum") is TraitSource.ASSUMED
    assert "paid 3 in all" in traits.evidence["reward_sum"].text
