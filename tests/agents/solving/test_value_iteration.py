"""Value iteration against what is known of Pig, tables solved by plain numpy, and the searches."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from zermelo.agents import ExpectiminimaxAgent
from zermelo.agents import textbook as algorithms
from zermelo.agents.solving.agents import ValueIterationAgent
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.envs import UnsupportedGameError, as_game, make
from zermelo.envs.errors import GameOverError, InvalidSettingError
from zermelo.envs.games import MNK, DotsAndBoxes, Game2048, Nim, Pig
from zermelo.envs.rules import RulesGame


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (Pig(target=10), 0.7094243226),
        (Pig(target=20), 0.6155585498),
        (Pig(target=2, sides=2), 4 / 7),
        (Pig(target=3, sides=2), 6 / 11),
    ],
)
def test_pig(rules: Pig, expected: float) -> None:
    table = value_iteration(rules, 1e-11)
    start = rules.initial_state()
    assert (table.value(start) + 1) / 2 == pytest.approx(expected, abs=6e-11)
    assert table.sweeps > 10


@pytest.mark.parametrize(
    "rules", [Pig(target=8), Pig(target=12, dice=2, snake_eyes=True), Game2048(1, 3), Nim((2, 3))]
)
def test_every_state_is_as_the_slow_one_says(rules: Any) -> None:
    game = RulesGame(rules)
    values = algorithms.value_iteration(game)
    table = value_iteration(game, 1e-10)
    assert len(table) == len({game.with_rewards_on_the_way().key(state) for state in values})
    for state, value in values.items():
        assert table.value(state) == pytest.approx(value, abs=1e-9), state


@pytest.mark.thorough
@pytest.mark.parametrize("rules", [Game2048(2, 2), DotsAndBoxes(1, 2, margin=True)])
def test_what_was_received_on_the_way_makes_no_other_state(rules: Any) -> None:
    class Plain(RulesGame):
        def with_rewards_on_the_way(self) -> RulesGame:
            return self

    table, plain = value_iteration(rules, 1e-10), value_iteration(Plain(rules), 1e-10)
    assert len(table) < len(plain)
    game = RulesGame(rules)
    for state in plain.numbers:  # of these rules the key is the state
        assert table.value(state) == pytest.approx(plain.value(state), abs=1e-8), state
        if not game.is_terminal(state) and game.to_move(state) >= 0:
            assert table.best_actions(state) == plain.best_actions(state)


def solved(env: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values of a Gymnasium table, and of its actions, by the book."""
    table = env.unwrapped.P
    values = np.zeros(len(table))
    for _ in range(20_000):
        of_actions = np.array(
            [
                [
                    sum(p * (r + (0 if end else values[to])) for p, to, r, end in table[s][a])
                    for a in sorted(table[s])
                ]
                for s in range(len(table))
            ]
        )
        new = of_actions.max(axis=1)
        if np.abs(new - values).max() < 1e-12:
            return new, of_actions
        values = new
    raise AssertionError("it does not settle")


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v4", "CliffWalking-v1"])
def test_gymnasiums_tables(name: str) -> None:
    env = gymnasium.make(name)
    env.reset(seed=3)
    game = as_game(env)
    start = game.snapshot(env)
    states = [start._replace(state=number) for number in env.unwrapped.P]
    table = value_iteration(game, 1e-10, states=states)
    values, of_actions = solved(env)
    for state in states:
        assert table.value(state) == pytest.approx(values[state.state], abs=1e-8)
        expected = dict(enumerate(of_actions[state.state].tolist()))
        assert table.action_values(state) == pytest.approx(expected, abs=1e-8)
    if name == "FrozenLake-v1":
        assert table.value(start) == pytest.approx(14 / 17, abs=1e-8)
    if name == "CliffWalking-v1":
        assert table.value(start) == -13


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("FrozenLake-v1", {"is_slippery": False}, 1.0),
        ("CliffWalking-v1", {}, -13.0),
        ("Taxi-v4", {}, None),
        ("FrozenLake-v1", {"is_slippery": False, "map_name": "8x8"}, 1.0),
    ],
)
def test_the_agent_arrives(name: str, parameters: dict[str, Any], expected: float | None) -> None:
    """Where many actions are as good, it does not go round in circles."""
    env = gymnasium.make(name, **parameters)
    env.reset(seed=5)
    agent = ValueIterationAgent()
    result = agent.search(env)
    promised, total, over = result.value, 0.0, False
    assert expected is None or promised == pytest.approx(expected, abs=1e-8)
    for _ in range(30):
        _, reward, over, _, _ = env.step(agent.act(env))
        total += float(reward)
        if over:
            break
    assert over
    assert total == pytest.approx(promised, abs=1e-8)


