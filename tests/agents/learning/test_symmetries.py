"""Which weights patterns share is chosen by how well they foretell games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zermelo.agents.evaluators.fitted.feature_sets import AboveEvaluation, feature_set
from zermelo.agents.evaluators.fitted.observed import FeatureSet, ObservationFeatures
from zermelo.agents.evaluators.fitted.patterns import OWN, PatternFeatures
from zermelo.agents.learning.tuning.fitting import best_sharing, seat_turns, with_symmetries
from zermelo.envs.games import MNK, Breakthrough, Hex, Othello
from zermelo.envs.rules import RulesGame

SQUARE = PatternFeatures(2, 4, 4, planes=(0, 1))
OBLONG = PatternFeatures(2, 4, 5, planes=(0, 1))
LINE = PatternFeatures(2, 1, 6, codes=(0.0, 1.0))
ALONE = PatternFeatures(1, 4, 4, planes=(0, 1))


def settings(features: FeatureSet) -> tuple[Any, ...]:
    assert isinstance(features, PatternFeatures)
    return features.second, features.turns, features.phases, features.longest


@pytest.mark.parametrize(
    ("rules", "turns"),
    [
        (MNK(3, 3, 3), tuple(range(8))),
        (MNK(3, 4, 3), (0, 1, 2, 3)),
        (Breakthrough(rows=4, columns=3), (0, 1)),
        (Othello(4, 4), tuple(range(8))),
        (Hex(3, 3), (0,)),
    ],
)
def test_weights_are_shared_as_the_rules_declare(rules: Any, turns: tuple[int, ...]) -> None:
    game = RulesGame(rules)
    start = game.initial_state()
    states = [start, *(game.result(start, action) for action in game.legal_actions(start))]
    found = with_symmetries(feature_set("patterns", game, states), game, states)
    assert isinstance(found, PatternFeatures)
    assert found.turns == turns


@pytest.mark.parametrize(
    ("rules", "turns"),
    [(Breakthrough(rows=5, columns=4), (2, 3)), (Othello(4, 4), (0, 2, 3)), (MNK(3, 3, 3), (0, 2, 3))],
)
def test_boards_are_turned_only_as_moves_look_alike(rules: Any, turns: tuple[int, ...]) -> None:
    """Pawns of the second seat move down where those of the first move up; stones may be put anywhere."""
    game = RulesGame(rules)
    start = game.initial_state()
    after = [game.result(start, action) for action in game.legal_actions(start)]
    features = feature_set("patterns", game, [start, *after])
    assert seat_turns(features, game, start, np.random.default_rng(1)) == turns


@pytest.mark.parametrize(
    ("features", "truth"),
    [
        (SQUARE, (0, (0,), (), 9)),
        (SQUARE, (2, (0,), (4, 8, 12), 4)),
        (OBLONG, (3, (0,), (2, 5, 7, 10, 12, 15, 17), 9)),
        (LINE, (1, (0,), (), 4)),
        (ALONE, (OWN, (0,), (2, 4, 6, 8, 10, 12, 14), 4)),
        (SQUARE, (OWN, (0,), (), 9)),
    ],
)
def test_what_foretells_best_is_chosen(features: PatternFeatures, truth: tuple[Any, ...]) -> None:
    asked: list[FeatureSet] = []

    def loss_of(one: FeatureSet) -> float:
        asked.append(one)
        return 1 + sum(found != right for found, right in zip(settings(one), truth, strict=True))

    turns = () if features.seats == 1 else (0, 1) if features.rows == 1 else (0, 2, 3)
    assert settings(best_sharing(features, loss_of, turns)) == truth
    assert asked[0] == features
    assert len(asked) == len({settings(one) for one in asked}) <= 7


def test_what_was_written_of_the_game_stays_and_other_features_are_left_alone() -> None:
    above = best_sharing(AboveEvaluation(SQUARE), lambda one: one.size, (0, 2))
    assert isinstance(above, AboveEvaluation)
    assert settings(above.inner)[0] == 0
    other = ObservationFeatures(2, 9)
    assert best_sharing(other, lambda _: pytest.fail("there is nothing to choose"), ()) is other
    assert with_symmetries(other, RulesGame(MNK(3, 3, 3)), []) is other
