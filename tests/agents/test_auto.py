"""The agent that chooses its search."""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium
import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AutoAgent, make_agent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.envs import UnsupportedGameError, as_game, make
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, DotsAndBoxes
from zermelo.envs.rules import RulesGame
from zermelo.envs.trees import tree_game


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "method"),
    [
        (ConnectK(3, 3, 3, drops=True), "mcts: this game has no evaluation function"),
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
    class Telling(MNK):
        __slots__ = ()

        def search_settings(self, search: str) -> dict[str, float]:
            return {"late_move_reductions": 1} if search == "selective" else {}

    rules = MNK(m=5, n=5, k=4), Telling(m=5, n=5, k=4)
    full, less = (AutoAgent(nodes=100_000).search_state(each) for each in rules)
    assert full.method == less.method == "alphabeta: there is an evaluation, and two players are opposed"
    assert full.depth < less.depth


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


@pytest.mark.thorough
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


@pytest.mark.parametrize(
    ("name", "settings", "steps", "total"),
    [
        ("FrozenLake-v1", {"is_slippery": False}, 6, 1),
        ("FrozenLake8x8-v1", {"is_slippery": False}, 14, 1),
        ("CliffWalking-v1", {}, 13, -13),
        ("CliffWalking-v1", {"max_episode_steps": 5}, 5, -5),
        ("Taxi-v4", {}, 12, 9),
    ],
)
def test_games_of_a_known_table_take_the_fewest_steps(
    name: str, settings: dict[str, Any], steps: int, total: float
) -> None:
    env = gymnasium.make(name, **settings)
    env.reset(seed=3)
    agent, made, received, over = (
        AutoAgent(seconds=1e-6),
        0,
        0.0,
        False,
    )  # a small table is solved outside the clock
    while not over:
        result = agent.search(env)
        assert result.method == "value_iteration: its transition table is known"
        _, reward, terminated, truncated, _ = env.step(result.env_action)
        made, received, over = made + 1, received + float(reward), terminated or truncated
    assert (made, received) == (steps, total)


def test_a_slippery_lake_is_crossed_as_often_as_its_time_limit_allows() -> None:
    """Backward induction over the steps that are left, by hand, from the table alone."""
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=12)
    env.reset(seed=1)
    table: Any = env.unwrapped.P  # type: ignore[attr-defined]
    values = dict.fromkeys(table, 0.0)
    for _ in range(12):
        before = values
        values = {
            state: max(sum(p * (r + (0 if end else before[s])) for p, s, r, end in ways) for ways in by.values())
            for state, by in table.items()
        }
    assert AutoAgent(seconds=5).search(env).value == pytest.approx(values[0])


def test_values_serve_other_steps_only_where_they_have_settled() -> None:
    """The same agent before a short end, with much time, and later in that game."""
    agent = AutoAgent(seconds=5)
    found = []
    for limit in (5, 200, 200):
        env = gymnasium.make("CliffWalking-v1", max_episode_steps=limit)
        env.reset(seed=1)
        found.append(agent.search(env).value)
        env.step(0)
        found.append(agent.search(env).value)
    assert found == [-5, -4, -13, -12, -13, -12]


def test_values_of_a_game_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []

    def counted(*args: Any, **settings: Any) -> Any:
        computed.append(settings["steps"])
        return value_iteration(*args, **settings)

    monkeypatch.setattr("zermelo.agents.solving.agents.value_iteration", counted)
    env = gymnasium.make("CliffWalking-v1", max_episode_steps=200)
    env.reset(seed=1)
    agent = AutoAgent(seconds=5)
    for _ in range(13):
        env.step(agent.act(env))
    assert computed == [199]


def test_small_games_of_one_player_and_dice_are_solved() -> None:
    game = tree_game([{"heads": (0.5, (1,)), "tails": (0.5, (5,))}, (2,)])
    result = AutoAgent(seconds=10).search_state(game)
    assert result.method == "value_iteration: one player, and few states"
    assert (result.action, result.value) == (0, 3)


class TestOpenSpiel:
    def test_its_games_are_searched_by_its_own_search(self) -> None:
        game = pytest.importorskip("pyspiel").load_game("y(board_size=5)")
        result = AutoAgent(seconds=0.2).search_state(game)
        assert result.method.startswith("openspiel_mcts: this game has no evaluation function")
        assert result.stopped_by is StoppedBy.SECONDS
        assert 0.15 < result.seconds < 2
        assert sum(result.visits.values()) == result.stats["simulations"] == result.nodes > 20
        assert result.visits[result.action] == max(result.visits.values())
        assert result.principal_variation[0] == result.action

    def test_a_win_is_proven(self) -> None:
        state = pytest.importorskip("pyspiel").load_game("y(board_size=3)").new_initial_state()
        result = make_agent("openspiel_mcts(simulations=20000)").search_state(state.get_game(), state)  # type: ignore[attr-defined]
        assert (result.value, result.proven, result.stopped_by) == (1, True, StoppedBy.COMPLETED)

    @pytest.mark.parametrize(
        ("played", "best", "limits"),
        [
            ((0, 3, 1, 4), {2}, "seconds=0.2, playouts=1_000_000"),  # time for no playout
            ((0, 3, 1), {2}, "simulations=1, check_replies=True"),
        ],
    )
    def test_the_end_of_the_game_is_seen_without_a_playout(
        self, played: tuple[int, ...], best: set[int], limits: str
    ) -> None:
        state = pytest.importorskip("pyspiel").load_game("tic_tac_toe").new_initial_state()
        for action in played:
            state.apply_action(action)
        game = as_game(state.get_game(), backend="environment")
        agent: Any = make_agent(f"openspiel_mcts({limits})")
        found = [dataclasses.replace(agent, seed=seed).search_state(game, state) for seed in range(5)]
        assert {each.action for each in found} == best

    def test_what_it_lacks_is_left_to_ours(self) -> None:
        pyspiel = pytest.importorskip("pyspiel")
        assert AutoAgent(nodes=200).search_state(pyspiel.load_game("y(board_size=5)")).method.startswith("mcts: ")
        with pytest.raises(UnsupportedGameError, match="rewards before the end"):
            make_agent("openspiel_mcts").search_state(pyspiel.load_game("cliff_walking"))  # type: ignore[attr-defined]
        with pytest.raises(UnsupportedGameError, match="is not one of OpenSpiel's games"):
            make_agent("openspiel_mcts").search_state(RulesGame(MNK()))  # type: ignore[attr-defined]

    def test_longer_searches_add_up_trees_and_can_be_stopped(self) -> None:
        game = pytest.importorskip("pyspiel").load_game("y(board_size=5)")
        seen: list[Any] = []
        agent: Any = make_agent("openspiel_mcts(seconds=60)")
        watched = dataclasses.replace(agent, on_iteration=lambda result: seen.append(result) or len(seen) < 2)
        result = watched.search_state(game)
        assert (result.stopped_by, result.stats["trees"]) == (StoppedBy.INTERRUPT, 2)
        assert result.nodes == seen[-1].nodes > seen[0].nodes
