"""The agent that chooses its search."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AutoAgent, make_agent
from zermelo.envs import InvalidSettingError, UnsupportedGameError, make
from zermelo.envs.games import MNK, DotsAndBoxes
from zermelo.envs.rules import RulesGame


@pytest.mark.parametrize(
    ("game", "method"),
    [
        (ConnectK(3, 3, 3, drops=True), "mcts: nobody has written an evaluation"),
        (RulesGame(MNK(m=3, n=3, k=3)), "alphabeta: there is an evaluation, and two players are opposed"),
        (RulesGame(DotsAndBoxes(rows=1, columns=2, players=3)), "mcts: 3 players who are not simply opposed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_says_what_it_chose(game: Any, method: str) -> None:
    result = AutoAgent(nodes=200).search_state(game)
    assert result.method == method
    assert result.nodes <= 200


def test_alpha_beta_searches_less_deep_what_the_game_says_may_be() -> None:
    class Weighed(ConnectK):
        def evaluation(self, state: Any) -> tuple[float, float]:
            return 0.0, 0.0

    class Telling(Weighed):
        def selective_settings(self) -> dict[str, float]:
            return {"late_move_reductions": 1}

    full, less = (AutoAgent(nodes=3_000).search_state(game) for game in (Weighed(4, 4, 4), Telling(4, 4, 4)))
    assert full.method == less.method == "alphabeta: there is an evaluation, and two players are opposed"
    assert full.depth < less.depth


@pytest.mark.defect(10)
def test_settings_are_those_of_the_game_that_is_searched() -> None:
    class Telling(ConnectK):
        def search_settings(self, kind: str) -> dict[str, Any]:
            return {"playouts": 20}

    telling, silent = Telling(3, 3, 3, drops=True), ConnectK(3, 3, 3, drops=True)
    agent = AutoAgent(nodes=2_000)
    for game in (telling, silent, telling, silent):
        new = AutoAgent(nodes=2_000).search_state(game).stats["simulations"]
        assert agent.search_state(game).stats["simulations"] == pytest.approx(new, rel=0.3)


def test_it_plays_environments() -> None:
    for name in ("classic/tictactoe-v3", "classic/connect_four-v3"):
        env = make(name)
        env.reset(seed=1)
        agent = make_agent("auto(nodes=300)")
        for _ in range(2):
            action = agent.act(env)
            assert env.observe(env.agent_selection)["action_mask"][action] == 1
            env.step(action)


def test_the_same_seed_gives_the_same_answer() -> None:
    game = RulesGame(DotsAndBoxes(rows=1, columns=2, players=3))
    visits = [AutoAgent(nodes=2_000, seed=seed).search_state(game).visits for seed in (1, 1, 2)]
    assert visits[0] == visits[1] != visits[2]


def test_limits_are_checked() -> None:
    assert AutoAgent().limits.seconds == 1.0
    with pytest.raises(InvalidSettingError, match="seconds must be greater than 0"):
        AutoAgent(seconds=-1)


def test_where_something_is_hidden_it_does_not_peek() -> None:
    env = make("classic/leduc_holdem-v4")
    env.reset(seed=1)
    agent = AutoAgent(nodes=300)
    result = agent.search(env)
    assert result.method == "ismcts: players do not see everything"
    assert result.nodes <= 300
    assert env.unwrapped.observe(env.agent_selection)["action_mask"][agent.act(env)]
    phantom = pytest.importorskip("pyspiel").load_game("phantom_ttt")
    with pytest.raises(UnsupportedGameError, match="OpenSpiel cannot deal"):
        agent.search_state(phantom)
