"""What is recorded of a search: the textbook's figures, step by step, and every kind of search on small games."""

import math

import numpy as np
import pytest
from doubles.small_games import ConnectK, DiceRace

from zermelo.agents import AlphaBetaAgent, RandomAgent
from zermelo.agents.textbook import expectiminimax
from zermelo.agents.tree_search.observer import NodeRole
from zermelo.envs import IllegalActionError, UnsupportedGameError, make
from zermelo.envs.errors import GameOverError, InvalidSettingError
from zermelo.envs.games import Nim, Pig
from zermelo.envs.trees import figure, tree_game
from zermelo.evaluation import draw_tree
from zermelo.evaluation.search_trees import drawing
from zermelo.evaluation.search_trees.model import Source, StepKind, at_step

INF = math.inf


def path(one, number):
    node = one.nodes[number]
    return path(one, node.parent) + node.move if number else ""


def steps(drawn):
    """What happened in each step, the moves to its node, and the node's window and bounds after it."""
    found, one = [], drawn.shown
    for number, (kind, place) in enumerate(one.kinds(), start=1):
        spans = (at_step(one.nodes[place].windows, number), at_step(one.nodes[place].known, number))
        found.append((kind.value, path(one, place), *(span and span[1:] for span in spans)))
    return found


def named(drawn, name):
    return next(node for node in drawn.shown.nodes if node.name == name)


# -- the textbook ------------------------------------------------------------------------------------------------


def test_figure_5_2():
    drawn = draw_tree("aima-5.2", "minimax")
    values = {node.name: node.known[-1][1:] for node in drawn.shown.nodes if node.name}
    assert values == {"A": (3, 3), "B": (3, 3), "C": (2, 2), "D": (2, 2)}
    assert len(drawn.shown.nodes) == 13
    assert not any(node.windows for node in drawn.shown.nodes)
    assert drawn.tree.answer == "a1"


def test_the_stages_of_figure_5_5():
    """The windows at every node, the cut-off at C, and what is known at each stage."""
    drawn = draw_tree("aima-5.5", "alphabeta")
    assert steps(drawn) == [
        ("enter", "", (-INF, INF), None),
        ("enter", "a1", (-INF, INF), None),
        ("leaf", "a1b1", (-INF, INF), (3, 3)),
        ("leaf", "a1b2", (-INF, 3), (12, 12)),
        ("leaf", "a1b3", (-INF, 3), (8, 8)),
        ("leave", "a1", (-INF, 3), (3, 3)),
        ("enter", "a2", (3, INF), None),
        ("leaf", "a2c1", (3, INF), (2, 2)),
        ("cut", "a2", (3, 2), (-INF, 2)),
        ("leave", "a2", (3, 2), (-INF, 2)),
        ("enter", "a3", (3, INF), None),
        ("leaf", "a3d1", (3, INF), (14, 14)),
        ("leaf", "a3d2", (3, 14), (5, 5)),
        ("leaf", "a3d3", (3, 5), (2, 2)),
        ("leave", "a3", (3, 2), (2, 2)),
        ("leave", "", (3, INF), (3, 3)),
    ]
    assert [node.cut.not_searched for node in drawn.shown.nodes if node.cut] == [("c2", "c3")]
    assert named(drawn, "C").cut.by == "c1"
    # What the book writes beside B, A, C and D in its stages (a) to (f).
    assert [at_step(named(drawn, "B").known, step)[1:] for step in (3, 4, 5)] == [(-INF, 3), (-INF, 3), (3, 3)]
    assert at_step(named(drawn, "A").known, 5) is None
    assert [at_step(named(drawn, "A").known, step)[1:] for step in (6, 12, 16)] == [(3, INF), (3, INF), (3, 3)]
    assert at_step(named(drawn, "C").known, 8)[1:] == (-INF, 2)
    assert [at_step(named(drawn, "D").known, step)[1:] for step in (12, 13, 14)] == [(-INF, 14), (-INF, 5), (2, 2)]


