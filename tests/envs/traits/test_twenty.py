"""Twenty environments of which random play shows too little: never a proof, never a wrong action in silence."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles import twenty_envs as twenty

from zermelo.agents import make_agent
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.errors import UnknownTraitWarning
from zermelo.envs.game import Chance, Information, TraitSource

pytestmark = [
    pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning"),
    pytest.mark.usefixtures("seen_by_nobody"),
]


def near(cls: type[Any]) -> Any:
    """An environment of a class of its own, looked at from its usual start, where what is rare is near."""
    env = type(cls.__name__, (cls,), {})()
    env.reset(seed=0)
    as_game(env)
    env.reset(seed=0, options={"near": True})
    return env


# Rare pay


@pytest.mark.parametrize(
    "spec", ["alphabeta(depth=4, nodes=1000)", "mcts(simulations=200)", "minimax(depth=4, nodes=1000)"]
)
@pytest.mark.parametrize(
    ("cls", "value"),
    [
        (twenty.Shared, 1.0),
        (twenty.Gift, 2.0),
        (twenty.OnTheWay, -1.0),
        (twenty.Delayed, 4.0),
        (twenty.Fine, -1.0),
    ],
)
def test_pay_that_play_does_not_meet_counts(cls: type[Any], value: float, spec: str) -> None:
    result = make_agent(spec).search(near(cls))
    assert result.env_action == 1
    assert result.value == pytest.approx(value, abs=0.35)
    assert not result.proven
    assert result.assumed


@pytest.mark.parametrize("spec", ["alphabeta(depth=4)", "minimax(depth=4)"])
def test_an_answer_with_no_more_nodes_says_how_deep_it_got(spec: str) -> None:
    with pytest.warns(UnknownTraitWarning, match=r"a step paid \(4, 4\)\): searched by maxn instead of"):
        result = make_agent(spec).search(near(twenty.Delayed))
    assert result.env_action == 1 or f"to depth {result.depth}" in result.note
    assert not result.proven


# Late chance


@pytest.mark.parametrize(
    "spec", ["mcts(simulations=300)", "expectiminimax(depth=2, samples=200)", "expectimax(depth=2, samples=200)"]
)
@pytest.mark.parametrize("cls", [twenty.OwnNumpy, twenty.OwnPython, twenty.GlobalPython, twenty.GlobalNumpy])
def test_chance_that_comes_late_is_seen(cls: type[Any], spec: str) -> None:
    env = near(cls)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002 - as strangers do
    would = random.Random(3).random(), np.random.RandomState(3).random()
    result = make_agent(spec).search(env)
    assert result.env_action == 0
    assert result.value == pytest.approx(10.0)
    assert not result.proven
    assert as_game(env).traits.source("chance") is TraitSource.SEEN
    assert (random.random(), np.random.random()) == would  # noqa: NPY002 - as above


def test_chance_of_the_system_is_averaged_or_assumed_away_aloud() -> None:
    env = near(twenty.System)
    result = make_agent("mcts(simulations=300)").search(env)
    assert not result.proven
    traits = as_game(env).traits
    assert traits.chance is Chance.SAMPLED or any("chance: deterministic" in text for text in result.assumed)


# Late hidden things


@pytest.mark.parametrize("spec", ["mcts(simulations=60)", "greedy"])
@pytest.mark.parametrize("cls", [twenty.Fog, twenty.Simultaneous, twenty.Role])
def test_what_is_hidden_is_seen_and_said(cls: type[Any], spec: str) -> None:
    env = near(cls)
    result = make_agent(spec).search(env)
    assert not result.proven
    assert "information: hidden (the search sees it all the same)" in result.assumed


@pytest.mark.parametrize("spec", ["alphabeta(depth=2)", "mcts(simulations=60)", "greedy"])
def test_what_is_hidden_where_play_does_not_get_is_an_assumption(spec: str) -> None:
    result = make_agent(spec).search(near(twenty.Dealt))
    assert not result.proven
    assert any(text.startswith("information: perfect (nothing hidden in ") for text in result.assumed)


@pytest.mark.thorough
@pytest.mark.parametrize("spec", ["mcts(simulations=500)", "expectiminimax(depth=2, samples=100)"])
def test_a_deck_face_down_is_drawn_again(spec: str) -> None:
    env = near(twenty.Deck)
    traits = as_game(env).traits
    assert traits.information is Information.HIDDEN
    assert traits.drawn_again == (("deck",),)
    while env.deck[-1] != 8:
        env.reset()
    result = make_agent(spec).search(env)
    assert result.env_action == 0
    assert not result.proven


# Another configuration


@pytest.mark.parametrize(
    "spec", ["alphabeta(depth=2, nodes=1000)", "minimax(depth=2, nodes=1000)", "mcts(simulations=300)"]
)
@pytest.mark.parametrize("how", ["module", "variable", "file", "option", "patch"])
def test_each_configuration_is_searched_for_itself(
    how: str, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = getattr(twenty, f"By{how.title()}")
    cls = type(base.__name__, (base,), {"file": tmp_path / "together"})

    def configure(together: bool) -> None:
        monkeypatch.setattr(twenty, "TOGETHER", together)
        monkeypatch.setenv("TOGETHER", str(int(together)))
        (tmp_path / "together").write_text(str(int(together)))
        if how == "patch":
            cls.together = lambda self: together

    for together in (False, True, False):
        configure(together)
        env = cls()
        env.reset(seed=0, options={"together": together})
        env.step(1)
        env.step(1)
        result = make_agent(spec).search(env)
        assert result.env_action == (2 if together else 0)
        assert not result.proven


def test_searches_that_need_the_hidden_refuse_in_a_sentence() -> None:
    with pytest.raises(UnsupportedGameError, match="what players see"):
        make_agent("ismcts(simulations=20)").search(near(twenty.Role))


def test_a_thin_assumption_warns() -> None:
    with pytest.warns(UnknownTraitWarning, match="is searched on assumptions"):
        make_agent("alphabeta(depth=1)").search(near(twenty.OnTheWay))