def test_the_agent_plays_pig_to_its_end() -> None:
    live = make("zermelo/Pig-v0(target=15)")
    live.reset(seed=2)
    agent = ValueIterationAgent()
    for _ in range(300):
        if not live.agents or any(live.terminations.values()):
            break
        result = agent.search(live)
        assert sum(result.values_by_seat) == pytest.approx(0)
        assert result.value == max(result.action_values.values())
        live.step(result.env_action)
    assert any(live.terminations.values())


def test_a_whole_tree_has_the_same_value() -> None:
    rules = MNK(3, 2, 2)
    searched = ExpectiminimaxAgent(depth="full").search_state(rules)
    found = ValueIterationAgent().search_state(rules)
    assert found.value == searched.value == 1.0
    assert found.action_values == searched.action_values
    assert found.stats["sweeps"] < 10


class Table(gymnasium.Env):
    """A game of one player, by its transition table."""

    def __init__(self, ways: dict[int, dict[int, list[tuple[float, int, float, bool]]]]) -> None:
        self.P, self.s = ways, 0
        self.observation_space, self.action_space = Discrete(len(ways)), Discrete(2)

    def reset(self, **_: Any) -> Any:
        self.s = 0
        return 0, {}


def long_shot(chance: float, *, corridor: int = 0, prize: float = 1.0, stay: bool = False) -> Table:
    """A chance at the end of a corridor, where one may also stay; where it does not come, all begins anew."""
    ways = {
        step: {0: [(1.0, step + 1, 0.0, False)], **({1: [(1.0, step, 0.0, False)]} if stay else {})}
        for step in range(corridor + 1)
    }
    ways[corridor][0] = [(chance, 0, prize, True), (1 - chance, 0, 0.0, False)]
    return Table(ways)


@pytest.mark.parametrize("tolerance", [0.5, 0.01, 1e-4, 1e-9])
@pytest.mark.parametrize(
    ("env", "prize"),
    [
        (long_shot(0.005), 1),
        (long_shot(0.005, stay=True), 1),
        (long_shot(0.02, corridor=9), 1),
        (long_shot(0.01, corridor=3, prize=-1.0), -1),
        (long_shot(4e-3, corridor=1, stay=True), 1),
    ],
)
def test_small_changes_do_not_end_it_too_soon(env: Table, prize: float, tolerance: float) -> None:
    """Each sweep changes less than the tolerance, or the changes shrink at once: both say nothing."""
    env.reset()
    game = as_game(env)
    assert value_iteration(game, tolerance).value(game.initial_state()) == pytest.approx(prize, abs=tolerance)


def test_games_without_end() -> None:
    game = as_game(Table({0: {0: [(1.0, 1, 0.0, False)]}, 1: {0: [(1.0, 0, 0.0, False)]}}))
    table = value_iteration(game)
    assert table.value(game.initial_state()) == 0.0
    assert table.action(game.initial_state()) == 0
    wages = as_game(Table({0: {0: [(1.0, 0, 1.0, False)]}}))
    with pytest.raises(UnsupportedGameError, match=r"still change by 1 after 100,000 sweeps"):
        value_iteration(wages)
    with pytest.raises(GameOverError, match="has no legal action although the game goes on"):
        value_iteration(as_game(Table({0: {0: [(1.0, 1, 0.0, False)]}, 1: {}})))


def test_what_it_cannot_do() -> None:
    with pytest.raises(UnsupportedGameError, match=r"value_iteration needs one or two players, but Pig.* has 3"):
        value_iteration(Pig(players=3))
    with pytest.raises(UnsupportedGameError, match=r"more than 100 states: raise most_states .*leave counters"):
        value_iteration(Pig(), most_states=100)
    env = gymnasium.make("Blackjack-v1")
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match="needs the probabilities of chance, but that of Blackjack-v1"):
        value_iteration(env)
    with pytest.raises(InvalidSettingError, match=r"none of the .* states in the table"):
        value_iteration(Pig(target=3)).value(Pig(target=9).initial_state()._replace(turn=8))
    for settings in ({"tolerance": 0}, {"most_states": 0}):
        with pytest.raises(InvalidSettingError, match="must be"):
            ValueIterationAgent(**settings)
        with pytest.raises(InvalidSettingError, match="must be"):
            value_iteration(Pig(target=3), **settings)
