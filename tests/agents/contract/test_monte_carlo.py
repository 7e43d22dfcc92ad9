"""What Monte Carlo tree search keeps to: plain and compiled, with every setting, under any limit.

The textbook's UCT is the oracle of the tree, minimax and max^n of what is proven.
"""

from __future__ import annotations

import dataclasses
import functools
import random
from typing import Any

import pytest
from doubles.chase import Chase
from doubles.grown_rules import Grown
from doubles.small_games import Leaf, Node, TreeGame
from doubles.toy_envs import DiceEnv, EarlyDeathEnv, ToyEnv
from oracles.contract import GAMES, Position, game_kind, positions, textbook
from oracles.signatures import Uncompiled

from zermelo.agents import MCTSAgent, SearchResult
from zermelo.agents import textbook as algorithms
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.playouts import RandomNumbers
from zermelo.agents.evaluators.protocol import expected_totals
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.monte_carlo.compiled.search import CompiledMonteCarlo
from zermelo.agents.monte_carlo.interface import RootSetup
from zermelo.agents.monte_carlo.plain import PlainMonteCarlo
from zermelo.agents.monte_carlo.selection_rules import RULES, Selection
from zermelo.envs import CHANCE, as_game
from zermelo.envs.game import Chance
from zermelo.envs.games import MNK, ConnectFour
from zermelo.envs.rules import RulesGame

COMPILED = ("MNK(3,3,3)", "Grown(1)", "Grown(2)", "Grown(3)")
"""The rules that the kernel is compiled for here: each class of them costs seconds."""
PLAIN = [name for name in GAMES if not name.endswith(" compiled")]
SEARCHED = [name for name in GAMES if not name.endswith(" compiled") or name.startswith(COMPILED)]
SETTINGS: list[dict[str, Any]] = [
    {},
    *({"selection": str(rule), "exploration": 2.0} for rule in Selection),
    {"rave": 50.0},
    {"solver": False},
    {"playouts": 3},
    {"playout_moves": 2},
    *({"selection": str(rule), "rave": 20.0} for rule in Selection),
]

COMPILED_SETTINGS = [each for each in SETTINGS if RULES[each.get("selection", Selection.UCT)].compiled]


def found(position: Position, **settings: Any) -> SearchResult:
    return MCTSAgent(**settings).search_state(position.game, position.state)


def seen(search: Any) -> Any:
    """All that can be told of a search."""
    counts = search.simulations, search.tree_nodes, search.tree_depth, search.budget.nodes
    actions = search.root_actions()
    return actions, [search.line_after(each.action) for each in actions], counts


@pytest.mark.parametrize(
    "game", [name for name in PLAIN if "rewards" not in name and not name.startswith(("CoinRow", "Grown(1)"))]
)
def test_the_tree_is_the_textbooks(game: str) -> None:
    for position in positions(game)[:2]:
        simulations, seed = 150, 12345
        policy = MCTSAgent(solver=False).config
        search = PlainMonteCarlo(RootSetup(position.game, position.state, policy, seed), Budget(Limits()))
        search.simulate(simulations)
        expected = algorithms.mcts(position.game, position.state, simulations, RandomNumbers(seed))
        for move in search.root_actions():
            visits, mean = expected[move.action]
            kept = move.values[0 if search.num_values == 1 else position.seat]
            if search.num_values == 1 and position.seat == 1:
                kept = position.game.traits.constant - kept
            assert (move.visits, kept) == (visits, pytest.approx(mean)), position.name


@pytest.mark.parametrize("settings", COMPILED_SETTINGS, ids=str)
@pytest.mark.parametrize("game", COMPILED)
def test_compiled_is_plain(game: str, settings: dict[str, Any]) -> None:
    position = positions(f"{game} plain")[0]
    rules_game: Any = RulesGame(position.game.rules)
    state, seeds = rules_game.initial_state(), random.Random(str(settings))
    policy = MCTSAgent(**settings).config
    own = make_evaluator("game")
    for evaluator, simulations, nodes in ((None, 120, None), (None, 90, 200), (own, 60, None)):
        limits, seed = Limits(simulations=simulations, nodes=nodes), seeds.getrandbits(60)
        start = RootSetup(rules_game, state, policy, seed)
        plain = PlainMonteCarlo(
            start,
            Budget(limits),
            evaluation=functools.partial(expected_totals, own, rules_game),
            plays_out=evaluator is None,
        )
        compiled = CompiledMonteCarlo(rules_game, evaluator, Budget(limits), limits=limits, start=start)
        assert plain.run(limits, simulations) == compiled.run(limits, simulations), seed
        assert seen(plain) == seen(compiled), seed


