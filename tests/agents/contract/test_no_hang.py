"""No search goes on after a limit, Ctrl-C or `stop`, however long the game and however small the memory."""

import _thread
import contextlib
import threading

import pytest
from doubles.endless import Endless, EndlessChance, EndlessGame

from zermelo.agents import AlphaBetaAgent, make_agent, solve
from zermelo.agents.equilibrium.backward_induction import solve_simultaneous
from zermelo.agents.equilibrium.equilibrium import solve_equilibrium
from zermelo.agents.solving.solve import exact_values
from zermelo.agents.solving.solve_policy import solve_policy
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.agents.training.labels import search_many
from zermelo.envs import UnsupportedGameError, ZermeloError, as_game, perft
from zermelo.envs.games import MNK, Nim

RULES = {
    "two actions": Endless(2),
    "one action": Endless(1),
    "states that come again": Endless(2, 3),
    "chance for ever": EndlessChance(2, 0, 1),
    "dice": EndlessChance(2, 0, 2),
    "no rules": EndlessGame(),
}
PLAIN = "compile=never, evaluator=rewards"
SEARCHES = [
    f"alphabeta({PLAIN}, LIMIT)", f"minimax({PLAIN}, LIMIT)", f"maxn({PLAIN}, LIMIT)", f"paranoid({PLAIN}, LIMIT)",
    f"bestreply({PLAIN}, LIMIT)", f"expectiminimax({PLAIN}, LIMIT)",
    f"expectiminimax({PLAIN}, pruning=star2, LIMIT)", f"expectimax({PLAIN}, LIMIT)", "mcts(compile=never, LIMIT)",
    "auto(compile=never, LIMIT)",
]  # fmt: skip
GIVES_UP = 20
"""A search that takes so many seconds hangs."""


def answers(work):
    """Does it in this thread, and fails where Ctrl-C has to end it; a refusal is an answer too."""
    late = threading.Timer(GIVES_UP, _thread.interrupt_main)
    late.start()
    try:
        return work()
    except ZermeloError as error:
        return error
    except KeyboardInterrupt:
        pytest.fail("it hangs")
    finally:
        late.cancel()


@pytest.mark.parametrize("settings", ["", ", rave=10"])
@pytest.mark.parametrize(("compiled", "simulations"), [("wait", 1), ("wait", 50), ("never", 2)])
@pytest.mark.parametrize("name", ["two actions", "one action", "states that come again", "chance for ever"])
def test_simulations_end_every_search(name, compiled, simulations, settings):
    agent = make_agent(f"mcts(compile={compiled}, simulations={simulations}, seconds=15{settings})")
    found = answers(lambda: agent.search_state(RULES[name]))
    if name != "chance for ever":  # of which one playout may take seconds
        assert found.stopped_by == "simulations"
        assert sum(found.visits.values()) <= simulations


@pytest.mark.parametrize("limit", ["seconds=0.05", "nodes=60"])
@pytest.mark.parametrize("spec", SEARCHES)
@pytest.mark.parametrize("name", RULES)
def test_limits_end_every_search(name, spec, limit):
    agent = make_agent(spec.replace("LIMIT", limit))
    answers(lambda: agent.search_state(RULES[name]))


COMPILED = [
    "alphabeta(evaluator=rewards, LIMIT)", "minimax(evaluator=rewards, LIMIT)",
    "expectiminimax(evaluator=rewards, LIMIT)", "mcts(LIMIT)", "mcts(LIMIT, threads=2)",
]  # fmt: skip
GAMES = ["two actions", "one action", "chance for ever"]


def prepared(spec, name):
    """The agent, with what it needs compiled, which is not what these tests are about."""
    agent = make_agent(spec)
    if "compile=never" not in spec:
        with contextlib.suppress(ZermeloError):
            agent.prepare(RULES[name])
    return agent


@pytest.mark.parametrize("spec", COMPILED)
@pytest.mark.parametrize("name", GAMES)
def test_limits_end_every_compiled_search(name, spec):
    """Here kernels are compiled beside other tests; those that run alone use them."""
    agent = prepared(spec.replace("LIMIT", "seconds=0.05"), name)
    answers(lambda: agent.search_state(RULES[name]))


@contextlib.contextmanager
def pressing(press, first):
    """Presses after ``first`` seconds and then each second: Python drops a Ctrl-C that comes in a destructor."""
    ended, presses = threading.Event(), []

    def go():
        wait = first
        while not ended.wait(wait):
            presses.append(press())
            wait = 1.0

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert len(presses) < GIVES_UP, "it hangs"


@pytest.mark.alone
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a Ctrl-C in a destructor
@pytest.mark.parametrize("how", ["stop", "Ctrl-C"])
@pytest.mark.parametrize("spec", [*SEARCHES, *COMPILED, "mcts(simulations=100000000)"])
@pytest.mark.parametrize("name", GAMES)
def test_others_end_every_search(name, spec, how):
    agent = prepared(spec.replace("LIMIT", "seconds=1000"), name)
    with contextlib.suppress(ZermeloError, KeyboardInterrupt):
        with pressing(agent.stop if how == "stop" else _thread.interrupt_main, 0.05):
            agent.search_state(RULES[name])
        if how == "Ctrl-C":
            pytest.fail("it answers as if nobody had pressed Ctrl-C")


@pytest.mark.parametrize("name", RULES)
def test_solvers_end(name):
    game = RULES[name]
    answers(lambda: solve(game, seconds=0.1, compile="never"))
    answers(lambda: solve(game, seconds=0.1, outcome_only=True, compile="never", memory_mb=0.01))
    answers(lambda: solve(game, nodes=300, compile="never"))
    answers(lambda: value_iteration(game, most_states=300))
    if name == "no rules":  # the others are solved by compiled rules
        answers(lambda: solve_policy(game, most_states=300))


