"""Compiled searches against the plain ones: the same nodes, lines, values, ties and best actions."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

import pytest
from doubles.grown_rules import Grown
from doubles.small_games import ConnectK
from oracles.compared_searches import Share, compiled, exact_values, family_of, plain, random_positions, searched

from zermelo.agents import AlphaBetaAgent, MinimaxAgent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.settings import ChanceAtLimit, Ties
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.kernels.program import can_search_through_chance
from zermelo.agents.tree_search.choose import tree_search
from zermelo.agents.tree_search.compiled import search as front_end
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.many_players.replies_game import RepliesGame
from zermelo.agents.tree_search.settings import AlphaBetaConfig, ChancePruning, MaxNConfig, Ordering, TieRule
from zermelo.envs.game import Chance, RewardSum
from zermelo.envs.games import (
    MNK,
    Backgammon,
    ConnectFour,
    DotsAndBoxes,
    EinStein,
    Game2048,
    Hypergammon,
    Nim,
    Pig,
)
from zermelo.envs.rules import RulesGame

GAME, REWARDS = make_evaluator("game"), make_evaluator("rewards")


class TakeState(NamedTuple):
    left: int
    mover: int
    first: int
    second: int


class Take(NamedTuple):
    """Take one to three stones for yourself; taking two gives another turn. A constant sum, not zero."""

    start: int = 11

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> TakeState:
        return TakeState(self.start, 0, 0, 0)

    def to_move(self, state: TakeState) -> int:
        return state.mover

    def legal_actions(self, state: TakeState, actions: list[int]) -> int:
        count = min(state.left, 3)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: TakeState, action: int) -> TakeState:
        taken = action + 1
        mover = state.mover if taken == 2 else 1 - state.mover
        if state.mover == 0:
            return TakeState(state.left - taken, mover, state.first + taken, state.second)
        return TakeState(state.left - taken, mover, state.first, state.second + taken)

    def is_terminal(self, state: TakeState) -> bool:
        return state.left == 0

    def utility(self, state: TakeState, seat: int) -> int:
        return state.first if seat == 0 else state.second

    def utility_bounds(self) -> tuple[int, int]:
        return (0, self.start)

    def utility_sum(self) -> int:
        return self.start

    def evaluation(self, state: TakeState, seat: int) -> int:
        mine = state.first if seat == 0 else state.second
        return mine * 1024 + state.left * 512 + (1 if seat == state.mover else -1) * state.left % 7

    def is_noisy(self, state: TakeState, action: int) -> bool:
        return action == 1

    def ordering_hint(self, state: TakeState, action: int) -> int:
        return -action if state.left % 2 else action


TWO = [MNK(), MNK(m=4, n=3, k=3), ConnectFour(rows=4, columns=5), ConnectFour(), Take(), Take(start=16)]
MANY = [DotsAndBoxes(rows=2, columns=2, players=3), DotsAndBoxes(rows=1, columns=3, players=4, margin=True)]
DICE = [Grown(seed=1000 * seed, players=players) for players in (1, 2) for seed in range(8)]
RULES: dict[str, list[Any]] = {
    "alphabeta": TWO,
    "minimax": TWO,
    "expectiminimax": DICE,
    "maxn": [*MANY, Share()],
    "paranoid": [*MANY, DotsAndBoxes(rows=2, columns=1)],
}
MORE = [
    MNK(m=3, n=3, k=3, players=3), MNK(m=4, n=3, k=3, players=4), Pig(target=8, players=3),
    Pig(target=6, sides=3), Nim(heaps=(2, 3, 2), players=3), Nim(heaps=(2, 2, 3), misere=True, players=4),
    MNK(m=4, n=3, k=3),
]  # fmt: skip
SLOW_RULES: dict[str, list[Any]] = {
    # Each class more is seconds of compiling.
    "expectiminimax": [
        Pig(target=15), Pig(target=30, dice=2, snake_eyes=True), EinStein(), EinStein(size=4),
        EinStein(random_start=True), Hypergammon(), Hypergammon(most_points=3), Backgammon(),
        Backgammon(most_points=3), Game2048(rows=2, columns=2), Game2048(rows=3, columns=2),
        *(Grown(seed=1000 * seed, width=30 + seed % 30) for seed in range(8, 300)),
    ],
    "maxn": MORE,
    "paranoid": [*MORE, Share()],
}  # fmt: skip
SHALLOW = (EinStein, Hypergammon, Backgammon)


class Drawn(NamedTuple):
    """What is searched, how, and how its root is."""

    root: SearchSetup
    limits: Limits
    config: Any
    how: dict[str, Any]

    def run(self, make: Any, limits: Limits | None = None, **changes: Any) -> Any:
        limits = limits or self.limits
        search = make(self.root, limits, dataclasses.replace(self.config, **changes))
        return searched(search, self.root.state, limits, **self.how)


def drawn(kind: str, game: RulesGame, state: Any, generator: random.Random) -> Drawn:
    """Settings by chance that plain and compiled searches have both."""
    chance, rules = game.traits.chance is not Chance.NONE, game.rules
    deepest = 2 if isinstance(rules, SHALLOW) else 3 if chance and not isinstance(rules, Grown) else 5
    limits = Limits(depth=generator.randint(1, deepest), nodes=generator.choice([None, None, 300]))
    evaluator = generator.choice([GAME, GAME, REWARDS] if hasattr(rules, "evaluation") else [REWARDS])
    common: dict[str, Any] = {
        "prefer_short_wins": generator.random() < 0.7,
        "ordering": generator.choice(list(Ordering)),
        "depends_on_seat": kind in ("maxn", "paranoid"),
    }
    root, config = SearchSetup(game, state, evaluator), AlphaBetaConfig(**common)
    if kind == "maxn":
        may_prune = game.traits.reward_sum is not RewardSum.GENERAL
        rule = generator.choice(list(TieRule))
        config = MaxNConfig(**common, tie_rule=rule, prunes=may_prune and generator.random() < 0.7)
    elif kind == "paranoid":
        config = dataclasses.replace(config, history_on_improvement=True)
        if generator.random() < 0.5:  # best reply
            seen = RepliesGame(game, game.to_move(state))
            root = root._replace(state=seen.root(state), searched=seen)
    elif kind == "expectiminimax":
        pruning = generator.choice(list(ChancePruning))
        config = dataclasses.replace(
            config,
            pruning=pruning,
            history_on_improvement=True,
            chance_at_limit=generator.choice((ChanceAtLimit.EVALUATE, ChanceAtLimit.AVERAGE)),
            beam_width=generator.choice([0, 1, 2]) if pruning is ChancePruning.NONE else 0,
        )
    elif kind == "minimax":
        config = dataclasses.replace(config, pruning=ChancePruning.NONE)
    else:
        bounds, quiescence = generator.random() < 0.7, generator.choice([0, 3])
        config = dataclasses.replace(config, use_bounds=bounds, quiescence=quiescence)
    how: dict[str, Any] = {"exact": generator.random() < 0.5, "ties": generator.choice(list(Ties))}
    how["step"] = limits.nodes is not None or generator.random() < 0.5
    return Drawn(root, limits, config, how)


def cases() -> Iterator[Any]:
    for kind, many in RULES.items():
        for rules in many:
            yield pytest.param(kind, rules, 10, id=f"{kind} {rules}")
    for kind, many in SLOW_RULES.items():
        for rules in [*RULES[kind], *many]:
            count = 4 if isinstance(rules, Grown) else 12 if isinstance(rules, SHALLOW) else 400
            yield pytest.param(kind, rules, count, id=f"{kind} {rules} {count}", marks=pytest.mark.slow)


every_case = pytest.mark.parametrize(("kind", "rules", "count"), list(cases()))


@pytest.mark.thorough
@every_case
@pytest.mark.timeout(3600)
def test_without_a_table_everything_agrees(kind: str, rules: Any, count: int) -> None:
    generator, game = random.Random(f"{kind} {rules} {count}"), RulesGame(rules)
    for state in random_positions(game, generator, count, longest=3 if isinstance(rules, Grown) else 12):
        one = drawn(kind, game, state, generator)
        with mock.patch.object(front_end, "ARENA", 1):
            assert one.run(compiled) == one.run(plain), one


@pytest.mark.thorough
@every_case
@pytest.mark.timeout(3600)
def test_with_a_table_values_and_best_actions_agree(kind: str, rules: Any, count: int) -> None:
    generator, game = random.Random(f"{kind} {rules} {count} table"), RulesGame(rules)
    for state in random_positions(game, generator, count // 2, longest=3 if isinstance(rules, Grown) else 12):
        one, ties = drawn(kind, game, state, generator), Ties.RANDOM
        one = one._replace(how=one.how | {"ties": ties})
        limits, memory_mb = Limits(depth=one.limits.depth), generator.choice([0.001, 0.002, 1])
        expected = one.run(plain, limits, memory_mb=8)
        unpruned: Any = None
        if kind == "expectiminimax" and not one.config.beam_width:
            full = dataclasses.replace(one.config, pruning=ChancePruning.NONE)
            unpruned = one._replace(config=full).run(plain, limits)
            as_good = {move[0] for move in unpruned.moves if move[1][0] == unpruned.score[0]}
        threads = {"threads": generator.choice([1, 2])} if kind == "alphabeta" else {}
        for make, how in ((compiled, threads), (plain, {})):
            found = one.run(make, limits, memory_mb=memory_mb, **how)
            if kind == "maxn":
                assert exact_values(found) == exact_values(expected), (one, memory_mb)
                continue
            assert found.score[0] == expected.score[0], (one, memory_mb, how)
            if kind == "expectiminimax":
                if unpruned is not None:
                    assert found.score[0] == unpruned.score[0], (one, memory_mb)
                    assert set(found.tied) <= as_good, (one, memory_mb)
                    # A search that deepens may end with a proof before it sees all that is as good.
                    some = found.proven and one.how["step"] and not one.how["exact"]
                    assert some or found.tied == unpruned.tied, (one, memory_mb)
                continue
            assert (found.score, found.tied) == (expected.score, expected.tied), (one, memory_mb, how)
            if how.get("threads") != 2:  # which of two equal proofs is found first is then a matter of luck
                assert found.proven == expected.proven, (one, memory_mb)


@pytest.mark.parametrize("nodes", [0, 1 << 40])
def test_a_search_is_the_same_in_a_thread_of_its_own_and_in_the_callers(
    nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_end, "_SHORT", max(nodes, 1))
    for rules in DICE[8:12]:
        test_without_a_table_everything_agrees("expectiminimax", rules, 10)


@pytest.mark.thorough
def test_known_node_counts() -> None:
    """OpenSpiel's ``get_all_histories_test.cc`` has the first."""
    game = RulesGame(MNK())
    agent = AlphaBetaAgent(
        depth="full", window="full", prefer_short_wins=False, ordering="fixed", memory_mb=0, ties="first"
    )
    assert MinimaxAgent(prefer_short_wins=False).search_state(game).nodes == 549_946
    assert agent.search_state(game).nodes == 18_297
    assert dataclasses.replace(agent, window="bounds").search_state(game).nodes == 16_811


def test_where_no_kernel_fits_the_plain_search_is_left_to_do_it() -> None:
    def own(game: Any, state: Any) -> tuple[float, ...]:
        return (0.0,) * game.traits.seats

    many = type("Many", (MNK,), {"__slots__": (), "utility_bounds": lambda self: (0, 1 << 40)})
    vast = type("Vast", (Share,), {"__slots__": (), "utility_bounds": lambda self: (0, 1 << 41)})
    for game, evaluator, config in (
        (ConnectK(), None, AlphaBetaConfig()),
        (RulesGame(MNK()), own, AlphaBetaConfig()),
        (RulesGame(many()), None, AlphaBetaConfig()),
        (RulesGame(MNK(players=3)), own, MaxNConfig()),
        (RulesGame(Nim(players=3)), GAME, MaxNConfig()),  # which has no evaluation of its own
        (RulesGame(vast()), None, MaxNConfig()),
    ):
        root = SearchSetup(game, game.initial_state(), evaluator)
        family = family_of(game, config)
        assert not tree_search(root, Budget(Limits(depth=2)), config, family=family).compiled
    for other in (object(), RulesGame(MNK()), RulesGame(Pig(players=3))):
        assert not can_search_through_chance(other)
