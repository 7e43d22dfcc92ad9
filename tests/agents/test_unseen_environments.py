"""Agents on environments that nobody has prepared for them."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from doubles import strange_envs
from doubles.strange_envs import Chatty, Pick, SlowCopy, Target, Trap, Wide
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from zermelo.agents import MCTSAgent, make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.adapters import copies
from zermelo.envs.position import position
from zermelo.envs.support import waiting
from zermelo.envs.traits import play
from zermelo.envs.traits.merging import PATIENCE

as_game_module = importlib.import_module("zermelo.envs.adapters.as_game")

KNOWN = {
    "chance": "deterministic",
    "reward_sum": "zero_sum",
    "information": "perfect",
    "terminal_rewards_only": True,
}


class Clock:
    """Goes by what is done, not by how fast: a little at each reading, and what environments wait."""

    def __init__(self) -> None:
        self.now = 0.0

    def read(self) -> float:
        self.now += 1e-5
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(Budget, "now", staticmethod(clock.read))
    for module in (strange_envs, copies, as_game_module, play, waiting):
        monkeypatch.setattr(
            module, "time", SimpleNamespace(perf_counter=clock.read, process_time=clock.read, sleep=clock.sleep)
        )
    return clock


def test_playouts_end_where_the_time_limit_does() -> None:
    env = TimeLimit(gymnasium.make("CliffWalking-v1"), 5)
    env.reset(seed=0)
    result = MCTSAgent(simulations=400, seed=1).search(env)
    assert set(result.action_values) == {0, 1, 2, 3}
    assert result.action != 1  # the cliff: -100
    assert -100 < result.value <= -5


def test_value_iteration_solves_the_table_without_its_time_limit() -> None:
    env = TimeLimit(gymnasium.make("FrozenLake-v1", is_slippery=False), 3)
    env.reset(seed=0)
    assert value_iteration(env).value(as_game(env).snapshot(env)) == pytest.approx(1.0)


@pytest.mark.parametrize("traits", [None, KNOWN], ids=["unknown", "known"])
@pytest.mark.parametrize("name", ["alphabeta", "mcts", "auto", "maxn", "expectiminimax"])
def test_what_wins_at_once_is_seen_before_anything_dearer(name: str, traits: Any) -> None:
    env = Wide(wait=0.001)
    env.reset()
    agent = make_agent(f"{name}(seconds=0.1)")
    object.__setattr__(agent, "traits", traits)
    assert agent.act(env) == env.winning


@pytest.mark.parametrize("name", ["auto", "mcts"])
def test_what_loses_to_one_reply_is_not_played_after_few_simulations(name: str) -> None:
    env = Trap(wait=0.0005)
    env.reset()
    found = [make_agent(f"{name}(seconds=0.3, seed={seed})").search(env) for seed in range(12)]
    assert max(result.simulations for result in found) < 150
    assert sum(result.action % 2 for result in found) <= 1


@pytest.mark.parametrize("name", ["auto", "mcts", "alphabeta", "expectiminimax"])
def test_slow_steps_are_searched_in_time(name: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment is is found out before, in a time of its own."""
    env = Pick(wait=0.03)
    env.reset()
    steps: list[Any] = []
    plain = Pick.play

    def counted(self: Pick, agent: Any, action: Any) -> None:
        steps.append(action)
        plain(self, agent, action)

    monkeypatch.setattr(Pick, "play", counted)
    agent = make_agent(f"{name}(seconds=0.15)")
    position(env)
    assert clock.now <= PATIENCE + 0.5
    steps.clear()
    for _ in range(2):
        assert agent.act(env) in np.flatnonzero(env.mask())
        assert len(steps) <= 8
        steps.clear()