def test_the_plain_textbook_search_cuts_the_same():
    agent = AlphaBetaAgent(window="full", prefer_short_wins=False, ordering="fixed", memory_mb=0, ties="first")
    assert steps(draw_tree("aima-5.5", agent)) == steps(draw_tree("aima-5.5", "alphabeta"))


def test_the_vectors_of_figure_5_4():
    drawn = draw_tree("aima-5.4", "maxn")
    found = {node.name: node.vectors[-1].values for node in drawn.shown.nodes if node.name}
    assert found == {
        "A": (1, 2, 6), "B": (1, 2, 6), "C": (1, 5, 2),
        "D": (1, 2, 6), "E": (6, 1, 2), "F": (1, 5, 2), "G": (5, 4, 5),
    }  # fmt: skip
    assert {node.role for node in drawn.shown.nodes} == {NodeRole.OWN, NodeRole.END}
    assert at_step(drawn.shown.nodes[0].vectors, drawn.shown.steps).values == (1, 2, 6)


def test_figures_5_13_and_5_14():
    for name, value, known in (("aima-5.14a", 2.1, [2.1, 1.3]), ("aima-5.14b", 40.9, [21, 40.9])):
        drawn = draw_tree(name, "expectiminimax")
        assert drawn.tree.value == pytest.approx(value)
        chance = [node for node in drawn.shown.nodes if node.role is NodeRole.CHANCE]
        assert [node.known[-1].low for node in chance] == pytest.approx(known)
        assert [node.chance for node in drawn.shown.nodes if node.level == 2] == [0.9, 0.1] * 2
    dice = draw_tree("aima-5.13", "expectiminimax").shown
    roles = [{node.role.value for node in dice.nodes if node.level == level} for level in range(5)]
    assert roles == [{"max"}, {"chance"}, {"min"}, {"chance"}, {"end"}]


def test_pruning_in_max_n_by_korf():
    """A player who has 1 of 10 for certain below leaves at most 9; who has more elsewhere does not come here."""
    tree = [[(9.5, 0.25, 0.25)], [(0.25, 9, 0.75), (5, 4, 1)]]
    drawn = draw_tree(tree_game(tree, bounds=(0, 10)), "maxn")
    cut = named(drawn, "C")
    assert cut.cut.not_searched == ("c2",)
    assert at_step(cut.windows, cut.entered).low == 9.5
    assert drawn.result.values_by_seat == (9.5, 0.25, 0.25)


# -- points of view ----------------------------------------------------------------------------------------------


def test_values_are_the_root_players():
    """The player to move at the root is drawn as MAX, whichever seat it is."""
    game = tree_game([[-3, -12], [-2, -4]], first=1)
    own = draw_tree(game, "alphabeta")
    assert own.tree.seat == 1
    assert [node.role for node in own.shown.nodes if node.level < 2] == [NodeRole.MAX, NodeRole.MIN, NodeRole.MIN]
    assert steps(own)[-1][3] == (3, 3)
    assert at_step(named(own, "C").windows, 6)[1:] == (3, INF)


# -- every search ------------------------------------------------------------------------------------------------

SEARCHES = ["minimax", "alphabeta", "expectiminimax", "expectimax", "maxn", "paranoid", "bestreply"]


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_can_be_drawn(name):
    game = ConnectK()
    drawn = draw_tree(game, f"{name}(depth=3, ties=first)", moves=(4, 0))
    nodes = drawn.shown.nodes
    assert drawn.tree.value == pytest.approx(drawn.result.value)
    assert drawn.shown.finished
    assert drawn.shown.depth == 3
    assert nodes[0].left == drawn.shown.steps
    assert [node.parent for node in nodes[:2]] == [-1, 0]
    assert all(node.entered <= node.left for node in nodes)
    assert all(nodes[node.parent].entered < node.entered for node in nodes[1:])
    assert len(drawn.shown.kinds()) == drawn.shown.steps
    assert all(node.source is not Source.BELOW for node in nodes if node.left == node.entered)
    if name == "maxn":
        assert nodes[0].vectors[-1].values == drawn.result.values_by_seat
    else:
        assert nodes[0].known[-1][1:] == pytest.approx((drawn.result.value,) * 2)
    assert "<svg" in drawn.svg()
    assert "<canvas" in drawn.html()


