"""Searches with a fitted evaluation, compiled and plain: the same nodes, lines, values and best actions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.compiled.patterns import fitted_value
from zermelo.agents.compiled.program import compiled_search
from zermelo.agents.compiled.two_player.search import CompiledAlphaBeta, CompiledMinimax
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import FITTED_UNIT, Ordering, Ties
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.feature_sets import feature_set
from zermelo.agents.evaluators.fitted.pattern_tables import random_states
from zermelo.agents.search import backend
from zermelo.agents.search.iterative_deepening import deepen
from zermelo.agents.search.tree.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.tree.full_width import FullWidthSearch
from zermelo.envs import as_game, make_env
from zermelo.envs.games import MNK, Breakthrough, Othello
from zermelo.envs.rules import RulesGame


def fitted_to(game: Any, seed: int = 1) -> FittedEvaluator:
    """Some evaluation of a game, which corrects the written one if there is one."""
    features = feature_set("auto", game, random_states(game))
    weights = np.random.default_rng(seed).normal(size=features.size) / 8
    return FittedEvaluator(features, weights)


def answer(search: Any, state: Any, limits: Limits) -> tuple[Any, ...]:
    found = deepen(search, state, limits, step_by_step=True, exact=True, ties=Ties.FIRST, watch=lambda *_: True)
    return *found, search.budget.nodes, search.budget.deepest


@pytest.mark.parametrize(
    ("rules", "futility"),
    [
        (MNK(), 0.0),
        pytest.param(Breakthrough(rows=4, columns=3), 11 / 1024, marks=pytest.mark.slow),
        pytest.param(Othello(rows=4, columns=4), 0.0, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_compiled_and_plain_agree(rules: Any, futility: float) -> None:
    game, draw = RulesGame(rules), random.Random(3)
    evaluator = fitted_to(game)
    tables = evaluator.tables(game)
    assert tables is not None
    for state in draw.sample(random_states(game), 8):
        limits = Limits(depth=draw.choice([1, 2, 3]), nodes=draw.choice([None, 200]))
        settings: dict[str, Any] = {"sooner": draw.random() < 0.7, "quiescence": draw.choice([0, 3])}
        settings["futility"] = futility
        plain: Any = AlphaBetaSearch(
            game, Budget(limits), evaluator, order=MoveOrder(game, Ordering.AUTO), table=None, use_bounds=True,
            **settings,
        )  # fmt: skip
        compiled = compiled_search(
            CompiledAlphaBeta, game, None, Budget(limits), limits=limits, fitted=tables, **settings
        )
        assert answer(compiled, state, limits) == answer(plain, state, limits)


def test_minimax_agrees_and_results_name_the_file() -> None:
    game, limits = RulesGame(MNK()), Limits(depth=2)
    evaluator, state = fitted_to(game), game.result(game.initial_state(), 4)
    plain = FullWidthSearch(game, Budget(limits), evaluator, sooner=True)
    compiled = compiled_search(
        CompiledMinimax, game, None, Budget(limits), limits=limits, sooner=True, fitted=evaluator.tables(game)
    )
    assert answer(compiled, state, limits) == answer(plain, state, limits)
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