SOLVERS = {
    "solve": lambda game, how: solve(game, compile=how),
    "solve_policy": lambda game, how: solve_policy(game),
    "exact_values": lambda game, how: exact_values(game, [as_game(game).initial_state()]),
    "search_many": lambda game, how: search_many(
        game, [as_game(game).initial_state()] * 3, AlphaBetaAgent(seconds=1000, compile=how, memory_mb=1)
    ),
    "value_iteration": lambda game, how: value_iteration(game, most_states=10**8),
    "perft": lambda game, how: perft(game, 60),
}


@pytest.mark.alone
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a Ctrl-C in a destructor
@pytest.mark.parametrize(
    ("game", "compiled"), [(Endless(2), "wait"), (Endless(2), "never"), (EndlessGame(), "never")]
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_ctrl_c_ends_every_solver(solver, game, compiled):
    with contextlib.suppress(ZermeloError, KeyboardInterrupt):
        with pressing(_thread.interrupt_main, 0.2):
            SOLVERS[solver](game, compiled)
        pytest.fail("it answers as if nobody had pressed Ctrl-C")


def test_a_policy_that_takes_too_long_to_find_is_refused():
    with pytest.raises(UnsupportedGameError, match="was not solved from here with 300,000 visits of states"):
        solve_policy(Endless(2), most_states=500)


@pytest.mark.parametrize("outcome_only", [False, True])
@pytest.mark.parametrize("compiled", ["wait", "never"])
@pytest.mark.parametrize("rules", [Endless(width, period) for width in (1, 2) for period in (2, 3, 4)])
def test_a_play_without_end_has_no_value(rules, compiled, outcome_only):
    with pytest.raises(UnsupportedGameError, match=r"goes on for more than .* cannot be solved by searching"):
        solve(rules, compile=compiled, outcome_only=outcome_only)


@pytest.mark.thorough
@pytest.mark.parametrize("compiled", ["never", pytest.param("wait", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["alphabeta", "minimax", "expectiminimax", "maxn", "paranoid", "bestreply"])
def test_a_search_to_the_end_of_a_game_without_one_says_so(kind, compiled):
    memory = "" if kind == "minimax" else "memory_mb=0, "
    rules = EndlessChance(1, 0, 2) if kind == "expectiminimax" else Endless(1)
    with pytest.raises(
        UnsupportedGameError, match=r"goes on for more than 5000 moves from here, if it ends.*depth="
    ):
        make_agent(f"{kind}(depth=full, {memory}compile={compiled})").search_state(rules)


@pytest.mark.parametrize(
    ("spec", "advice"),
    [("greedy", "use 'expectiminimax' or 'mcts'"), ("expectiminimax(depth=full, compile=never)", "depth=")],
)
def test_advice_fits_the_agent(spec, advice):
    with pytest.raises(UnsupportedGameError, match=f"goes on for more than .*: .*{advice}"):
        make_agent(spec).search_state(EndlessChance(2, 0, 1))


HIDDEN = [
    "ismcts(seconds=0.05)", "ismcts(nodes=60)", "ismcts(seconds=0.1, simulations=1000000000)",
    "cfr(iterations=2, variant=external_sampling)", "auto(seconds=0.05)",
]  # fmt: skip
TOGETHER = [
    "simultaneous_mcts(seconds=0.05)", "simultaneous_mcts(nodes=60)", "backward_induction(most_states=500)",
    "auto(seconds=0.05)",
]  # fmt: skip


@pytest.mark.parametrize("length", [None, 2000])
@pytest.mark.parametrize("spec", HIDDEN)
def test_limits_end_searches_of_hidden_games(spec, length):
    answers(lambda: make_agent(spec).search_state(EndlessGame(length, hidden=True)))


@pytest.mark.parametrize("length", [None, 2000])
@pytest.mark.parametrize("spec", TOGETHER)
def test_limits_end_searches_of_games_played_together(spec, length):
    answers(lambda: make_agent(spec).search_state(EndlessGame(length, together=True)))


def test_a_game_of_many_rounds_is_solved():
    game = EndlessGame(1501, together=True)
    solution = solve_simultaneous(game)
    assert solution.nodes == 1502
    assert solution.values_by_seat == ((1.0, -1.0) if 1501 % 3 == 1 else (0.0, 0.0))


def test_long_games_are_sampled():
    game = EndlessGame(1501, hidden=True)
    found = make_agent("cfr(iterations=1, variant=external_sampling)").search_state(game)
    assert found.action == 0


def test_a_game_that_comes_back_is_refused():
    class Again(EndlessGame):
        def key(self, state):
            return state[0] % 3

        def _joint_result(self, state, actions, generator=None):
            return (state[0] + 1) % 3, 0

    with pytest.raises(UnsupportedGameError, match="can come back to a state"):
        solve_simultaneous(Again(together=True))
    with pytest.raises(UnsupportedGameError, match="more than"):
        solve_equilibrium(EndlessGame(hidden=True), most_states=500)


@pytest.mark.parametrize("megabytes", [0.0001, 0.01, 0.1, 1])
@pytest.mark.parametrize("compiled", ["wait", "never"])
def test_solutions_are_right_with_a_small_memory(megabytes, compiled):
    for rules, value in ((MNK(3, 3, 3), 0), (Nim((1, 2, 3)), -1)):
        solution = answers(lambda rules=rules: solve(rules, memory_mb=megabytes, compile=compiled))
        assert solution.proven
        assert solution.value == value
