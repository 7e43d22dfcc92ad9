"""Searches with a fitted evaluation, compiled and plain: the same nodes, lines, values and best actions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from oracles.compared_searches import compiled, plain, searched

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.compiled.evaluators.patterns import fitted_value
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import FITTED_UNIT, ChancePruning
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Root
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.feature_sets import feature_set
from zermelo.agents.evaluators.fitted.pattern_tables import random_states
from zermelo.agents.search import backend
from zermelo.envs import as_game, make_env
from zermelo.envs.games import MNK, Breakthrough, Othello
from zermelo.envs.rules import RulesGame


def fitted_to(game: Any, seed: int = 1) -> FittedEvaluator:
    """Some evaluation of a game, which corrects the written one if there is one."""
    features = feature_set("auto", game, random_states(game))
    weights = np.random.default_rng(seed).normal(size=features.size) / 8
    return FittedEvaluator(features, weights)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "rules",
    [
        MNK(),
        pytest.param(Breakthrough(rows=4, columns=3), marks=pytest.mark.slow),
        pytest.param(Othello(rows=4, columns=4), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_compiled_and_plain_agree(rules: Any) -> None:
    game, draw = RulesGame(rules), random.Random(3)
    evaluator = fitted_to(game)
    for state in draw.sample(random_states(game), 8):
        limits = Limits(depth=draw.choice([1, 2, 3]), nodes=draw.choice([None, 200]))
        pruning = draw.choice([ChancePruning.NONE, ChancePruning.STAR1])
        config = AlphaBetaConfig(pruning=pruning, sooner=draw.random() < 0.7, quiescence=draw.choice([0, 3]))
        root = Root(game, state, evaluator)
        expected = searched(plain(root, limits, config), state, limits, exact=True)
        assert searched(compiled(root, limits, config), state, limits, exact=True) == expected


def test_results_name_the_file() -> None:
    game = RulesGame(MNK())
    evaluator, state = fitted_to(game), game.result(game.initial_state(), 4)
    agent = AlphaBetaAgent(depth=2, evaluator=FittedEvaluator(evaluator.features, evaluator.weights, "f.json"))
    assert "f.json" in agent.search_state(game, state).evaluator


@pytest.mark.parametrize("name", ["zermelo/MNK-v0", "classic/tictactoe-v3"])
def test_live_environments_are_searched_compiled_too(name: str) -> None:
    env = make_env(name)
    env.reset(seed=1)
    game = as_game(env)
    evaluator = fitted_to(game)
    assert backend.can_compile_alpha_beta(game, evaluator, None)
    assert not backend.can_compile_alpha_beta(as_game(env, backend="clone"), evaluator, None)
    tables = evaluator.tables(game)
    assert tables is not None
    for state in random_states(game)[:30]:
        assert fitted_value(game.rules, state, tables.address) == FITTED_UNIT * evaluator(game, state)[0]


def test_threads_have_room_of_their_own() -> None:
    tables = fitted_to(RulesGame(MNK())).tables(RulesGame(MNK()))
    assert tables is not None
    one, two = tables.words(), tables.words()
    assert not {one[2], one[3]} & {two[2], two[3]}
    assert one[4:18].tolist() == two[4:18].tolist()
