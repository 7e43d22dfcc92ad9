"""Which texts of agents may come from a stranger: those that name nothing outside of this package."""

from __future__ import annotations

import pytest

from zermelo.agents import list_agents, make_agent
from zermelo.agents.specs import is_plain_agent, runs_own_code
from zermelo.envs import ZermeloError

OUTSIDE = [
    "uci(path='touch')",
    "gtp(path='touch')",
    "gnubg",
    "sb3(path='model.zip')",
    "torch(path='net.pt')",
    "onnx(path='net.onnx')",
    "policy(policy='beside:Net')",
    "policytable(path='table.jsonl')",
    "beside:Agent",
    "nobody_has_this",
    "uci(",
    "",
]
AROUND = [
    "{}",
    "noisy(agent={})",
    "noisy(agent={!r})",
    "noisy(epsilon=0.5, agent=noisy(agent={}))",
    "noisy(agent=noisy(agent=noisy(agent={!r})))",
    "expectimax(opponent={})",
    "expectimax(opponent=noisy(agent={}, epsilon=0.1))",
    "expectimax(opponent='noisy(agent={})')",
    "ismcts(belief={})",
    "ismcts(belief=noisy(agent={}), simulations=9)",
    "alphabeta(depth=[{!r}])",
    "alphabeta(depth=({!r}, 1))",
    "alphabeta(traits=1, depth={!r})",
    "mcts(simulations={})",
]
VALUES = [
    "torch(path='net.pt')",
    "onnx(path='net.onnx')",
    "'torch(path=1)'",
    "'values.json'",
    "'beside:value'",
    "'nobody_has_this'",
    "linear(path='values.json', features='beside:FEATURES')",
]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("outside", OUTSIDE[:8])
def test_what_an_agent_is_made_of_counts_at_every_depth(around: str, outside: str) -> None:
    assert runs_own_code(around.format(outside))


@pytest.mark.parametrize("spec", OUTSIDE)
def test_what_is_not_known_to_be_harmless_is_not(spec: str) -> None:
    assert runs_own_code(spec)


@pytest.mark.parametrize("setting", ["window", "ties", "name", "backend", "traits"])
def test_settings_that_are_words_are_no_agents(setting: str) -> None:
    assert runs_own_code(f"alphabeta({setting}=uci(path='touch'))")
    assert runs_own_code(f"noisy(agent=alphabeta({setting}=beside(x=1)))")


@pytest.mark.parametrize("value", VALUES)
def test_what_evaluates_counts_too(value: str) -> None:
    assert runs_own_code(f"greedy(evaluator={value})")
    assert runs_own_code(f"noisy(agent=alphabeta(evaluator={value}))")
    assert runs_own_code(f"expectimax(opponent=softmax(evaluator={value}, temperature=2))")


@pytest.mark.parametrize("setting", ["stop_test", "on_node", "on_iteration", "seconds", "unknown"])
@pytest.mark.parametrize("value", ["'beside:function'", "['beside:function']", "uci(path='touch')"])
def test_functions_by_name_are_somebodys_code(setting: str, value: str) -> None:
    assert runs_own_code(f"alphabeta({setting}={value})")
    assert runs_own_code(f"noisy(agent=alphabeta({setting}={value}))")


@pytest.mark.parametrize(
    "spec",
    [
        "mcts(workers=8)",
        "alphabeta(threads=2)",
        "noisy(agent=mcts(memory_mb=9))",
        "noisy(agent='ismcts(workers=2)')",
        "expectimax(opponent=noisy(agent='noisy(agent=mcts(threads=9))'))",
    ],
)
def test_a_file_names_no_agent_that_takes_more_of_the_machine(spec: str) -> None:
    assert not runs_own_code(spec)
    assert not is_plain_agent(spec)
    assert is_plain_agent("noisy(agent=mcts(simulations=9))")


@pytest.mark.parametrize(
    "spec",
    [
        *(entry.name for entry in list_agents()),
        "alphabeta(depth=4, evaluator=playout(games=8), window=bounds, ties=first, prefer_short_wins=false)",
        "alphabeta(depth=4, traits={'chance': 'deterministic'}, backend=clone, name='mine: the best')",
        "alphabeta(depth=2, evaluator='playout(games=2)', seconds=None)",
        "noisy(agent=mcts(simulations=50), epsilon=0.1)",
        "noisy(agent='mcts(simulations=50)', epsilon=0.1)",
        "expectimax(opponent=noisy(agent=greedy, epsilon=0.1), depth=2)",
        "ismcts(simulations=9, belief=uniform)",
        "openspiel_mcts(simulations=5)",
    ],
)
def test_agents_of_this_package_are_harmless(spec: str) -> None:
    assert not runs_own_code(spec)
    make_agent(spec)


@pytest.mark.parametrize(
    "spec",
    [
        "alphabeta(depth=" + "[" * 100_000 + ")",
        "alphabeta(depth=" + "-" * 100_000 + "1)",
        "alphabeta(depth=" + "9" * 5_000 + ")",
        "alphabeta" + "(" * 100_000,
        "noisy(agent=" * 5_000 + "random" + ")" * 5_000,
        "alphabeta(depth={[]: 1})",
        "alphabeta(depth=\0)",
        "alphabeta(depth='\ud800')",
    ],
)
def test_texts_that_nobody_would_write_are_one_sentence(spec: str) -> None:
    assert runs_own_code(spec) or "depth" in spec
    with pytest.raises(ZermeloError):
        make_agent(spec)
