"""The textbook's algorithms against each other, hand-made trees and numbers that are known from elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from doubles.at_once import MatrixGame
from doubles.small_games import AIMA_5_2, Leaf, Node, TreeGame, random_tree
from oracles.contract import GAMES, Position, game_kind, positions

from zermelo.agents import textbook as algorithms
from zermelo.agents.base.playouts import RandomNumbers
from zermelo.agents.textbook import (
    DecoupledUCT,
    Exp3,
    RegretMatching,
    alpha_beta,
    best_first,
    best_reply,
    best_response_value,
    cfr,
    expectimax,
    expectiminimax,
    ismcts,
    iterative_deepening,
    max_n,
    mcts,
    minimax,
    paranoid,
    quiescence,
    simultaneous_mcts,
    star1,
    star2,
    value_iteration,
)
from zermelo.envs import CHANCE
from zermelo.envs.game import Chance
from zermelo.envs.games import MNK, DotsAndBoxes, Hexapawn, Kalah, Kuhn, Nim, Pig
from zermelo.envs.rules import RulesGame

PLAIN = [game for game in GAMES if not game.endswith(" compiled")]
TWO = [game for game in PLAIN if game_kind(game) == "two"]
FEW = [game for game in PLAIN if game_kind(game) != "many"]
DEPTHS = (1, 2, 3, 99)


def close(value: Any) -> Any:
    return pytest.approx(value, abs=1e-12)


def of_seat(position: Position, seat: int) -> Any:
    return lambda state: position.expects(state)[seat]


def test_every_algorithm_is_tested_here() -> None:
    assert {name for name in vars(algorithms) if not name.startswith("_")} <= set(globals())


def test_best_first_finds_the_best_play_of_one_player() -> None:
    generator = np.random.default_rng(5)
    for _ in range(30):
        game = TreeGame(random_tree(generator, 4, seats=1, rewards=True))
        total, actions = best_first(game)
        state = game.initial_state()
        for action in actions:
            state = game.result(state, action)
        assert game.is_terminal(state)
        assert game.utility(state)[0] == total == close(max_n(game, state=game.initial_state(), depth=99)[0])


class Fair:
    """Random numbers for Monte Carlo tree search."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(1)

    def below(self, count: int) -> int:
        return int(self.generator.integers(count))

    def draw(self, probabilities: Any) -> int:
        return int(self.generator.choice(len(probabilities), p=probabilities))