def grown(generator, depth):
    """Nested lists of any shape, with chance."""
    if depth == 0 or generator.random() < 0.1:
        return int(generator.integers(-5, 6))
    children = [grown(generator, depth - 1) for _ in range(int(generator.integers(1, 4)))]
    if generator.random() < 0.6:
        return children
    weights = generator.integers(1, 5, len(children))
    shares = weights / weights.sum()
    return {f"{place}": (float(p), child) for place, (p, child) in enumerate(zip(shares, children, strict=True))}


@pytest.mark.parametrize("pruning", ["none", "star1", "star2"])
def test_what_is_known_is_true(pruning):
    """At every step and every node the true value lies where the drawing says, whatever was cut off."""
    cuts = 0
    for seed in range(8):
        generator = np.random.default_rng(seed)
        game = tree_game([grown(generator, 4), grown(generator, 4)], first=seed % 2, bounds=(-5, 5))
        drawn = draw_tree(game, f"expectiminimax(pruning={pruning})")
        states = {0: game.root}
        for number, node in enumerate(drawn.shown.nodes):
            if number:
                above = states[node.parent]
                states[number] = above.children[above.labels.index(node.move)]
            cuts += node.cut is not None
            value = expectiminimax(game, states[number])
            value = -value if drawn.tree.seat else value
            assert all(span.low - 1e-9 <= value <= span.high + 1e-9 for span in node.known), f"seed {seed}"
    assert (cuts > 0) == (pruning != "none")


@pytest.mark.parametrize("pruning", ["none", "star1", "star2"])
def test_chance_and_its_bounds(pruning):
    tree = [{"1": (0.5, [4, 6]), "2": (0.5, [8, 8])}, {"1": (0.5, [-9, 9]), "2": (0.5, [0, 1])}]
    drawn = draw_tree(tree_game(tree, bounds=(-10, 10)), f"expectiminimax(pruning={pruning}, ordering=fixed)")
    assert drawn.result.value == 6
    second = [node for node in drawn.shown.nodes if node.role is NodeRole.CHANCE][1]
    if pruning == "none":
        assert second.cut is None
        assert second.known[-1][1:] == (-4.5, -4.5)
    else:
        assert second.cut is not None or second.known[-1].high < 6
        assert second.known[-1].high <= 6
    probed = [node for node in drawn.shown.nodes if node.probed]
    assert bool(probed) == (pruning == "star2")


def test_quiescence_and_the_table():
    class Noisy(ConnectK):
        def is_noisy(self, state, action):
            return action % 2 == 0

    agent = AlphaBetaAgent(depth=2, quiescence=2, ties="first", evaluator=lambda *_: (0.0, 0.0))
    nodes = draw_tree(Noisy(), agent).shown.nodes
    assert any(node.quiet for node in nodes)
    assert all(node.depth <= 0 for node in nodes if node.quiet)
    table = draw_tree(ConnectK(), "alphabeta(depth=5)", moves=(4, 0, 2)).shown.nodes
    hits = [node for node in table if node.source is Source.TABLE]
    assert hits
    assert all(node.left == node.entered for node in hits)


def test_chance_that_is_only_simulated():
    drawn = draw_tree(DiceRace(), "expectiminimax(samples=3)")
    assert {node.role for node in drawn.shown.nodes} == {NodeRole.MAX, NodeRole.CHANCE, NodeRole.END}
    assert drawn.result.is_estimate


# -- iterations and limits ---------------------------------------------------------------------------------------


def test_iterations():
    agent = "alphabeta(depth=3, ties=first)"
    drawn = draw_tree(ConnectK(), agent, moves=(4,))
    assert [one.depth for one in drawn.tree.passes] == [1, 2, 3]
    assert drawn.tree.shown == 2


