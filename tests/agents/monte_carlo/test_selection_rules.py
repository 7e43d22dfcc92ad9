"""Selection rules: each has its formula wherever it is offered, and where there is none it is refused."""

from __future__ import annotations

import pytest

from zermelo.agents import MCTSAgent, make_agent
from zermelo.agents.monte_carlo import openspiel
from zermelo.agents.monte_carlo.interface import RULES, Selection
from zermelo.agents.monte_carlo.kernel_nodes import COMPILED_RULES
from zermelo.agents.monte_carlo.plain_nodes import BONUSES
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK

every_rule = pytest.mark.parametrize("rule", list(Selection))


def test_each_rule_has_its_needs_and_its_formula():
    assert set(RULES) == set(BONUSES) == set(Selection)
    assert set(COMPILED_RULES) <= set(Selection)
    assert len(set(COMPILED_RULES.values())) == len(COMPILED_RULES)
    assert set(openspiel._POLICIES) <= set(Selection)


@every_rule
def test_a_rule_that_is_not_compiled_is_searched_in_plain_python(rule, monkeypatch):
    settings = {"simulations": 50, "selection": rule, "seed": 3}
    plain = MCTSAgent(**settings, compile="never").search(MNK())
    monkeypatch.delitem(COMPILED_RULES, rule, raising=False)
    found = MCTSAgent(**settings).search(MNK())
    assert found.why_plain == "this search has no compiled form"
    assert found.visits == plain.visits


@every_rule
def test_openspiel_refuses_a_rule_that_it_has_not(rule, monkeypatch):
    monkeypatch.delitem(openspiel._POLICIES, rule, raising=False)
    with pytest.raises(InvalidSettingError, match=f"OpenSpiel has no selection rule '{rule}': use 'mcts'"):
        make_agent(f"openspiel_mcts(selection={rule}, simulations=10)")
