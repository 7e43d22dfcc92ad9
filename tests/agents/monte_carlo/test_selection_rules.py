"""Selection rules: each has its formula wherever it is offered, and where there is none it is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from zermelo.agents import MCTSAgent, SearchResult, make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.playouts import RandomNumbers
from zermelo.agents.kernels.random_numbers import random_uniform
from zermelo.agents.monte_carlo.compiled.record import VISITED, MonteCarloRecord
from zermelo.agents.monte_carlo.information_sets.plain import InformationSetSearch, Observers
from zermelo.agents.monte_carlo.selection_rules import RULES, CompiledRule, PlainRule, Selection, SelectionRule
from zermelo.envs import as_game
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Kuhn
from zermelo.envs.jit.memory import load

every_rule = pytest.mark.parametrize("rule", list(Selection))


def no_weight(visits: int) -> float:
    return 1.0


def drawn(weight: float, visits: int, prior: float, exploration: float, random: RandomNumbers) -> float:
    """A random bonus, the smaller the more an action was tried: a rule that samples."""
    return exploration * (random.uniform() - 0.5) / math.sqrt(visits + 1)


def drawn_compiled(edge: int, weight: float, search: MonteCarloRecord) -> float:
    return search.exploration * (random_uniform(search) - 0.5) / math.sqrt(load(edge, VISITED) + 1)


SAMPLED = SelectionRule(PlainRule(no_weight, drawn), CompiledRule(no_weight, drawn_compiled))


def test_each_rule_has_its_formula() -> None:
    assert set(RULES) == set(Selection)


@every_rule
def test_a_rule_that_is_not_compiled_is_searched_in_plain_python(
    rule: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"simulations": 50, "selection": rule, "seed": 3}
    plain = MCTSAgent(**settings, compile="never").search(MNK())
    monkeypatch.setitem(RULES, rule, RULES[rule]._replace(compiled=None))
    found = MCTSAgent(**settings).search(MNK())
    assert found.why_plain == "this search has no compiled form"
    assert found.visits == plain.visits


@every_rule
def test_openspiel_refuses_a_rule_that_it_has_not(rule: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, rule, RULES[rule]._replace(openspiel=""))
    with pytest.raises(InvalidSettingError, match=f"OpenSpiel has no selection rule '{rule}': use 'mcts'"):
        make_agent(f"openspiel_mcts(selection={rule}, simulations=10)")


def test_a_sampled_rule_is_searched_plain_and_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(seed: int, rule: SelectionRule, **settings: Any) -> SearchResult:
        monkeypatch.setitem(RULES, Selection.UCT, rule)
        return MCTSAgent(simulations=400, seed=seed, **settings).search(MNK())

    uct = RULES[Selection.UCT]
    searched = [found(seed, SAMPLED) for seed in (1, 1, 2)]
    assert all(each.compiled for each in searched)
    plain = found(1, SAMPLED, compile="never")
    assert not plain.compiled
    assert [each.visits for each in searched[:2]] == [plain.visits] * 2
    assert searched[2].visits != plain.visits  # another seed is another tree
    assert found(1, uct).visits == found(1, uct, compile="never").visits != plain.visits


def test_a_sampled_rule_is_searched_in_information_sets() -> None:
    game = as_game(Kuhn())
    state = game.initial_state()
    while game.to_move(state) < 0:
        state = game.result(state, game.chance_outcomes(state)[0][0])

    def visits(seed: int, **rule: Any) -> list[int]:
        search = InformationSetSearch(
            game, state, Budget(Limits()), observers=Observers.MULTIPLE, exploration=0.7, seed=seed, **rule
        )
        search.simulate(300)
        return [each.visits for each in search.root_actions()]

    assert visits(1, rule=SAMPLED) == visits(1, rule=SAMPLED) != visits(2, rule=SAMPLED)
    assert visits(1, rule=SAMPLED) != visits(1)