@pytest.mark.parametrize("max_nodes", [1, 9, 10, 80])
def test_a_large_tree_loses_its_deepest_levels(max_nodes):
    whole = draw_tree(ConnectK(), "minimax(depth=2)")
    drawn = draw_tree(ConnectK(), "minimax(depth=2)", max_nodes=max_nodes)
    kept = drawn.shown.nodes
    assert len(kept) == (10 if max_nodes >= 10 else 1)
    assert len(kept) + sum(node.hidden for node in kept) == len(whole.shown.nodes) == drawn.shown.visited
    assert f"{len(kept):,} of {len(whole.shown.nodes):,} nodes are drawn" in drawn.tree.notes[0]
    assert len(drawn.shown.kinds()) == drawn.shown.steps
    assert drawn.result.value == whole.result.value
    same = {node.move: node.known[-1] for node in whole.shown.nodes if node.level == 1}
    for node in kept:
        if node.level == 1:
            assert node.known[-1][1:] == same[node.move][1:]


def test_a_search_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(drawing, "PATIENCE", 2_000)
    drawn = draw_tree(ConnectK(4, 5), "minimax", max_nodes=50)
    assert "stopped after 2,000 nodes" in " ".join(drawn.tree.notes)
    assert "This search was not finished." in drawn.tree.notes
    assert drawn.shown.nodes[0].left is None
    assert "<svg" in drawn.svg()
    monkeypatch.setattr(drawing, "PATIENCE", 50)
    simulated = draw_tree(ConnectK(4, 5), "mcts(simulations=1000)")
    assert simulated.shown.steps == 50
    assert "stopped after 50 simulations" in " ".join(simulated.tree.notes)


# -- what can be drawn -------------------------------------------------------------------------------------------


def test_sources():
    env = make("zermelo/Nim-v0(heaps=[1, 2])")
    env.reset(seed=0)
    by_env = draw_tree(env, "minimax")
    assert by_env.shown.nodes == draw_tree(Nim((1, 2)), "minimax").shown.nodes
    assert by_env.shown.nodes == draw_tree("zermelo/Nim-v0(heaps=[1, 2])", "minimax").shown.nodes
    assert by_env.shown.nodes[1].move == "1 from heap 1"
    assert by_env.shown.nodes[0].position == "1 2"
    moved = draw_tree("zermelo/Nim-v0(heaps=[1, 2])", "minimax", moves=[0])
    assert moved.shown.nodes[0].position == "0 2"
    assert (
        draw_tree("aima-5.2", "minimax", moves="a3").shown.nodes
        == draw_tree("aima-5.2", "minimax", moves=[2]).shown.nodes
    )
    state = figure("aima-5.2").root.children[1]
    assert draw_tree(figure("aima-5.2"), "minimax", state=state).result.value == -2
    assert draw_tree([[1, 2], [3, 0]], "minimax").result.value == 1
    assert draw_tree("[[1, 2], [3, 0]]", "minimax").result.value == 1
    turn = draw_tree(Pig(target=4), "expectiminimax(depth=1)", moves=[0, 0])  # a roll, and a one
    assert turn.shown.nodes[0].seat == turn.tree.seat == 1


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"agent": "random"}, InvalidSettingError, "random has no tree that can be drawn: choose minimax"),
        ({"agent": RandomAgent()}, InvalidSettingError, "no tree that can be drawn"),
        ({"agent": 3}, InvalidSettingError, "an agent is text such as"),
        ({"agent": "expectimax"}, None, ""),
        ({"max_nodes": 0}, InvalidSettingError, "max_nodes must be a whole number of at least 1"),
        ({"moves": [7]}, IllegalActionError, r"move 1 is 7, which is not legal there \(legal: a1, a2, a3\)"),
        ({"moves": [0, 0]}, GameOverError, "is over there"),
        ({"source": "[[1, 2"}, InvalidSettingError, "cannot read the tree"),
        ({"source": "zermelo/Nim-v0", "moves": [99]}, IllegalActionError, "move 1 of moves is"),
        ({"source": "zermelo/Nim-v0", "state": 1}, InvalidSettingError, "a state goes with a game"),
        ({"source": "aima-5.4"}, UnsupportedGameError, "needs two players"),
        ({"agent": "mcts(nodes=1)"}, InvalidSettingError, "had no time to search"),
    ],
    ids=lambda value: None if not isinstance(value, dict) else " ".join(value) or "none",
)
def test_bad_input(settings, error, message):
    given = {"source": "aima-5.2", "agent": "minimax"} | settings
    if error is None:
        assert draw_tree(**given).shown.finished
        return
    with pytest.raises(error, match=message):
        draw_tree(**given)


