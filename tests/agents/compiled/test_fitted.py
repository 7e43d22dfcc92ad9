"""Searches with a fitted evaluation, compiled and plain: the same nodes, lines, values and best actions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.compiled.program import compiled_search
from zermelo.agents.compiled.two_player import CompiledAlphaBeta, CompiledMinimax
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import Ordering, Ties
from zermelo.agents.evaluators.feature_sets import feature_set
from zermelo.agents.evaluators.fitted import FittedEvaluator
from zermelo.agents.evaluators.pattern_tables import random_states
from zermelo.agents.search import backend
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.full_width import FullWidthSearch
from zermelo.agents.search.iterative_deepening import deepen
from zermelo.envs.games import MNK, Breakthrough, Othello
from zermelo.envs.rules import RulesGame


def fitted_to(game: RulesGame, seed: int = 1) -> FittedEvaluator:
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
    result = AlphaBetaAgent(depth=2, evaluator=FittedEvaluator(evaluator.features, evaluator.weights, "f.json"))
    assert backend.can_compile_alpha_beta(game, result.evaluator, None)
    assert "f.json" in result.search_state(game, state).evaluator


def test_threads_have_room_of_their_own() -> None:
    tables = fitted_to(RulesGame(MNK())).tables(RulesGame(MNK()))
    assert tables is not None
    one, two = tables.words(), tables.words()
    assert not {one[2], one[3]} & {two[2], two[3]}
    assert one[4:18].tolist() == two[4:18].tolist()