def test_all_moves_as_first_counts_for_who_was_first() -> None:
    game = RulesGame(MNK(3, 3, 3))
    search = PlainMonteCarlo(
        RootSetup(game, game.initial_state(), MCTSAgent(rave=50.0).config, 1), Budget(Limits())
    )
    search.first_takers = {0: 1, 4: 0, 8: 0}  # and now the player at the root takes 0, before all of them
    search.root.back_up_amaf(search.root.actions.index(0), 1.0, search.first_takers)
    counted = {action for action, count in zip(search.root.actions, search.root.amaf_counts, strict=True) if count}
    assert counted == {0, 4, 8}
    search.first_takers = {0: 1, 4: 0, 8: 1}
    search.root.back_up_amaf(search.root.actions.index(2), 1.0, search.first_takers)
    counts = dict(zip(search.root.actions, search.root.amaf_counts, strict=True))
    assert {action: count for action, count in counts.items() if count} == {0: 1, 2: 1, 4: 2, 8: 1}


class Preferring(MNK):
    """Noughts and crosses where one corner is said to be very good, and the middle very bad."""

    def action_priors(self, state: Any, actions: Any, count: int, priors: Any) -> int:
        for index in range(count):
            priors[index] = 10.0 if actions[index] == 0 else -10.0 if actions[index] == 4 else 0.0
        return count


class CutOff(MNK):
    """Noughts and crosses of which playouts are not to see much."""

    def search_settings(self, search: str) -> dict[str, int]:
        return {"playout_moves": 1} if search == "mcts" else {}


def test_playouts_are_cut_off_where_the_game_says() -> None:
    game = RulesGame(CutOff(3, 3, 3))
    values = []
    for settings in ({}, {"playout_moves": 9}):
        policy = MCTSAgent(solver=False, **settings).config
        search = PlainMonteCarlo(RootSetup(game, game.initial_state(), policy, 1), Budget(Limits()))
        search.simulate(9)
        values.append([move.values for move in search.root_actions()])
    assert set(values[0]) == {(0.0,)}, "undecided"
    assert set(values[1]) > {(0.0,)}, "the agent's own number counts first"


@pytest.mark.parametrize("rave", [0.0, 50.0])
def test_actions_begin_with_their_priors(rave: float) -> None:
    game = RulesGame(Preferring(3, 3, 3))
    policy = MCTSAgent(solver=False, rave=rave).config
    search = PlainMonteCarlo(RootSetup(game, game.initial_state(), policy, 1), Budget(Limits()))
    search.simulate(40)
    visits = {move.action: move.visits for move in search.root_actions()}
    assert visits[0] == max(visits.values())
    assert visits[4] == min(visits.values())
    search.simulate(1_000)
    assert min(move.visits for move in search.root_actions()) > 20, "outcomes outweigh them"


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"solver": False}], ids=str)
def test_compiled_is_plain_where_the_past_matters(settings: dict[str, Any]) -> None:
    """Positions come again in it, and the third time is a draw."""
    game: Any = RulesGame(Chase())
    for seed in range(4):
        start, limits = RootSetup(game, game.initial_state(), MCTSAgent(**settings).config, seed), Limits()
        plain = PlainMonteCarlo(start, Budget(limits))
        compiled = CompiledMonteCarlo(game, None, Budget(limits), limits=limits, start=start)
        assert plain.run(limits, 400) == compiled.run(limits, 400), seed
        assert seen(plain) == seen(compiled), seed