@pytest.mark.filterwarnings("ignore:.* is searched on assumptions")
@pytest.mark.parametrize(("seconds", "most"), [(0.05, 12), (0.4, 2)])
def test_slow_copies_are_searched_in_time(
    seconds: float, most: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = SlowCopy(seconds)
    env.reset()
    copies = []
    plain = SlowCopy.__deepcopy__

    def counted(self: SlowCopy, memo: Any) -> SlowCopy:
        copies.append(1)
        return plain(self, memo)

    monkeypatch.setattr(SlowCopy, "__deepcopy__", counted)
    position(env)
    assert clock.now <= PATIENCE + 1.0
    copies.clear()
    assert make_agent("auto(seconds=0.3)").act(env) in np.flatnonzero(env.mask())
    assert len(copies) <= most


def test_greedy_answers_in_its_time() -> None:
    env = Wide(wait=0.03)
    env.reset()
    result = make_agent("greedy(seconds=0.6)").search(env)
    assert result.stopped_by == "seconds"
    assert result.nodes <= 22


@pytest.mark.parametrize("name", ["auto(seconds=0.1)", "alphabeta(depth=2)", "greedy", "mcts(simulations=20)"])
def test_an_environment_that_prints_is_silent_while_it_is_searched(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    env = Chatty()
    env.reset()
    action = make_agent(name).act(env)
    assert capsys.readouterr().out == ""
    env.step(action)
    assert "plays" in capsys.readouterr().out


SPACES: dict[str, tuple[Any, Any, Any]] = {
    "tuple": (
        spaces.Tuple([spaces.Discrete(3), spaces.Discrete(4, start=2)]),
        lambda a: float(a[0] == 2 and a[1] == 5),
        (2, 5),
    ),
    "dict": (
        spaces.Dict(row=spaces.Discrete(3), column=spaces.Discrete(3)),
        lambda a: a["row"] - a["column"],
        {"row": 2, "column": 0},
    ),
    "multi_discrete": (spaces.MultiDiscrete([3, 3]), lambda a: float(a[0] * a[1]), [2, 2]),
    "multi_binary": (spaces.MultiBinary(4), lambda a: float(a[0] + a[3] - a[1] - a[2]), [1, 0, 0, 1]),
    "box_of_integers": (spaces.Box(-2, 2, (2,), np.int32), lambda a: float(a[0] - a[1]), [2, -2]),
    "nested": (
        spaces.Dict(kind=spaces.Discrete(2), at=spaces.Tuple([spaces.MultiBinary(2)])),
        lambda a: a["kind"] + a["at"][0].sum(),
        {"kind": 1, "at": (np.array([1, 1]),)},
    ),
}


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("name", ["auto(seconds=0.3)", "greedy(seconds=None)"])
def test_actions_of_every_finite_space_are_played(kind: str, name: str) -> None:
    space, worth, best = SPACES[kind]
    env = Target(space, worth)
    env.reset()
    action = make_agent(name).act(env)
    assert space.contains(action)
    assert worth(action) == worth(np.array(best) if isinstance(best, list) else best)
    assert space.contains(make_agent("random").act(env))


def test_a_box_of_floats_is_refused_with_the_way_out() -> None:
    env = Target(spaces.Box(-1, 1, (2,), np.float32), lambda a: float(a[0] - a[1]))
    env.reset()
    with pytest.raises(UnsupportedGameError, match=r"zermelo\.envs\.discretise\(env, bins=5\)"):
        make_agent("auto").act(env)
    from zermelo.envs import discretise

    finite = discretise(env, bins=3)
    finite.reset()
    action = make_agent("greedy").act(finite)
    assert finite.action(action).tolist() == [1, -1]


def test_no_agent_is_recommended_that_refuses_too() -> None:
    env = Pick()
    env.zermelo_traits = {"information": "hidden"}
    env.reset()
    with pytest.raises(
        UnsupportedGameError, match=r"use 'random' or a policy .* need information_state_key"
    ) as told:
        make_agent("alphabeta(depth=2)").act(env)
    assert "ismcts" not in str(told.value)
