"""Many positions at once: the same answers as one by one, in order, whatever the threads."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from doubles.small_games import AIMA_5_2, CoinRow, TreeGame

from zermelo.agents import AlphaBetaAgent, GreedyAgent, MinimaxAgent
from zermelo.agents.solving.solve import exact_values
from zermelo.agents.training.labels import search_many
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import GameOverError, InvalidSettingError
from zermelo.envs.games import MNK, ConnectFour, Pig
from zermelo.envs.rules import RulesGame


def positions(rules: Any, count: int, seed: int, *, finished: bool = False) -> list[Any]:
    generator = random.Random(f"{rules} {seed}")
    game = RulesGame(rules)
    found: list[Any] = []
    while len(found) < count:
        line = [game.initial_state()]
        while not game.is_terminal(line[-1]):
            line.append(game.result(line[-1], generator.choice(list(game.legal_actions(line[-1])))))
        found.append(generator.choice(line if finished else line[:-1]))
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "settings", [{"depth": 4}, {"nodes": 2000}, {"depth": 3, "exact": True, "seed": 5}], ids=str
)
def test_each_result_is_that_of_a_search_of_its_own(threads: int, settings: dict[str, Any]) -> None:
    game = RulesGame(ConnectFour())
    states = positions(ConnectFour(), 12, 1)
    results = search_many(game, states, AlphaBetaAgent(memory_mb=1, **settings), threads=threads)
    assert len(results) == len(states)
    for number, (state, result) in enumerate(zip(states, results, strict=True)):
        seed = settings.get("seed", 0) + number
        alone = AlphaBetaAgent(**{**settings, "memory_mb": 1, "seed": seed}).search_state(game, state)
        for field in ("action", "value", "action_values", "nodes", "depth", "stopped_by", "principal_variation"):
            assert getattr(result, field) == getattr(alone, field), (number, field)


def test_games_in_plain_python() -> None:
    game = CoinRow((3, 9, 1, 2, 8))
    state = game.initial_state()
    states = [state, *(game.result(state, action) for action in game.legal_actions(state))]
    results = search_many(game, states, threads=4)
    assert [result.value for result in results] == [MinimaxAgent().search_state(game, s).value for s in states]
    assert search_many(game, []) == []


def test_an_evaluator_of_one_s_own_is_called_by_one_thread() -> None:
    callers = set()

    def evaluate(game: Any, state: Any) -> tuple[float, float]:
        callers.add(threading.get_ident())
        return (0.25, -0.25)

    states = positions(ConnectFour(), 4, 7)
    search_many(ConnectFour(), states, AlphaBetaAgent(depth=2, evaluator=evaluate), threads=4)
    assert callers == {threading.get_ident()}


def test_exact_values_in_plain_python() -> None:
    game = TreeGame(AIMA_5_2)
    state = game.initial_state()
    after = game.result(state, 2)
    found = exact_values(game, [state, after, game.result(after, 0)])
    assert [exact.values_by_seat[0] for exact in found] == [3, 2, 14]
    assert found[2].plies == 0


def test_a_finished_state_is_named() -> None:
    states = positions(MNK(), 3, 4)
    end = next(s for s in positions(MNK(), 50, 5, finished=True) if MNK().is_terminal(s))
    with pytest.raises(GameOverError, match=r"state number 3 of 4 \(from 0\): MNK is over"):
        search_many(MNK(), [*states, end])


def test_an_error_in_one_stops_all() -> None:
    def failing(result: Any) -> None:
        raise ValueError("from the callback")

    agent = AlphaBetaAgent(nodes=50_000, on_iteration=failing)
    with pytest.raises(ValueError, match="from the callback"):
        search_many(ConnectFour(), positions(ConnectFour(), 8, 6), agent, threads=2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"threads": 0}, "threads must be"), ({"agent": GreedyAgent()}, "takes an AlphaBetaAgent, not")],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSettingError, match=message):
        search_many(MNK(), [MNK().initial_state()], **settings)


@pytest.mark.parametrize("work", [search_many, exact_values])
def test_games_that_do_not_fit(work: Any) -> None:
    with pytest.raises(UnsupportedGameError, match="needs a game without chance"):
        work(Pig(), [Pig().initial_state()])
