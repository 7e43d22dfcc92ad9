"""Games given as nested lists, and textbooks' figures."""

import math

import pytest

from zermelo.agents import make_agent
from zermelo.envs import CHANCE, as_game
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.envs.game import Chance, RewardSum
from zermelo.envs.trees import figure, list_figures, tree_game


def names(game):
    """The names of all nodes at which something is decided, level by level."""
    level, found = [game.initial_state()], []
    while level:
        found += [node.name for node in level if node.children]
        level = [child for node in level for child in node.children]
    return found


def test_nodes_and_actions_are_named_as_in_figures():
    game = tree_game([[3, 12, 8], [2, 4, 6], [14, 5, 2]])
    root = game.initial_state()
    assert names(game) == list("ABCD")
    assert [game.action_text(root, action) for action in game.legal_actions(root)] == ["a1", "a2", "a3"]
    third = game.result(root, 2)
    assert game.text(third) == "D"
    assert game.to_move(third) == 1
    end = game.result(third, 0)
    assert game.is_terminal(end)
    assert game.utility(end) == (14, -14)
    assert game.traits.reward_sum is RewardSum.ZERO
    assert as_game(game) is game
    keys = {game.key(game.result(game.result(root, i), j)) for i in range(3) for j in range(3)}
    assert len(keys) == 9


def test_more_than_26_nodes_and_bounds():
    game = tree_game([[k] for k in range(30)], bounds=(-40, 40))
    assert names(game)[24:29] == ["Y", "Z", "AA", "AB", "AC"]
    assert game.traits.utility_bounds == (-40, 40)
    assert tree_game([1, 2]).traits.utility_bounds == (-math.inf, math.inf)


def test_chance_is_no_turn():
    game = tree_game([{"heads": (0.25, [1, 2]), "tails": (0.75, 3)}], first=1)
    root = game.initial_state()
    dice = game.result(root, 0)
    assert game.traits.chance is Chance.EXACT
    assert game.to_move(root) == 1
    assert game.to_move(dice) == CHANCE
    assert game.chance_outcomes(dice) == [(0, 0.25), (1, 0.75)]
    assert game.action_text(dice, 1) == "tails"
    assert game.to_move(game.result(dice, 0)) == 0


def test_sums_that_differ_are_a_general_game():
    assert tree_game([(1, 1), (0, 0)]).traits.reward_sum is RewardSum.GENERAL
    constant = tree_game([(1, 0), (0, 1)]).traits
    assert (constant.reward_sum, constant.constant) == (RewardSum.CONSTANT, 1)


@pytest.mark.parametrize(
    ("name", "agent", "action", "values"),
    [
        ("aima-5.2", "minimax", 0, (3, -3)),
        ("aima-5.4", "maxn", 0, (1, 2, 6)),
        ("aima-5.5", "alphabeta", 0, (3, -3)),
        ("aima-5.13", "expectiminimax", 0, None),
        ("aima-5.11", "expectiminimax", 0, None),
        ("aima-5.12b", "expectiminimax", 1, (40.9, -40.9)),
        ("aima-5.14a", "expectiminimax", 0, (2.1, -2.1)),
        ("aima-5.14b", "expectiminimax", 1, (40.9, -40.9)),
    ],
)
def test_the_figures(name, agent, action, values):
    found = make_agent(agent).search_state(figure(name))
    assert found.action == action
    assert found.proven
    if values is not None:
        assert found.values_by_seat == pytest.approx(values)
    assert list_figures()[name]


def test_an_order_preserving_transformation_changes_the_best_move():
    values = [make_agent("expectiminimax").search_state(figure(f"aima-5.14{part}")).action_values for part in "ab"]
    assert values[0] == pytest.approx({0: 2.1, 1: 1.3})
    assert values[1] == pytest.approx({0: 21, 1: 40.9})


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        (3, "a tree is a list such as"),
        ([], "every list of a tree needs something in it"),
        ([[1], []], "every list of a tree needs something in it"),
        (["x"], "an end of a tree is a number"),
        ([True], "an end of a tree is a number"),
        ([math.nan], "an end of a tree is a number"),
        ([(1, 2, 3), 4], "utility of each of the 3 players"),
        ([{"heads": 3}], "an outcome of chance is a probability and what follows"),
        ([{"heads": (0, 3)}], "an outcome of chance is a probability and what follows"),
        ([{"heads": (0.5, 3)}], "must add up to 1, not 0.5"),
    ],
    ids=["number", "empty", "empty below", "text", "flag", "nan", "lengths", "outcome", "zero", "sum"],
)
def test_what_is_no_tree(nested, message):
    with pytest.raises(InvalidSettingError, match=message):
        tree_game(nested)


def test_other_settings_are_checked():
    deep = 1
    for _ in range(300):
        deep = [deep]
    for settings, message in (
        ({"nested": deep}, "200 levels"),
        ({"nested": [1], "first": 2}, "first must be a seat from 0 to 1"),
        ({"nested": [1], "seat_names": ("one",)}, "seat_names must be 2 names"),
        ({"nested": [1, 5], "bounds": (0, 5)}, "between which all utilities lie, such as"),
        ({"nested": [1, 5], "bounds": 7}, "bounds must be two numbers"),
    ):
        with pytest.raises(InvalidSettingError, match=message):
            tree_game(**settings)
    with pytest.raises(UnknownNameError, match=r"aima-5\.5"):
        figure("aima-5.55")
