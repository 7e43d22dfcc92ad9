"""Puzzles for one player, and the agent that looks for the way through them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AutoAgent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.solving.agents import BestFirstAgent
from zermelo.agents.textbook import best_first
from zermelo.envs import Traits, UnsupportedGameError, as_game
from zermelo.envs.game import Chance

ROOM = """
########
#@ $  .#
# # $ .#
#      #
########
"""
"""A warehouse: push both boxes ($) to the goals (.)."""


class Sokoban:
    """Sokoban as a game of one player: each step costs, each box on a goal pays, and the end pays most."""

    def __init__(self, room: str = ROOM, longest: int = 200) -> None:
        cells = {(y, x): cell for y, line in enumerate(room.strip().splitlines()) for x, cell in enumerate(line)}
        self.walls = frozenset(at for at, cell in cells.items() if cell == "#")
        self.goals = frozenset(at for at, cell in cells.items() if cell == ".")
        [self.start] = [at for at, cell in cells.items() if cell == "@"]
        self.boxes = frozenset(at for at, cell in cells.items() if cell == "$")
        self.longest = longest
        self.traits = Traits(
            name="sokoban", seat_names=("player",), chance=Chance.NONE, information="perfect", num_actions=4
        )

    def initial_state(self) -> Any:
        return self.start, self.boxes, 0

    def to_move(self, state: Any) -> int:
        return 0

    def legal_actions(self, state: Any) -> list[int]:
        return [] if self.is_terminal(state) else [0, 1, 2, 3]

    def result(self, state: Any, action: int) -> Any:
        (y, x), boxes, moves = state
        dy, dx = ((-1, 0), (0, 1), (1, 0), (0, -1))[action]
        to, beyond = (y + dy, x + dx), (y + 2 * dy, x + 2 * dx)
        if to in self.walls or (to in boxes and (beyond in boxes or beyond in self.walls)):
            to = (y, x)
        elif to in boxes:
            boxes = boxes - {to} | {beyond}
        return to, boxes, moves + 1

    def is_terminal(self, state: Any) -> bool:
        return state[1] == self.goals or state[2] >= self.longest

    def utility(self, state: Any) -> tuple[float]:
        done = len(state[1] & self.goals)
        return (-0.1 * state[2] + done + 10 * (done == len(self.goals)),)

    def chance_outcomes(self, state: Any) -> tuple[()]:
        return ()

    def key(self, state: Any) -> Any:
        return state[:2]

    def to_env_action(self, state: Any, action: int) -> int:
        return action


class Corridor(gymnasium.Env):
    """Fourteen cells in a row, and a reward at the last that falls with time; the first is a trap."""

    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Discrete(14)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.steps = 3, 0
        return self.at, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at += (-1, 0, 1)[action]
        self.steps += 1
        over = self.at in (0, 13)
        reward = 1 - 0.9 * self.steps / 100 if self.at == 13 else 0.0
        return self.at, reward, over, self.steps >= 100, {}


def played(agent: Any, game: Any) -> tuple[int, float]:
    """Moves made and the total, when an agent plays a game for one player to its end."""
    state, moves = game.initial_state(), 0
    while not game.is_terminal(state):
        state = game.result(state, agent.search_state(game, state).action)
        moves += 1
    return moves, game.utility(state)[0]


@pytest.mark.parametrize(
    "agent", [BestFirstAgent(seconds=20), AutoAgent(seconds=40)], ids=lambda agent: agent.kind
)
def test_sokoban(agent: Any) -> None:
    total, way = best_first(Sokoban())
    moves, mine = played(agent, Sokoban())
    assert (moves, mine) == (len(way), pytest.approx(total))
    assert total > 10


def test_auto_walks_to_a_reward_at_the_end_of_an_environment() -> None:
    env = Corridor()
    env.reset(seed=1)
    as_game(env)  # looks at it for as long as it needs
    agent = AutoAgent(seconds=5)
    for step in range(1, 11):
        result = agent.search(env)
        assert result.method == "best_first: one player, and nothing is left to chance"
        _, reward, over, _, _ = env.step(result.env_action)
        assert over == (step == 10)
    assert reward == pytest.approx(0.91)


def test_a_plan_is_followed_without_another_search() -> None:
    game, agent = Sokoban(), BestFirstAgent(seconds=20)
    first = agent.search_state(game)
    assert first.stopped_by is StoppedBy.COMPLETED
    assert first.nodes > 1
    state = game.result(game.initial_state(), first.action)
    then = agent.search_state(game, state)
    assert (then.nodes, then.principal_variation) == (0, first.principal_variation[1:])
    assert then.value == pytest.approx(first.value)
    agent.reset()
    assert agent.search_state(game, state).nodes > 0


def test_where_costs_are_all_it_finds_the_cheapest_way_and_proves_it() -> None:
    class Hills(Sokoban):
        """A grid whose cells cost what they are high."""

        heights = np.random.default_rng(1).integers(1, 9, (5, 5))

        def initial_state(self) -> Any:
            return 0, 0, 0

        def legal_actions(self, state: Any) -> list[int]:
            return [] if self.is_terminal(state) else [a for a in range(4) if self._next(state, a) is not None]

        def _next(self, state: Any, action: int) -> Any:
            y, x = state[0] + (-1, 0, 1, 0)[action], state[1] + (0, 1, 0, -1)[action]
            return (y, x, state[2] - int(self.heights[y, x])) if 0 <= y < 5 and 0 <= x < 5 else None

        def result(self, state: Any, action: int) -> Any:
            return self._next(state, action)

        def is_terminal(self, state: Any) -> bool:
            return bool(state[:2] == (4, 4))

        def utility(self, state: Any) -> tuple[float]:
            return (float(state[2]),)

    game = Hills()
    result = BestFirstAgent(seconds=20).search_state(game)
    assert (result.value, result.principal_variation) == (best_first(game)[0], tuple(best_first(game)[1]))
    assert (result.proven, result.stopped_by) == (True, StoppedBy.COMPLETED)


def test_rewards_for_lasting_are_left_to_others() -> None:
    class Endurance(Sokoban):
        """Each step pays, so there is no end worth looking for."""

        def legal_actions(self, state: Any) -> list[int]:
            return [0, 1]

        def result(self, state: Any, action: int) -> Any:
            return state[0], state[1], 2 * state[2] + action + 1

        def is_terminal(self, state: Any) -> bool:
            return state[2] > 1 << 12 and state[2] % 7 == 0

        def utility(self, state: Any) -> tuple[float]:
            return (float((state[2] + 1).bit_length()),)

        def key(self, state: Any) -> Any:
            return state[2]

    agent = AutoAgent(nodes=400)
    assert agent.search_state(Endurance()).method.startswith("mcts")


def test_it_refuses_opponents_and_chance() -> None:
    with pytest.raises(UnsupportedGameError, match="best_first needs one player"):
        BestFirstAgent().search_state(ConnectK())