class TestKnownNumbers:
    def test_monte_carlo_tree_search_takes_the_win_that_is_there(self) -> None:
        game = RulesGame(Nim(heaps=(1, 2)))
        state = game.initial_state()
        found = mcts(game, state, 2_000, Fair())
        most = max(found, key=lambda action: found[action][0])
        assert sum(visits for visits, _ in found.values()) == 2_000
        assert minimax(game, game.result(state, most)) == minimax(game, state) == 1.0
        assert found[most][1] > 0.8

    def test_figure_5_2(self) -> None:
        """Russell and Norvig, 4th ed.: A is worth 3, and alpha-beta does not look at C's last two leaves."""
        game = TreeGame(AIMA_5_2)
        assert minimax(game, AIMA_5_2) == 3
        game.leaves.clear()
        assert alpha_beta(game, AIMA_5_2) == 3
        assert game.leaves == ["3", "12", "8", "2", "14", "5", "2"]
        assert [value for _, _, value in iterative_deepening(game, AIMA_5_2)] == [0, 3]

    @pytest.mark.parametrize(
        ("rules", "value"),
        [
            (Nim(heaps=(1, 2, 3)), -1),
            (Nim(heaps=(1, 2, 2)), 1),
            (Hexapawn(rows=3, columns=3), -1),
            (Kalah(houses=1, seeds=3, margin=True), 6),
            (Kalah(houses=2, seeds=1, margin=True), 2),
            (Kalah(houses=3, seeds=1, margin=True), 0),
            (DotsAndBoxes(rows=1, columns=1, margin=True), -1),
            (DotsAndBoxes(rows=1, columns=2, margin=True), 0),
        ],
        ids=str,
    )
    def test_solved_games(self, rules: Any, value: int) -> None:
        """Nim as Bouton has it (1901); the others were worked out by another program."""
        game = RulesGame(rules)
        assert alpha_beta(game, game.initial_state()) == value

    def test_pig(self) -> None:
        """Piglet, Pig with a coin (Neller and Presser 2004): the first player's chances to 2 and to 3."""
        for target, chance in ((2, 4 / 7), (3, 6 / 11)):
            game = RulesGame(Pig(target=target, sides=2))
            assert (value_iteration(game)[game.initial_state()] + 1) / 2 == pytest.approx(chance, abs=1e-11)

    def test_a_thrown_die(self) -> None:
        """Half of 4 and half of what MIN makes of 6 and 2."""
        dice = Node(CHANCE, [Leaf(4, -4), Node(1, [Leaf(6, -6), Leaf(2, -2)])], probabilities=(0.5, 0.5))
        game = TreeGame(Node(0, [dice, Leaf(2.5, -2.5)]), chance=Chance.EXACT, bounds=(-10, 10))
        for algorithm in (expectiminimax, star1, star2):
            assert algorithm(game, game.root) == 3


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", TWO)
def test_two_players_without_dice(name: str, depth: int) -> None:
    """Minimax, alpha-beta, expectiminimax, Star1 and Star2, paranoid search and max^n are one and the same."""
    for position in positions(name):
        game, state = position.game, position.state
        evaluate = of_seat(position, 0)
        value = minimax(game, state, depth, evaluate)
        assert alpha_beta(game, state, depth=depth, evaluate=evaluate) == value
        assert expectiminimax(game, state, depth, evaluate) == value
        assert star1(game, state, depth=depth, evaluate=evaluate) == value
        assert star2(game, state, depth=depth, evaluate=evaluate) == value
        constant, seat = game.traits.constant, position.seat
        mine = value if seat == 0 else constant - value
        assert paranoid(game, state, seat, depth, of_seat(position, seat)) == mine
        assert max_n(game, state, depth=depth, evaluate=position.expects)[0] == value
        deepened = {at: found for at, _, found in iterative_deepening(game, state, evaluate)}
        assert deepened[min(depth, max(deepened))] == value


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", FEW)
def test_dice(name: str, depth: int) -> None:
    """Star1 and Star2 prune nothing away; for one player expectimax and max^n are the same, too."""
    for position in positions(name):
        game, state = position.game, position.state
        evaluate = of_seat(position, 0)
        value = expectiminimax(game, state, depth, evaluate)
        assert star1(game, state, depth=depth, evaluate=evaluate) == close(value)
        assert star2(game, state, depth=depth, evaluate=evaluate) == close(value)
        assert max_n(game, state, depth=depth, evaluate=position.expects)[0] == close(value)
        if game.traits.seats == 1:
            assert expectimax(game, state, 0, lambda state: [], depth, evaluate) == close(value)
        assert paranoid(game, state, 0, depth, evaluate) == close(value)


@pytest.mark.parametrize("algorithm", [alpha_beta, star1, star2])
@pytest.mark.parametrize("seed", range(40))
def test_windows(algorithm: Any, seed: int) -> None:
    """Inside the window the value is exact; outside it is a bound on the right side of the window."""
    generator = np.random.default_rng(seed)
    dice = algorithm is not alpha_beta
    root: Any = Leaf(0, 0)
    while isinstance(root, Leaf):
        root = random_tree(generator, 5, chance=dice)
    game = TreeGame(root, bounds=(-2, 2), chance=Chance.EXACT if dice else Chance.NONE)
    value = expectiminimax(game, root)
    for alpha, beta in ((-2.5, -1), (-1, 0), (-0.5, 0.5), (0, 1), (1, 2.5)):
        found = algorithm(game, root, alpha, beta)
        if alpha < value < beta:
            assert found == close(value)
        elif value <= alpha:
            assert value - 1e-12 <= found <= alpha + 1e-12
        else:
            assert beta - 1e-12 <= found <= value + 1e-12


def test_star_looks_at_less() -> None:
    """Ballard 1983: after -8 and -7 of four outcomes, two tens cannot bring the average to 2."""
    outcomes = [Leaf(value, -value, name=str(value)) for value in (-8.0, -7.0, 10.0, 10.5)]
    dice = Node(CHANCE, outcomes, probabilities=[0.25] * 4)
    game = TreeGame(Node(0, [Leaf(2, -2), dice]), chance=Chance.EXACT, bounds=(-10, 10))
    assert star1(game, game.root) == 2
    assert "10.5" not in game.leaves


