"""Static evaluations: what they say of known positions, that they stay inside the bounds, and their names."""

from __future__ import annotations

import math
import pickle

import pytest
from doubles.small_games import CoinRow, ConnectK, DiceRace, Leaf, Node, TreeGame

from zermelo.agents import AlphaBetaAgent, Evaluator, ExpectiminimaxAgent, GreedyAgent, LinearEvaluator
from zermelo.agents.evaluators.playout import PlayoutEvaluator, stable_hash
from zermelo.agents.evaluators.protocol import squash
from zermelo.agents.evaluators.registry import EVALUATORS, default_evaluator, make_evaluator
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError, UnknownNameError


class TestSquash:
    @pytest.mark.parametrize("bounds", [(-1.0, 1.0), (0.0, 1.0), (-48.0, 48.0)])
    def test_strictly_inside_and_in_order(self, bounds):
        values = [squash(x, bounds) for x in (-1e300, -1e9, -30, -1, 0, 1, 30, 1e9, 1e300)]
        assert all(bounds[0] < value < bounds[1] for value in values)
        assert values == sorted(values)
        assert values[4] == sum(bounds) / 2
        assert len(set(values)) == 9 or values[0] == values[1]

    def test_without_bounds_nothing_changes(self):
        assert squash(17.0, (-math.inf, math.inf)) == 17.0


class TestLinear:
    def test_sum_of_weighted_features_for_both_seats(self):
        evaluator = LinearEvaluator(
            features={"three": lambda game, state: 3, "half": lambda game, state: 0.5},
            weights={"three": 2, "half": -4},
            scale=4,
        )
        game = ConnectK()
        assert evaluator.raw(game, game.initial_state()) == 4
        assert evaluator(game, game.initial_state()) == (0.5, -0.5)

    def test_constant_sum(self):
        evaluator = LinearEvaluator(features={"one": lambda game, state: 1}, weights={"one": 1})
        game = TreeGame(Node(0, [Leaf(1, 0)]), constant=1, bounds=(0, 1))
        assert evaluator(game, game.root) == (0.75, 0.25)

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_features_must_be_finite(self, value):
        evaluator = LinearEvaluator(features={"bad": lambda game, state: value}, weights={"bad": 1})
        with pytest.raises(InvalidSettingError, match="feature bad must be a finite number"):
            AlphaBetaAgent(depth=1, evaluator=evaluator).search_state(ConnectK())

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"features": {"a": len}, "weights": {"b": 1}}, r"same names, but are \['a'\] and \['b'\]"),
            ({"features": {"a": 3}, "weights": {"a": 1}}, "feature a must be a function"),
            ({"features": {"a": len}, "weights": {"a": "x"}}, "weight of a must be a finite number, not 'x'"),
            ({"features": {}, "weights": {}, "scale": 0}, "scale must be a finite number greater than 0, not 0"),
        ],
    )
    def test_settings(self, settings, message):
        with pytest.raises(InvalidSettingError, match=message):
            LinearEvaluator(**settings)

    def test_three_players(self):
        evaluator = LinearEvaluator(features={}, weights={})
        game = TreeGame(Node(0, [Leaf(1, 0, 0)]), seats=3)
        with pytest.raises(UnsupportedGameError, match="a tree has 3"):
            evaluator(game, game.root)


class TestPlayouts:
    def test_same_state_same_value(self):
        game = ConnectK()
        state = game.result(game.initial_state(), 4)
        values = PlayoutEvaluator(games=50)(game, state)
        assert values == PlayoutEvaluator(games=50)(ConnectK(), state)
        assert sum(values) == 0
        assert values != PlayoutEvaluator(games=50, seed=1)(game, state)

    def test_average_of_random_play(self):
        """Random against random: first wins 0.584921, second 0.288095, draws 0.126984 (by enumeration)."""
        game = ConnectK()
        value = PlayoutEvaluator(games=3000)(game, game.initial_state())[0]
        assert value == pytest.approx(0.584921 - 0.288095, abs=0.06)

    def test_rewards_to_come_only_strictly_inside_the_bounds(self):
        game = TreeGame(Node(0, [Leaf(1, -1)]), bounds=(-1, 1))
        assert PlayoutEvaluator(games=3)(game, game.root) == (0.75, -0.75)
        coins = CoinRow([5, 3])
        state = coins.result(coins.initial_state(), 0)
        assert coins.utility(state) == (5, -5)
        assert PlayoutEvaluator(games=3)(coins, state)[0] == pytest.approx(-3 * 3 / 4)

    def test_undecided_after_so_many_moves(self):
        game = ConnectK()
        assert PlayoutEvaluator(games=3, moves=2)(game, game.initial_state()) == (0, 0)

    def test_sampled_chance(self):
        game = DiceRace(2)
        value = PlayoutEvaluator(games=500)(game, game.initial_state())[0]
        # Stop at once (0), or roll: then stop with the points, or roll again, each as likely.
        assert value == pytest.approx(0.5 * (0.5 * 20 / 6 + 0.5 * (25 * 8 / 36)), abs=0.5)

    @pytest.mark.parametrize("settings", [{"games": 0}, {"moves": 0}, {"seed": -1}, {"games": 2.5}])
    def test_settings(self, settings):
        with pytest.raises(InvalidSettingError, match=next(iter(settings))):
            PlayoutEvaluator(**settings)


