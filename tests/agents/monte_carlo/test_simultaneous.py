"""Searches of games in which players move at the same time: against the textbook, equilibria, and no peeking."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from doubles.at_once import Duel, MatrixGame
from pettingzoo.utils.conversions import parallel_to_aec

from zermelo.agents import AutoAgent, make_agent
from zermelo.agents import textbook as algorithms
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.playouts import RandomNumbers
from zermelo.agents.equilibrium.agents import BackwardInductionAgent
from zermelo.agents.equilibrium.backward_induction import solve_simultaneous
from zermelo.agents.equilibrium.equilibrium import exploitability
from zermelo.agents.monte_carlo.simultaneous.agent import SimultaneousMCTSAgent
from zermelo.agents.monte_carlo.simultaneous.plain import JointSelection, SimultaneousSearch
from zermelo.agents.policies.policy import agent_policy
from zermelo.envs import IllegalActionError, UnsupportedGameError, as_game, make
from zermelo.envs.errors import GameOverError, UnknownTraitWarning
from zermelo.envs.game import RewardSum
from zermelo.envs.games import MNK, Goofspiel
from zermelo.envs.rules import RulesGame

RPS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
PENNIES = [[1, -1], [-1, 1]]
SKEWED = [[0, -1, 3], [1, 0, -2], [-3, 2, 0]]  # rock paper scissors, where wins count differently: (2, 3, 1) / 6
LEARNERS: dict[JointSelection, Any] = {
    JointSelection.DUCT: algorithms.DecoupledUCT,
    JointSelection.REGRET: algorithms.RegretMatching,
    JointSelection.EXP3: algorithms.Exp3,
}
THREE = MatrixGame(np.random.default_rng(2).normal(size=(2, 3, 2, 3)), RewardSum.GENERAL)
every_selection = pytest.mark.parametrize("selection", list(JointSelection))


@every_selection
@pytest.mark.parametrize(
    "game",
    [RulesGame(Goofspiel(3)), RulesGame(Goofspiel(4, False)), THREE],
    ids=["shuffled", "descending", "matrix"],
)
def test_simulations_are_the_textbooks(selection: JointSelection, game: Any) -> None:
    state = game.initial_state()
    if isinstance(game, RulesGame) and game.rules.shuffled:
        state = game.result(state, 1)
    expected = algorithms.simultaneous_mcts(
        game,
        state,
        120,
        RandomNumbers(5),
        lambda *settings: LEARNERS[selection](*settings, 0.2),
    )
    search = SimultaneousSearch(game, state, Budget(Limits()), selection=selection, exploration=0.2, seed=5)
    search.run(Limits(simulations=120), 1000)
    for seat, policy in expected.items():
        found = search.learner(seat)
        assert dict(zip(found.actions, found.policy(), strict=True)) == pytest.approx(policy)
        assert sum(found.visits) == search.simulations == 120
        assert sum(found.totals) == pytest.approx(120 * search.values()[seat])


@pytest.mark.parametrize("selection", ["regret", "exp3"])
@pytest.mark.parametrize(
    ("payoffs", "first", "second", "value"),
    [
        (PENNIES, (1 / 2, 1 / 2), (1 / 2, 1 / 2), 0),
        (RPS, (1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3), 0),
        (SKEWED, (1 / 3, 1 / 2, 1 / 6), (1 / 3, 1 / 2, 1 / 6), 0),
        ([[3, 1, 4], [1, 0, 2]], (1, 0), (0, 1, 0), 1),
    ],
    ids=["pennies", "rps", "skewed", "saddle"],
)
def test_it_learns_to_mix_as_an_equilibrium_does(
    selection: str, payoffs: Any, first: Any, second: Any, value: float
) -> None:
    game = MatrixGame.zero_sum(payoffs)
    agent: Any = make_agent(f"simultaneous_mcts(selection={selection}, simulations=3000)")
    agent.reset(3)
    result = agent.search_state(game)
    width = 0.1 if selection == "regret" else 0.2
    assert [*result.policy.values()] == pytest.approx(first, abs=width)
    assert result.value == pytest.approx(value, abs=0.35)
    search = SimultaneousSearch(
        game, (), Budget(Limits()), selection=JointSelection(selection), exploration=0.1, seed=4
    )
    search.run(Limits(simulations=3000), 3000)
    assert search.learner(1).policy() == pytest.approx(second, abs=width)


def test_decoupled_uct_finds_what_dominates() -> None:
    agent = SimultaneousMCTSAgent(selection="duct", simulations=400, exploration=0.3)  # type: ignore[arg-type]  # becomes the member
    result = agent.search_state(MatrixGame.zero_sum([[3, 1, 4], [1, 0, 0]]))
    assert result.action == 0
    assert result.policy[0] > 0.9
    assert result.visits[0] == max(result.visits.values())


def test_the_action_is_drawn_from_the_mixture() -> None:
    agent = SimultaneousMCTSAgent(simulations=30)
    results = [agent.search_state(MatrixGame.zero_sum(RPS)) for _ in range(60)]
    assert {result.action for result in results} == {0, 1, 2}
    assert all(sum(result.policy.values()) == pytest.approx(1) for result in results)
    again = [
        SimultaneousMCTSAgent(simulations=30, seed=7).search_state(MatrixGame.zero_sum(RPS)) for _ in range(2)
    ]
    assert again[0].visits == again[1].visits
    assert again[0].action == again[1].action


def test_limits_and_interruption() -> None:
    game = RulesGame(Goofspiel(4, False))
    assert SimultaneousMCTSAgent(nodes=300).search_state(game).nodes <= 300
    found = SimultaneousMCTSAgent(simulations=200, on_iteration=lambda result: False).search_state(game)
    assert found.stopped_by is StoppedBy.INTERRUPT
    assert found.stats["simulations"] < 200
    assert SimultaneousMCTSAgent(simulations=20).search_state(game).stopped_by is StoppedBy.SIMULATIONS
    nothing = SimultaneousMCTSAgent(nodes=1).search_state(game)
    assert [*nothing.policy.values()] == [0.25] * 4
    assert nothing.action_values == {}


def exploited(spec: str, rules: Any) -> float:
    return float(exploitability(agent_policy(spec), RulesGame(rules)))


@pytest.mark.thorough
def test_more_simulations_are_exploited_less() -> None:
    few, more = (exploited(f"simultaneous_mcts(simulations={n})", Goofspiel(3, False)) for n in (10, 300))
    assert more < few
    assert more < 0.35
    assert exploited("backward_induction", Goofspiel(3, False)) == pytest.approx(0, abs=1e-6)


# -- environments -------------------------------------------------------------------------------------------------


def duel(**settings: Any) -> Any:
    env = parallel_to_aec(Duel(**{"payoffs": RPS, **settings}))
    env.reset(seed=1)
    return env


def goofspiel_by_shimmy() -> Any:
    pytest.importorskip("shimmy.openspiel_compatibility")
    env = make("openspiel/goofspiel(num_cards=3,points_order='descending')")
    env.reset()
    return env


def rps(cycles: int = 1) -> Any:
    env = pettingzoo.make("aec", "classic/rps-v2", max_cycles=cycles)
    env.reset()
    return env


def own_goofspiel() -> Any:
    env = make("zermelo/Goofspiel-v0", cards=3, shuffled=False)
    env.reset()
    return env


@pytest.mark.parametrize("begun", [duel, goofspiel_by_shimmy, rps, own_goofspiel])
@pytest.mark.parametrize("spec", ["simultaneous_mcts(simulations=12)", "backward_induction", "auto(nodes=150)"])
def test_what_the_others_have_just_chosen_plays_no_part(begun: Any, spec: str) -> None:
    if spec == "backward_induction" and begun is duel:
        spec = "backward_induction(traits=TRAITS)"
    found = []
    for chosen in (0, 1, 2):
        env = begun()
        first = env.agent_selection
        env.step(chosen)
        assert env.agent_selection != first
        agent: Any = make_agent(spec.replace("(traits=TRAITS)", ""))
        if "TRAITS" in spec:
            agent = dataclasses.replace(agent, name="", traits={"chance": "deterministic"})
        result = agent.search(env)
        assert result.env_action in range(3)
        found.append((result.action, result.policy, result.action_values, result.values_by_seat))
        env.step(result.env_action)
    assert found[0] == found[1] == found[2]


def test_games_are_played_to_their_ends() -> None:
    cases = [(begun, "auto") for begun in (duel, goofspiel_by_shimmy, rps, own_goofspiel)]
    for begun, backend in [*cases, (own_goofspiel, "clone")]:
        env = begun()
        agent = SimultaneousMCTSAgent(simulations=5, backend=backend)
        while env.agents and not any([*env.terminations.values(), *env.truncations.values()]):
            env.step(agent.act(env))
        assert sum(env.rewards.values()) == 0


@pytest.mark.thorough
def test_dice_and_agents_that_leave() -> None:
    env = duel(payoffs=SKEWED, rounds=3, die=True, agents=4)
    game = as_game(env)
    state = game.snapshot(env)
    assert [*game.movers(state)] == [0, 1, 2, 3]
    assert [*game.actions_of(state, 2)] == [0]
    after = game.joint_result(state, {0: 0, 1: 2, 2: 0, 3: 0}, np.random.default_rng(3))
    assert game.utility(after) == (3, -3, 0, 0)
    assert [*game.movers(after)] == [0, 1, 2]
    rows = {
        game.actions_of(game.joint_result(state, {0: 0, 1: 2, 2: 0, 3: 0}, np.random.default_rng(seed)), 0)
        for seed in range(9)
    }
    assert rows == {(0, 1), (0, 1, 2)}
    with pytest.raises(IllegalActionError, match=r"an action of each of the seats \[0, 1, 2, 3\] is needed"):
        game.joint_result(state, {0: 0, 1: 1})
    results = [SimultaneousMCTSAgent(simulations=40, seed=2).search(env) for _ in range(2)]
    assert results[0].visits == results[1].visits
    assert results[0].stats["tree_nodes"] > 9
    with pytest.raises(UnsupportedGameError, match="has 4 players"):
        BackwardInductionAgent().act(env)


def test_a_parallel_environment_is_solved_from_its_end() -> None:
    env = duel(payoffs=SKEWED, rounds=2)
    game = as_game(env, traits={"chance": "deterministic"})
    found = solve_simultaneous(game, game.snapshot(env))
    assert found.values_by_seat == pytest.approx((0, 0))
    assert [*found.policies[1].values()] == pytest.approx([1 / 3, 1 / 2, 1 / 6])
    agent = BackwardInductionAgent(traits={"chance": "deterministic"})
    env.step(2)
    result = agent.search(env)
    assert result.proven
    assert result.policy == pytest.approx({0: 1 / 3, 1: 1 / 2, 2: 1 / 6})


def test_nobody_knows_whether_a_parallel_environment_hides_more() -> None:
    class Silent(Duel):
        metadata = {**Duel.metadata, "name": "silent_v0"}  # noqa: RUF012  # PettingZoo's own form
        zermelo_traits = None  # type: ignore[assignment]

    env = parallel_to_aec(Silent(RPS))
    env.reset()
    agent = SimultaneousMCTSAgent(simulations=4)
    with pytest.warns(UnknownTraitWarning, match="silent_v0 is searched as if players saw everything but each"):
        agent.act(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.act(env)


def test_auto_mixes() -> None:
    found = AutoAgent().search_state(MatrixGame.zero_sum(RPS))
    assert found.method == "backward_induction: players move at the same time, and there are few states"
    found = AutoAgent(seconds=1e-6).search_state(RulesGame(Goofspiel(3, False)))
    assert found.method == "simultaneous_mcts: players move at the same time", "there was no time to solve it"
    assert found.policy == pytest.approx(dict.fromkeys(range(3), 1 / 3))
    larger = AutoAgent(nodes=400).search_state(RulesGame(Goofspiel(5, False)))
    assert larger.method == "simultaneous_mcts: players move at the same time"
    hidden = AutoAgent(nodes=400).search_state(RulesGame(Goofspiel(4, False, hidden=True)))
    assert hidden.method == "ismcts: players do not see everything"
    assert AutoAgent(nodes=50).search_state(THREE).method == "simultaneous_mcts: players move at the same time"


def test_games_that_do_not_fit() -> None:
    agent = SimultaneousMCTSAgent()
    with pytest.raises(UnsupportedGameError, match="in MNK they take turns: use 'alphabeta'"):
        agent.search_state(RulesGame(MNK()))
    with pytest.raises(UnsupportedGameError, match=r"shuffled=False, hidden=True\) hides more: use 'ismcts'"):
        agent.search_state(RulesGame(Goofspiel(4, shuffled=False, hidden=True)))
    live = make("classic/tictactoe-v3")
    live.reset()
    told = SimultaneousMCTSAgent(traits={"simultaneous": True})
    with pytest.raises(UnsupportedGameError, match="needs to know who moves together, and tictactoe_v3 does not"):
        told.act(live)
    with pytest.raises(UnsupportedGameError, match="what chance does, but that of duel_v0 can only be simulated"):
        solve_simultaneous(duel(die=True))
    game = MatrixGame.zero_sum(RPS)
    with pytest.raises(GameOverError, match="a matrix is over"):
        agent.search_state(game, (0, 1))
