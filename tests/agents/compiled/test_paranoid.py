"""Compiled paranoid and best-reply search against the plain ones: nodes, lines, values by seat, best actions."""

from __future__ import annotations

import dataclasses
import random
from typing import Any
from unittest import mock

import pytest
from oracles.compared_searches import Share, compiled, plain, random_positions, searched

from zermelo.agents import BestReplyAgent, ParanoidAgent, StoppedBy
from zermelo.agents.algorithms import best_reply, paranoid
from zermelo.agents.compiled import front_end
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import Ordering, Ties
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Root
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.tree.best_reply import RepliesGame
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK, DotsAndBoxes, Nim, Pig
from zermelo.envs.rules import RulesGame

GAME, REWARDS = make_evaluator("game"), make_evaluator("rewards")
RULES = [
    pytest.param(MNK(m=3, n=3, k=3, players=3), marks=pytest.mark.slow),
    pytest.param(MNK(m=4, n=3, k=3, players=4), marks=pytest.mark.slow),
    DotsAndBoxes(rows=2, columns=2, players=3),
    DotsAndBoxes(rows=1, columns=3, players=4, margin=True),
    DotsAndBoxes(rows=2, columns=1),
    pytest.param(Share(), marks=pytest.mark.slow),  # each class more is seconds of compiling
    pytest.param(Pig(target=8, players=3), marks=pytest.mark.slow),
    pytest.param(Pig(target=6, sides=3), marks=pytest.mark.slow),
]
MORE_RULES = [Nim(heaps=(2, 3, 2), players=3), Nim(heaps=(2, 2, 3), misere=True, players=4), MNK(m=4, n=3, k=3)]


def compare(rules: Any, count: int, seed: int) -> None:
    """The two searches at random positions with random settings; everything agrees."""
    generator = random.Random(f"{seed} {rules}")
    game = RulesGame(rules)
    for number, state in enumerate(random_positions(game, generator, count)):
        compare_at(game, state, bool(number % 2), generator)


def compare_at(game: RulesGame, state: Any, replies: bool, generator: random.Random) -> None:
    depth = generator.choice([1, 2, 3, 4])
    limits, whole = Limits(depth=depth, nodes=generator.choice([None, None, 300])), Limits(depth=depth)
    evaluator = generator.choice([GAME, REWARDS] if hasattr(game.rules, "evaluation") else [REWARDS])
    megabytes = generator.choice([0.001, 1])
    config = AlphaBetaConfig(
        depends_on_seat=True,
        history_on_improvement=True,
        ordering=generator.choice(list(Ordering)),
        sooner=generator.random() < 0.7,
    )
    root = Root(game, state, evaluator)
    if replies:
        seen = RepliesGame(game, game.to_move(state))
        root = root._replace(state=seen.root(state), searched=seen)
    how = {
        "step": generator.random() < 0.5,
        "exact": generator.random() < 0.5,
        "ties": generator.choice(list(Ties)),
    }

    def run(make: Any, limits: Limits, memory_mb: float = 0) -> Any:
        search = make(root, limits, dataclasses.replace(config, memory_mb=memory_mb))
        return searched(search, root.state, limits, **how)

    said = (game, replies, state, limits, config, evaluator, how, megabytes)
    with mock.patch.object(front_end, "ARENA", 1):
        assert run(compiled, limits) == run(plain, limits), said
    assert best_ones(run(compiled, whole, megabytes)) == best_ones(run(plain, whole, 8)), said


def best_ones(answer: Any) -> Any:
    """What does not depend on a table: the best score and who has it, and whether it is proven.

    What the others get depends on which of several replies that are as bad is found first.
    """
    return answer.score, answer.tied, answer.proven


@pytest.mark.thorough
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_everything_agrees(rules: Any) -> None:
    compare(rules, 10, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("rules", RULES + MORE_RULES, ids=str)
def test_everything_agrees_at_thousands_of_positions(rules: Any, seed: int) -> None:
    compare(rules, 250, seed)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "rules",
    [
        DotsAndBoxes(rows=1, columns=2, players=3),
        pytest.param(MNK(m=3, n=2, k=2, players=3), marks=pytest.mark.slow),
        pytest.param(Share(coins=7), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_textbook_functions_agree(rules: Any) -> None:
    generator = random.Random(3)
    game = RulesGame(rules)
    for state in random_positions(game, generator, 10):
        seat = game.to_move(state)
        assert ParanoidAgent(depth="full").search_state(game, state).value == paranoid(game, state, seat), (
            rules,
            state,
        )
        found = BestReplyAgent(depth="full").search_state(game, state)
        assert found.value == best_reply(game, state, seat), (rules, state)
        assert not found.proven


@pytest.mark.thorough
@pytest.mark.parametrize("agent", [ParanoidAgent, BestReplyAgent])
def test_limits_and_results_are_as_everywhere(agent: Any) -> None:
    game = RulesGame(DotsAndBoxes(players=3))
    result = agent(nodes=5000).search_state(game)
    assert (result.stopped_by, result.nodes) == (StoppedBy.NODES, 5000)
    result = agent(seconds=0.3).search_state(game)
    assert result.stopped_by is StoppedBy.SECONDS
    result = agent(depth=3).search_state(game)
    assert (result.stopped_by, result.depth, result.proven) == (StoppedBy.DEPTH, 3, False)
    assert result.stats["table_hits"] > 0
    state = game.initial_state()
    for action in result.principal_variation:
        assert action in game.legal_actions(state)
        state = game.result(state, action)


@pytest.mark.slow
@pytest.mark.parametrize("agent", [ParanoidAgent, BestReplyAgent])
def test_a_game_too_long_to_be_searched_to_its_end_is_said_to_be(agent: Any) -> None:
    said = r"Share\(coins=30000\) goes on for more than \d+ moves.*depth="
    with pytest.raises(UnsupportedGameError, match=said):
        agent().search_state(RulesGame(Share(coins=30000)))
