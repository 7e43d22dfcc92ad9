"""CFR, best responses and policies, against the textbook's recursion and known equilibria."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from zermelo.agents import CFRAgent, PolicyAgent, make_agent, solve
from zermelo.agents import textbook as algorithms
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.equilibrium.equilibrium import (
    best_responses,
    exploitability,
    measured,
    policy_of,
    solve_equilibrium,
)
from zermelo.agents.equilibrium.regrets import CFR, Variant
from zermelo.agents.equilibrium.sequence_form import SequenceForm, sequence_form
from zermelo.agents.policies.policy import agent_policy
from zermelo.agents.solutions.policy_table import PolicyTable
from zermelo.envs import UnsupportedGameError, as_game, make
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Kuhn, Leduc, LiarsDice
from zermelo.envs.rules import RulesGame

SMALL = [Kuhn(), Kuhn(3), Leduc(2), LiarsDice(1, 2)]
WRITTEN = [variant for variant in Variant if variant is not Variant.EXTERNAL_SAMPLING]


@functools.cache
def form_of(rules: Any) -> SequenceForm:
    return sequence_form(RulesGame(rules))


def some_policy(game: Any, state: Any) -> Mapping[int, float]:
    """Another mixture at each information state, with no sense."""
    seat = game.to_move(state)
    seed = sum((place + 2) * part for place, part in enumerate(game.information_state_key(state, seat)))
    actions = game.legal_actions(state)
    return dict(zip(actions, np.random.default_rng(seed).dirichlet([1.0] * len(actions)).tolist(), strict=True))


@pytest.mark.parametrize("rules", SMALL, ids=repr)
def test_best_responses_are_the_textbooks(rules: Any) -> None:
    game = RulesGame(rules)
    found = best_responses(some_policy, game)
    for seat, value in enumerate(found.best_responses):
        textbook = algorithms.best_response_value(game, seat, lambda state: some_policy(game, state))
        assert value == pytest.approx(textbook, abs=1e-12)
    assert found.nash_conv == pytest.approx(sum(found.best_responses) - sum(found.values))
    assert sum(found.values) == pytest.approx(0)
    assert exploitability(some_policy, game) == pytest.approx(found.nash_conv / game.traits.seats)


@pytest.mark.parametrize("rules", [Kuhn(), Kuhn(3), LiarsDice(1, 2)], ids=repr)
def test_cfr_is_the_textbooks(rules: Any) -> None:
    game, form = RulesGame(rules), form_of(rules)
    solver = CFR(form, Variant.CFR)
    solver.iterate(5)
    textbook = algorithms.cfr(game, 5)
    assert len(textbook) == sum(len(seat.keys) for seat in form.seats)
    for number, (seat, behaviour) in enumerate(zip(form.seats, solver.average(), strict=True)):
        for place, key in enumerate(seat.keys):
            mine = np.flatnonzero(seat.owners == place)
            mixed = dict(zip(seat.actions[mine].tolist(), behaviour[mine].tolist(), strict=True))
            assert mixed == pytest.approx(textbook[number, key], abs=1e-12), key


@pytest.mark.parametrize(("variant", "gain"), [("cfr", 0.01), ("plus", 0.001), ("discounted", 0.001)])
def test_kuhn_poker_is_worth_what_kuhn_found(variant: str, gain: float) -> None:
    """Kuhn (1950): the first player loses 1/18; it bets a king three times as often as a jack."""
    form = form_of(Kuhn())
    solver = CFR(form, Variant(variant))
    solver.iterate(500)
    found = measured(form, solver.average())
    assert found.exploitability < gain
    assert found.values[0] == pytest.approx(-1 / 18, abs=gain)
    policy = policy_of(form, solver.average(), found)
    game, start = RulesGame(Kuhn()), form.game.initial_state()
    bets = []
    for card in range(3):
        state = game.result(game.result(start, card), (card + 1) % 3)
        bets.append(policy.probabilities(game, state)[1])
    jack, queen, king = bets
    assert jack <= 1 / 3 + 10 * gain
    assert queen < 10 * gain
    assert king == pytest.approx(3 * jack, abs=30 * gain)


def test_leduc_is_worth_what_is_known_of_it() -> None:
    """-0.0856 for the first player: Southey et al.'s game, as OpenSpiel has it."""
    found = solve_equilibrium(Leduc(), tolerance=0.005)
    assert found.stopped_by is StoppedBy.COMPLETED
    assert found.exploitability <= 0.005
    lower, upper = found.value_bounds()
    assert lower <= -0.0856 <= upper
    assert upper - lower <= 0.0101
    assert found.information_states == 288


@pytest.mark.slow
def test_values_to_four_digits() -> None:
    for rules, value in ((Leduc(), -0.085606), (Kuhn(), -1 / 18)):
        lower, upper = solve_equilibrium(rules, tolerance=2e-5).value_bounds()
        assert lower - 1e-5 <= value <= upper + 1e-5, rules
        assert upper - lower < 5e-5