def test_quiescence_sees_the_exchange() -> None:
    """A pawn can be taken, but the queen is then lost: the evaluation after the first capture is not believed."""

    class Noisy(TreeGame):
        def is_noisy(self, state: Any, action: int) -> bool:
            return bool(state.name) and action == 0

    lost = Node(0, [Leaf(0, 0)], name="-0.9")
    taken = Node(1, [lost, Node(0, [Leaf(0, 0)], name="0.1")], name="0.1")
    root = Node(0, [taken, Node(1, [Leaf(0, 0)], name="")], name="0.05")
    game = Noisy(root, bounds=(-1, 1))

    def evaluate(state: Any) -> float:
        return float(state.name or 0)

    assert quiescence(game, root, moves=0, evaluate=evaluate) == 0.05
    assert quiescence(game, root, moves=1, evaluate=evaluate) == 0.1
    assert quiescence(game, root, evaluate=evaluate) == 0.05, "it stands pat"
    assert quiescence(game, taken, moves=1, evaluate=evaluate) == -0.9
    assert quiescence(game, taken, evaluate=evaluate) == 0, "MAX can still play on to the end"
    assert quiescence(game, root, 0.05, math.inf, evaluate=evaluate) == 0.05


def test_best_reply_is_minimax_for_two_and_less_afraid_for_more() -> None:
    for name in TWO:
        for position in positions(name):
            mine = paranoid(position.game, position.state, position.seat)
            assert best_reply(position.game, position.state, position.seat) == mine, name
    game = RulesGame(MNK(m=3, n=2, k=2, players=3))
    state = game.result(game.initial_state(), 0)
    assert best_reply(game, state, 1) >= paranoid(game, state, 1)


def test_max_n_follows_the_tie_rule() -> None:
    """Seat 0 gets 1 either way; the rule says what that does to seats 1 and 2."""
    game = TreeGame(Node(0, [Leaf(1, 0, 5), Leaf(1, 3, 0)]), seats=3, bounds=(0, 9), constant=0.0)
    expected = {
        "first": (1, 0, 5),
        "paranoid": (1, 3, 0),
        "friendly": (1, 0, 5),
        "spiteful": (1, 3, 0),
        "generous": (1, 0, 5),
    }
    assert {rule: max_n(game, game.root, rule, 2) for rule in expected} == expected


def test_expectimax_takes_the_risk() -> None:
    """Against an opponent that errs half of the time 0.5 is more than a sure 0."""
    game = TreeGame(Node(0, [Leaf(0, 0), Node(1, [Leaf(-1, 1), Leaf(2, -2)])]))
    assert minimax(game, game.root) == 0
    assert expectimax(game, game.root, 0, lambda state: [(0, 0.5), (1, 0.5)]) == 0.5


@pytest.mark.parametrize("name", [name for name in PLAIN if name.startswith(("Grown(1)", "Grown(2)", "Nim"))])
def test_value_iteration_where_nothing_returns(name: str) -> None:
    game = positions(name)[0].game
    values = value_iteration(game)
    for position in positions(name):
        if position.state in values:
            assert values[position.state] == close(expectiminimax(game, position.state))


def test_kuhn_poker_by_regrets_responses_and_information_sets() -> None:
    """The searches and solvers that agents run are compared with these in their own tests."""
    game = RulesGame(Kuhn())
    policy = cfr(game, 60)

    def plays(state: Any) -> Any:
        seat = game.to_move(state)
        return policy[seat, game.information_state_key(state, seat)]

    best = [best_response_value(game, seat, plays) for seat in range(2)]
    assert -1 / 18 <= best[0] < -1 / 18 + 0.05  # nobody gets less by the best answer than in an equilibrium
    assert 1 / 18 <= best[1] < 1 / 18 + 0.05
    state = game.initial_state()
    for action in (0, 2, 1):  # a jack bets into a king
        state = game.result(state, action)
    found = ismcts(game, state, 50, RandomNumbers(1), np.random.default_rng(1))
    assert found[1][1] == 2
    assert found[0][1] == -1
    assert found[1][0] > found[0][0]


@pytest.mark.parametrize("learner", [DecoupledUCT, RegretMatching, Exp3])
def test_who_moves_at_the_same_time_mixes(learner: Any) -> None:
    """Rock paper scissors, where wins count 2, 3 and 1: each is played as often as what beats it loses."""
    game = MatrixGame.zero_sum([[0, -1, 3], [1, 0, -2], [-3, 2, 0]])
    found = simultaneous_mcts(game, (), 1_500, RandomNumbers(1), learner)
    if learner is DecoupledUCT:
        assert all(share > 0.05 for share in found[0].values())  # it goes in circles, but plays no one action
    else:
        assert [*found[0].values()] == pytest.approx([1 / 3, 1 / 2, 1 / 6], abs=0.12)
