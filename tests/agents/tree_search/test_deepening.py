"""Iterative deepening with a table ends no sooner than without: what an iteration left unfinished is no end."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from doubles.grown_rules import Grown

from zermelo.agents import (
    AlphaBetaAgent,
    BestReplyAgent,
    ExpectiminimaxAgent,
    MaxNAgent,
    MinimaxAgent,
    ParanoidAgent,
)
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.textbook import best_reply, expectiminimax, minimax, paranoid
from zermelo.envs.rules import GENERAL_SUM, RulesGame
from zermelo.envs.rules.bits import mix, shift_right


class Stair(NamedTuple):
    left: int
    mover: int


class Hops(NamedTuple):
    """A stone is moved one or three steps down: three short ways lead where a long one does, two moves later."""

    seed: int = 0
    steps: int = 9

    def num_actions(self) -> int:
        return 2

    def utility_bounds(self) -> tuple[int, int]:
        return (-3, 3)

    def initial_state(self) -> Stair:
        return Stair(self.steps, 0)

    def to_move(self, state: Stair) -> int:
        return state.mover

    def legal_actions(self, state: Stair, actions: list[int]) -> int:
        actions[0] = 0
        actions[1] = 1
        return 2

    def result(self, state: Stair, action: int) -> Stair:
        return Stair(state.left - (3 if action else 1), 1 - state.mover)

    def is_terminal(self, state: Stair) -> bool:
        return state.left <= 0

    def drawn(self, state: Stair) -> int:
        return shift_right(mix(self.seed * 64 + 2 * (state.left + 3) + state.mover), 1) % 5 - 2

    def utility(self, state: Stair, seat: int) -> int:
        return self.drawn(state) if seat == 0 else -self.drawn(state)

    def evaluation(self, state: Stair, seat: int) -> int:
        return 400 * self.drawn(state) if seat == 0 else -400 * self.drawn(state)


ENOUGH = {"nodes": 1_000_000}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        *((kind, True) for kind in (AlphaBetaAgent, MinimaxAgent, MaxNAgent)),
        (AlphaBetaAgent, False),
        (MinimaxAgent, False),
        pytest.param(MaxNAgent, False, marks=pytest.mark.slow),
    ],
)
def test_a_search_that_completes_has_seen_the_end(kind: Any, plain: bool) -> None:
    for seed in range(60):
        game = RulesGame(Hops(seed))
        settings = {"evaluator": lambda game, state: game.evaluation(state)} if plain else {}
        found = kind(**ENOUGH, **settings).search_state(game)
        assert found.stopped_by is StoppedBy.COMPLETED
        assert found.proven, seed
        assert found.values_by_seat[0] == minimax(game, game.initial_state()), seed


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["compiled", "plain"])
@pytest.mark.parametrize("pruning", ["none", "star1", "star2"])
def test_so_it_is_with_dice(pruning: str, backend: str) -> None:
    # In games 124 and 144 an iteration meets nothing but what the one before knows, less deep than it was there.
    for seed in (124, 144, *range(10)):
        game = RulesGame(Grown(seed=1000 * seed, width=30 + seed % 30, players=1))
        settings: dict[str, Any] = {"pruning": pruning, "prefer_short_wins": False, "chance_at_limit": "evaluate"}
        if backend == "plain":
            settings["evaluator"] = lambda game, state: game.evaluation(state)
        found = ExpectiminimaxAgent(depth=8, deepening=True, **settings).search_state(game)
        known = expectiminimax(game, game.initial_state())
        assert found.stopped_by is StoppedBy.COMPLETED
        assert found.proven, seed
        assert found.values_by_seat[0] == pytest.approx(known, abs=1e-12), seed


class Place(NamedTuple):
    code: int
    left: int


class Maze(NamedTuple):
    """Three players move in a random order through few places, by ways of one to three steps."""

    seed: int = 0
    height: int = 10
    width: int = 4

    def seats(self) -> int:
        return 3

    def utility_sum(self) -> int:
        return GENERAL_SUM

    def num_actions(self) -> int:
        return 3

    def utility_bounds(self) -> tuple[int, int]:
        return (-2, 2)

    def initial_state(self) -> Place:
        return Place(0, self.height)

    def drawn(self, state: Place, what: int, count: int) -> int:
        code = (self.seed * 64 + state.code) * 64 + state.left
        return shift_right(mix(code * 16 + what), 1) % count

    def to_move(self, state: Place) -> int:
        return self.drawn(state, 0, 3)

    def legal_actions(self, state: Place, actions: list[int]) -> int:
        count = 1 + self.drawn(state, 1, 3)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: Place, action: int) -> Place:
        return Place(self.drawn(state, 4 + action, self.width), state.left - 1 - self.drawn(state, 8 + action, 3))

    def is_terminal(self, state: Place) -> bool:
        return state.left <= 0

    def utility(self, state: Place, seat: int) -> int:
        return self.drawn(state, 2 + 16 * (seat + 1), 5) - 2

    def evaluation(self, state: Place, seat: int) -> int:
        return 400 * (self.drawn(state, 3 + 16 * (seat + 1), 5) - 2)


@pytest.mark.parametrize("plain", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(("kind", "textbook"), [(ParanoidAgent, paranoid), (BestReplyAgent, best_reply)])
def test_so_it_is_for_one_against_all(kind: Any, textbook: Any, plain: bool) -> None:
    # In the first games an iteration meets nothing but what the one before knows, less deep than it was there.
    for seed in (48, 296, 8, 21, 60, 209, 220, *range(10)):
        game = RulesGame(Maze(seed))
        state = game.initial_state()
        settings = {"evaluator": lambda game, state: game.evaluation(state)} if plain else {}
        found = kind(**ENOUGH, **settings).search_state(game)
        assert found.stopped_by is StoppedBy.COMPLETED
        assert found.proven or kind is BestReplyAgent, seed
        assert found.value == textbook(game, state, game.to_move(state)), seed