def test_regret_falls_in_every_variant() -> None:
    form = form_of(Leduc(2))
    for variant in WRITTEN:
        solver = CFR(form, variant)
        gains = []
        for _ in range(3):
            solver.iterate(60)
            gains.append(measured(form, solver.average()).exploitability)
        assert gains[2] < gains[0] < measured(form, [seat.uniform() for seat in form.seats]).exploitability


def test_three_players_play_something_that_is_hard_to_exploit() -> None:
    found = solve_equilibrium(Kuhn(3), tolerance=0.01, iterations=2000)
    assert found.exploitability <= 0.01
    assert sum(found.values) == pytest.approx(0)


def test_external_sampling_comes_near() -> None:
    agent = CFRAgent(iterations=600, variant="external_sampling", seed=2)
    policy = agent.policy_for(RulesGame(Kuhn()))
    assert len(policy) == 12
    assert exploitability(policy, Kuhn()) < 0.1
    other = CFRAgent(iterations=600, variant="external_sampling", seed=2).policy_for(RulesGame(Kuhn()))
    assert other == policy


@pytest.mark.thorough
def test_open_spiel_agrees_on_values_and_exploitability() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import exploitability as theirs
    from open_spiel.python.policy import TabularPolicy as Theirs
    from open_spiel.python.policy import UniformRandomPolicy

    game = pyspiel.load_game("kuhn_poker")
    policy = CFRAgent(iterations=50, variant="cfr").policy_for(as_game(game))
    table, ours = Theirs(game), RulesGame(Kuhn())
    for key in ("0", "0pb", "1", "1pb", "2", "2pb", "0p", "0b", "1p", "1b", "2p", "2b"):
        card, state = int(key[0]), ours.initial_state()
        cards = [card, (card + 1) % 3] if len(key) % 2 else [(card + 1) % 3, card]
        for move in (*cards, *map("pb".index, key[1:])):
            state = ours.result(state, move)
        shares = policy.probabilities(ours, state)
        table.policy_for_key(key)[:] = [shares[0], shares[1]]
    assert exploitability(policy, game) == pytest.approx(theirs.exploitability(game, table))
    leduc = pyspiel.load_game("leduc_poker")

    def uniform(game: Any, state: Any) -> Mapping[int, float]:
        actions = game.legal_actions(state)
        return dict.fromkeys(actions, 1 / len(actions))

    expected = theirs.exploitability(leduc, UniformRandomPolicy(leduc))
    assert exploitability(uniform, leduc) == pytest.approx(expected)


def test_agents_of_every_kind_are_measured() -> None:
    """Random play of Kuhn poker loses 11/24 of a chip a game more than needed, as OpenSpiel says too."""
    game = RulesGame(Kuhn())
    assert exploitability(agent_policy("random"), game) == pytest.approx(11 / 24)
    learned = CFRAgent(iterations=100)
    assert exploitability(agent_policy(learned), game) == pytest.approx(
        exploitability(learned.policy_for(game), game)
    )
    searched = exploitability(agent_policy("ismcts(simulations=60)"), game)
    assert 0 < searched < 11 / 24
    assert exploitability(agent_policy("ismcts(simulations=60)"), game) == searched

    def bets(observation: Any, mask: Any) -> Any:
        return np.array([0.25, 0.75])

    mixed = exploitability(agent_policy(PolicyAgent(bets, sample=True)), game)
    expected = exploitability(lambda game, state: {0: 0.25, 1: 0.75}, game)
    assert mixed == pytest.approx(expected)
    always = exploitability(agent_policy(PolicyAgent(bets)), game)
    assert always == pytest.approx(exploitability(lambda game, state: {1: 1.0}, game))
    acting = type("Acting", (), {"name": "acting", "act": lambda *_: 0, "reset": lambda *_: None})()
    with pytest.raises(InvalidSettingError, match="acting acts in environments only"):
        agent_policy(acting)


# -- policies in files and at the table ---------------------------------------------------------------------------


def first_decision(rules: Any) -> tuple[Any, Any]:
    """A game and a state of it in which a player is to move."""
    game: Any = RulesGame(rules)
    state = game.initial_state()
    while game.to_move(state) < 0:
        state = game.result(state, game.chance_outcomes(state)[0][0])
    return game, state


def test_a_policy_is_kept_in_a_file(tmp_path: Any) -> None:
    policy = CFRAgent(iterations=20).policy_for(RulesGame(Leduc(2)))
    for name in ("leduc.jsonl", "leduc.jsonl.gz"):
        policy.save(tmp_path / name)
        assert PolicyTable.load(tmp_path / name) == policy
    agent: Any = make_agent(f'policytable(path="{tmp_path / "leduc.jsonl"}")')
    assert agent.table == policy
    game, state = first_decision(Leduc(2))
    assert agent.search_state(game, state).policy == policy.probabilities(game, state)
    with pytest.raises(InvalidSettingError, match=r"holds a policy for Leduc\(ranks=2.*, not for Kuhn\("):
        agent.search_state(*first_decision(Kuhn()))
    with pytest.raises(InvalidSettingError, match="the policy is for Leduc"):
        exploitability(policy, Kuhn())