# -- Monte Carlo tree search -------------------------------------------------------------------------------------


def test_simulations():
    drawn = draw_tree("aima-5.2", "mcts(simulations=60, solver=false, exploration=4)", seed=3)
    one = drawn.shown
    assert drawn.tree.simulates
    assert one.steps == len(one.outcomes) == 60
    root = one.nodes[0]
    assert root.visits == list(range(1, 61))
    assert len(one.nodes) == 13
    visits = {node.move: len(node.visits) for node in one.nodes if node.level == 1}
    assert visits == {f"a{action + 1}": count for action, count in drawn.result.visits.items()}
    means = {node.move: one.mean_at(node, 60)[0] for node in one.nodes if node.level == 1}
    assert means == pytest.approx({f"a{a + 1}": value for a, value in drawn.result.action_values.items()})
    ends = {node.move: one.mean_at(node, 60) for node in one.nodes if node.level == 2}
    assert ends["c2"] == (4,)
    assert one.mean_at(root, 0) == ()
    for number, (kind, place) in enumerate(one.kinds(), start=1):
        assert kind is StepKind.SIMULATION
        assert number in one.nodes[place].visits
    for parent, children in enumerate(one.children()):
        below = [visit for child in children for visit in one.nodes[child].visits]
        assert sorted(below) == [visit for visit in one.nodes[parent].visits if visit in below]


def test_simulations_of_more_players_and_of_the_second():
    three = draw_tree("aima-5.4", "mcts(simulations=50)")
    assert len(three.shown.outcomes[0]) == 3
    assert {node.role for node in three.shown.nodes} == {NodeRole.OWN, NodeRole.END}
    second = draw_tree(tree_game([[-3, -12], [-2, -4]], first=1), "mcts(simulations=40, solver=false)")
    assert second.tree.seat == 1
    assert set(second.shown.outcomes) <= {(2,), (3,), (4,), (12,)}
    assert second.shown.nodes[0].role is NodeRole.MAX


def test_of_many_simulations_the_most_visited_nodes_are_drawn():
    drawn = draw_tree(ConnectK(), "mcts(simulations=200)", max_nodes=12)
    kept = drawn.shown.nodes
    assert len(kept) == 12
    assert "or were visited less" in drawn.tree.notes[0]
    assert len(kept) + sum(node.hidden for node in kept) == drawn.shown.visited
    chance = draw_tree(Pig(target=6), "mcts(simulations=80)")
    rolled = [node for node in chance.shown.nodes if node.chance < 1]
    assert rolled
    assert all(chance.shown.nodes[node.parent].role is NodeRole.CHANCE for node in rolled)


@pytest.mark.parametrize(
    ("agent", "nested", "nodes"),
    [
        ("alphabeta", [[3, 12, 8], [3, 2, 6], [14, 5, 2]], 12),
        ("alphabeta(ties='first')", [[3, 12, 8], [3, 2, 6], [14, 5, 2]], 11),
        ("alphabeta", [[3, 12, 8], [2, 4, 6], [14, 5, 2]], 11),
        ("minimax", [[3, 12, 8], [3, 2, 6], [14, 5, 2]], 13),
    ],
)
def test_a_drawing_says_that_ties_were_looked_at(agent, nested, nodes):
    drawn = draw_tree(nested, agent)
    assert len(drawn.shown.nodes) == nodes
    assert ["ties='first'" in note for note in drawn.tree.notes] == [True] * (nodes == 12)