@pytest.mark.parametrize("game", [name for name in SEARCHED if game_kind(name) != "many"])
def test_proofs_are_true(game: str) -> None:
    """With enough simulations the solver proves the value; what it says on the way is true."""
    for position in positions(game)[:2]:
        for settings in ({}, {"selection": "puct"}):
            kept: list[SearchResult] = []
            result = found(position, simulations=30_000, on_iteration=kept.append, **settings)
            assert result.proven, (position.name, result)
            assert result.stopped_by is StoppedBy.COMPLETED
            true = textbook("expectiminimax", position, 99)
            for each in [*kept, result]:
                if each.proven:
                    assert each.value == pytest.approx(true), (position.name, each)
                    achieved = textbook("expectiminimax", position, 99, each.action)
                    assert achieved == pytest.approx(true), (position.name, each)
            for action, value in result.action_values.items():
                assert value == pytest.approx(textbook("expectiminimax", position, 99, action)), position.name


@pytest.mark.parametrize("game", SEARCHED)
def test_answers_under_node_limits(game: str) -> None:
    for position in positions(game)[:1]:
        for nodes in (1, 2, 5, 13, 60, 300):
            result = found(position, nodes=nodes)
            what = position.name, nodes, result
            assert result.nodes <= nodes, what
            assert result.action in position.game.legal_actions(position.state), what
            assert result.stopped_by in (StoppedBy.NODES, StoppedBy.COMPLETED), what
            assert sum(result.visits.values()) == result.stats["simulations"], what
            state = position.state
            for action in result.principal_variation:
                assert position.game.to_move(state) != CHANCE, what
                assert action in position.game.legal_actions(state), what
                state = position.game.result(state, action)


@pytest.mark.parametrize("game", ["MNK(3,3,3) compiled", "Grown(3) compiled", "tree(8,three)", "tree(4,dice)"])
def test_the_same_seed_gives_the_same_answer(game: str) -> None:
    position = positions(game)[0]
    results = [found(position, simulations=200, solver=False, seed=seed) for seed in (3, 3, 4)]
    same = [dataclasses.replace(result, seconds=0.0, compiling=0.0) for result in results]
    assert same[0] == same[1]
    assert same[0].visits != same[2].visits


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["Grown(3) compiled", "tree(8,three)", "tree(9,three)"])
def test_many_players_find_what_max_n_finds(game: str) -> None:
    """Values approach those of best play for everybody, where that is one."""
    position = positions(game)[0]
    result = found(position, simulations=20_000, exploration=0.5)
    rules = [algorithms.max_n(position.game, position.state, rule) for rule in ("spiteful", "generous")]
    if rules[0] == rules[1]:
        for value, true in zip(result.values_by_seat, rules[0], strict=True):
            assert value == pytest.approx(true, abs=0.6)
    assert not result.proven
    assert result.is_estimate
    assert result.visits[result.action] == max(result.visits.values())


def test_threads_share_one_tree() -> None:
    game = RulesGame(MNK(m=3, n=3, k=3))
    for settings in ({}, {"solver": False}, {"rave": 10.0, "solver": False}):
        result = MCTSAgent(simulations=4_000, threads=3, **settings).search_state(game)
        assert result.proven or sum(result.visits.values()) == 4_000, "a count that two threads added to was lost"
        assert abs(result.value) < 0.6
        assert result.action in (0, 2, 4, 6, 8)


def test_the_tree_is_kept_for_the_next_moves() -> None:
    for rules, make in ((MNK(m=3, n=3, k=3), RulesGame), (MNK(m=3, n=3, k=3), Uncompiled), (Grown(), RulesGame)):
        game: Any = make(rules)
        agent = MCTSAgent(simulations=300, solver=False)
        state = game.initial_state()
        first = agent.search_state(game, state)
        for action in first.principal_variation[:2]:
            state = game.result(state, action)
        while game.to_move(state) == CHANCE:
            state = game.result(state, game.chance_outcomes(state)[0][0])
        if game.is_terminal(state):
            continue
        result = agent.search_state(game, state)
        assert result.stats["simulations"] == 300
        if len(first.principal_variation) > 1:
            assert sum(result.visits.values()) > 300, "what the tree knew counts too"
        agent.reset()
        assert sum(agent.search_state(game, state).visits.values()) == 300


@pytest.mark.thorough
@pytest.mark.parametrize("make", [RulesGame, Uncompiled])
def test_memory_runs_out(make: Any) -> None:
    game = make(MNK(m=3, n=3, k=3))
    result = MCTSAgent(simulations=2_000, memory_mb=0.01, solver=False).search_state(game)
    assert result.stats["simulations"] == 2_000
    assert result.stats["tree_nodes"] < 130
    assert abs(result.value) < 0.8