class TestChecks:
    @pytest.mark.parametrize(
        ("evaluator", "message"),
        [
            (
                lambda game, state: (1.0, -1.0),
                "gave 1.0, which is not strictly inside the utility bounds -1.0 and 1.0",
            ),
            (lambda game, state: (math.nan, 0.0), "an evaluation is finite, but .* gave nan"),
            (lambda game, state: (0.0,), "one number for each of the 2 seats of .*, but .* gave 1"),
            (lambda game, state: 0.5, "is a sequence of 2 numbers, one per seat, but .* gave 0.5"),
        ],
    )
    @pytest.mark.parametrize("agent", [AlphaBetaAgent, ExpectiminimaxAgent, GreedyAgent])
    def test_evaluations_are_checked(self, evaluator, message, agent):
        limits = {} if agent is GreedyAgent else {"depth": 1}
        with pytest.raises(InvalidSettingError, match=message):
            agent(evaluator=evaluator, **limits).search_state(ConnectK())

    def test_one_player_may_expect_nothing(self):
        """A maze that pays 0 to 1: nothing is expected at the depth limit, which is the lower bound."""
        game = TreeGame(Node(0, [Node(0, [Leaf(1)], utility=(0,))], utility=(0,)), seats=1, bounds=(0, 1))
        assert ExpectiminimaxAgent(depth=1, evaluator="rewards").search_state(game).value == 0
        assert GreedyAgent().search_state(game).value == 0
        with pytest.raises(InvalidSettingError, match=r"gave 1.5, which is not inside the utility bounds 0 and 1"):
            ExpectiminimaxAgent(depth=1, evaluator=lambda game, state: (1.5,)).search_state(game)

    def test_utilities_outside_the_bounds_are_noticed(self):
        game = TreeGame(Node(0, [Leaf(3, -3)]), bounds=(-1, 1))
        with pytest.raises(
            UnsupportedGameError, match=r"utility 3.0 for seat 0, outside its utility_bounds -1 to 1"
        ):
            AlphaBetaAgent(depth="full").search_state(game)


class TestNames:
    @pytest.mark.parametrize("name", sorted(set(EVALUATORS) - {"linear", "network", "onnx", "torch"}))
    def test_round_trip(self, name):
        evaluator = make_evaluator(name)
        assert isinstance(evaluator, Evaluator)
        assert evaluator.spec() == name
        assert pickle.loads(pickle.dumps(evaluator)) == evaluator
        assert f"evaluator={name}" in AlphaBetaAgent(depth=2, evaluator=name).name

    def test_settings_and_modules(self):
        assert make_evaluator("playout(games=3)") == PlayoutEvaluator(games=3)
        assert make_evaluator("zermelo.agents.evaluators.playout:PlayoutEvaluator(games=3)") == PlayoutEvaluator(
            games=3
        )
        assert make_evaluator("builtins:len") is len

    @pytest.mark.parametrize(
        ("given", "kind", "message"),
        [
            ("playuot", UnknownNameError, "no evaluator is called 'playuot': did you mean 'playout'"),
            ("playout(game=3)", InvalidSettingError, "no setting 'game': did you mean 'games'"),
            ("game(x=1)", InvalidSettingError, "no setting 'x': its settings are none"),
            ("builtins:len(x=1)", InvalidSettingError, "'builtins:len' is not a class, so it takes no settings"),
            ("builtins:nothing", UnknownNameError, "builtins has nothing called 'nothing'"),
            ("no_such_module:f", UnknownNameError, "there is no module called 'no_such_module'"),
            (":f", InvalidSettingError, "write module:name"),
            (3, InvalidSettingError, "evaluator must be a function"),
            ("zermelo.agents:LinearEvaluator", InvalidSettingError, "LinearEvaluator needs 'features', 'weights'"),
        ],
    )
    def test_mistakes(self, given, kind, message):
        with pytest.raises(kind, match=message):
            make_evaluator(given)

    def test_a_game_without_an_evaluation_of_its_own(self):
        with pytest.raises(InvalidSettingError, match="has no evaluation of its own"):
            AlphaBetaAgent(depth=1, evaluator="game").search_state(ConnectK())

    def test_defaults(self):
        game = ConnectK()
        assert default_evaluator(game, game.initial_state()).spec() == "rewards"
        own = type("Own", (ConnectK,), {"evaluation": lambda self, state: (0.25, -0.25)})()
        assert default_evaluator(own, own.initial_state()).spec() == "game"
        assert AlphaBetaAgent(depth=1).search_state(own).value == 0.25


def test_stable_hash():
    """Text hashes differently in every process; this must not."""
    assert stable_hash(0, ("a", 1, b"x", None, frozenset({"p", "q", "r"}), 2.5, True)) == 7516972493207326419
    assert stable_hash((1, 2), 3) != stable_hash(1, (2, 3))
    assert stable_hash({"a": [1]}) == stable_hash({"a": [1]})