def test_the_agent_plays_pettingzoos_leduc_by_the_policy_of_our_rules() -> None:
    env = make("classic/leduc_holdem-v4")
    agent = CFRAgent(iterations=30)
    env.reset(seed=3)
    result = agent.search(env)
    assert sum(result.policy.values()) == pytest.approx(1)
    assert result.policy[result.action] > 0
    assert result.stats["exploitability"] < 2
    assert CFRAgent(iterations=30).search(env).policy == result.policy
    drawn = {agent.act(env) for _ in range(60)}
    assert drawn <= {action for action, share in result.policy.items() if share > 0}
    policy = agent.policy_for(as_game(env))
    env.reset(seed=4)
    agent.act(env)
    assert agent.policy_for(as_game(env)) is policy


def test_one_round_of_rock_paper_scissors_is_mixed_evenly() -> None:
    env = make("classic/rps-v2", max_cycles=1)
    env.reset()
    evenly = pytest.approx(dict.fromkeys(range(3), 1 / 3), abs=0.01)
    assert CFRAgent(iterations=200).search(env).policy == evenly
    env.step(1)
    assert CFRAgent(iterations=200).search(env).policy == evenly


def test_who_sees_other_cards_plays_alike() -> None:
    """The policy and the drawn action do not depend on what the seat does not see."""
    game, agent = RulesGame(Leduc(2)), CFRAgent(iterations=10)
    state = game.result(game.result(game.initial_state(), 0), 1)
    other = next(
        one for one in (game.resample(state, 0, np.random.default_rng(n)) for n in range(99)) if one != state
    )
    found = []
    for one in (state, other):
        agent.reset(7)
        result = agent.search_state(game, one)
        found.append((result.action, result.policy))
    assert found[0] == found[1]


# -- solve --------------------------------------------------------------------------------------------------------


def test_solve_ends_in_a_policy_and_bounds() -> None:
    solution = solve(Kuhn(), tolerance=1e-3)
    lower, upper = solution.value_bounds
    assert lower <= -1 / 18 <= upper
    assert upper - lower < 0.0021
    assert solution.outcome == "second wins"
    assert not solution.proven
    assert solution.policy is not None
    assert solution.policy.exploitability is not None
    assert solution.policy.exploitability < 1e-3
    with pytest.raises(InvalidSettingError, match="a game of hidden information is solved from its start"):
        solve(Kuhn(), RulesGame(Kuhn()).initial_state())
    with pytest.raises(InvalidSettingError, match="outcome_only and nodes are not for"):
        solve(Kuhn(), outcome_only=True)
    assert solve(Leduc(), seconds=0.2, tolerance=0).stopped_by is StoppedBy.SECONDS


# -- refusals -----------------------------------------------------------------------------------------------------


def forgetful() -> Any:
    """Kuhn poker whose players forget what was bet."""
    game: Any = RulesGame(Kuhn())
    game.information_state_key = lambda state, seat: (state.cards >> 4 * seat & 15, 0)
    return game


def test_games_that_cannot_be_written_out_are_refused() -> None:
    with pytest.raises(UnsupportedGameError, match="does not say what its players know"):
        sequence_form(RulesGame(MNK()))
    with pytest.raises(UnsupportedGameError, match="has more than 100 states"):
        solve_equilibrium(Leduc(), most_states=100)
    with pytest.raises(UnsupportedGameError, match="does not say what it has done"):
        sequence_form(forgetful())
    env = make("classic/texas_holdem-v4")
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match="needs the probabilities of chance"):
        CFRAgent().act(env)
    rps = make("classic/rps-v2")
    rps.reset()
    with pytest.raises(UnsupportedGameError, match="has more than 500 states"):
        CFRAgent(most_states=500).act(rps)


def test_settings_that_are_wrong() -> None:
    with pytest.raises(InvalidSettingError, match="external sampling does not write the game out"):
        solve_equilibrium(Kuhn(), variant="external_sampling")
    with pytest.raises(InvalidSettingError, match="variant must be one of 'cfr', 'plus'"):
        solve_equilibrium(Kuhn(), variant="minus")
    with pytest.raises(InvalidSettingError, match="probabilities lie between 0 and 1 and sum to 1"):
        exploitability(lambda game, state: {0: 0.4}, Kuhn())
    with pytest.raises(InvalidSettingError, match="a policy is a PolicyTable, or a function"):
        exploitability("random", Kuhn())  # type: ignore[arg-type]