class OneCopy:
    """The game of copies of an environment, which counts them."""

    def __init__(self, game: Any) -> None:
        self.game, self.copies = game, 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.game, name)
        if name not in ("result", "sample_result", "playout_state"):
            return found

        def counted(*arguments: Any) -> Any:
            self.copies += 1
            return found(*arguments)

        return counted


def test_one_player_is_measured_by_outcomes() -> None:
    """Bounds may be far wider than what is within reach: measured by them, no action looks better than others."""
    game = TreeGame(Node(0, [Leaf(1), Leaf(3), Leaf(2)]), seats=1, bounds=(0, 10_000))
    visits = MCTSAgent(simulations=300, solver=False).search_state(game).visits
    assert visits[1] > 5 * visits[0]


@pytest.mark.thorough
@pytest.mark.parametrize("env_class", [ToyEnv, EarlyDeathEnv, DiceEnv])
def test_playouts_on_one_copy(env_class: Any) -> None:
    """They are the playouts that a copy for every move gives."""
    env = env_class()
    env.reset(seed=0)
    game, policy = as_game(env, backend="clone"), MCTSAgent(solver=False).config
    found, copies = [], []
    for on_one in (False, True):
        counted = OneCopy(game)
        state = game.snapshot(env)
        search = PlainMonteCarlo(RootSetup(counted, state, policy, 7), Budget(Limits()))
        if not on_one:
            search.playouts.own_state, search.playouts.after = None, search.playouts.result
        search.simulate(40)
        found.append(search.root_actions())
        copies.append(counted.copies)
        assert game.key(state) == game.key(game.snapshot(env)), "the root is as it was"
    assert found[0] == found[1]
    assert copies[1] < copies[0]
    if game.traits.chance is Chance.NONE:
        assert copies[1] <= 2 * 60, "one for the node, one for the playout"


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_setting_searches_through_chance_that_is_only_simulated(settings: dict[str, Any]) -> None:
    env = DiceEnv()
    env.reset(seed=0)
    agent = MCTSAgent(simulations=40, **settings)
    for _ in range(2):
        assert sum(agent.search(env).visits.values()) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("rules", [MNK(m=3, n=3, k=3), ConnectFour(rows=4, columns=4)], ids=str)
def test_it_solves_small_games(rules: Any) -> None:
    """Both are draws: Allis, "A knowledge-based approach of Connect-Four" (1988), has the table of values.

    With the seed 0 it took 18,000 and 916,000 simulations: hundredths of a second to three.
    """
    result = MCTSAgent(simulations=5_000_000, memory_mb=1_000).search_state(RulesGame(rules))
    assert result.proven
    assert result.value == 0


def test_a_policy_guides_puct() -> None:
    class Guided:
        """Believes in one action."""

        def __call__(self, game: Any, state: Any) -> tuple[float, float]:
            return 0.0, 0.0

        def prior(self, game: Any, state: Any, actions: Any) -> list[float]:
            return [0.93 if action == 5 else 0.07 / (len(actions) - 1) for action in actions]

    result = MCTSAgent(simulations=60, selection="puct", evaluator=Guided(), solver=False).search_state(
        RulesGame(MNK(m=3, n=3, k=3))
    )
    assert result.action == 5
    assert result.visits[5] > 30


def test_a_callback_ends_it() -> None:
    game = RulesGame(MNK(m=3, n=3, k=3))
    seen_so_far: list[SearchResult] = []

    def look(result: SearchResult) -> bool:
        seen_so_far.append(result)
        return len(seen_so_far) < 2

    result = MCTSAgent(simulations=100_000, solver=False, on_iteration=look).search_state(game)
    assert result.stopped_by is StoppedBy.INTERRUPT
    assert result.stats["simulations"] == seen_so_far[-1].stats["simulations"] < 1_000


@pytest.mark.parametrize("make", [RulesGame, Uncompiled])
def test_there_is_an_answer_where_time_was_up_before(make: Any) -> None:
    game = make(MNK(m=3, n=3, k=3))
    result = MCTSAgent(seconds=1e-9).search_state(game)
    assert result.action in game.legal_actions(game.initial_state())
    assert result.stopped_by is StoppedBy.SECONDS
