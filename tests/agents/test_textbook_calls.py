"""Wrong calls of the textbook's functions: one sentence each, whatever is wrong, and never an answer."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from zermelo.agents import textbook
from zermelo.agents.base.playouts import RandomNumbers
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError, ZermeloError
from zermelo.envs.games import Chess, Goofspiel, Kuhn, Pig
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame
from zermelo.envs.trees import tree_game

TREE = tree_game([[3, 1], [2, 4]], bounds=(-5, 5))
GAMES: dict[str, Any] = {
    "quiescence": RulesGame(Chess()), "cfr": RulesGame(Kuhn()), "best_response_value": RulesGame(Kuhn()),
    "ismcts": RulesGame(Kuhn()), "simultaneous_mcts": RulesGame(Goofspiel(cards=3)),
    "best_first": tree_game([(1,), (2,)]),
}  # fmt: skip
SEARCHES = {name: found for name, found in vars(textbook).items() if name[0] != "_" and not inspect.isclass(found)}
ENV = make("zermelo/MNK-v0")
SWAPPED = RulesGame(Pig(target=5)).initial_state()
NOTHING = (None, "3", [], {}, object(), ENV, SWAPPED, TREE)
NUMBERS = {
    "depth": (-1, 2.5, math.nan, True), "moves": (-1, 2.5, math.nan, True), "alpha": (math.nan,),
    "beta": (math.nan,), "seat": (-1, 9, 0.5), "root_seat": (-1, 9), "chooser": (-1, 9), "iterations": (0, 2.5),
    "simulations": (0, 2.5), "exploration": (-1, math.nan), "tolerance": (-1, math.nan),
}  # fmt: skip


def uniform(state: Any) -> list[tuple[int, float]]:
    actions = TREE.legal_actions(state)
    return [(action, 1 / len(actions)) for action in actions]


def uniform_policy(state: Any) -> dict[int, float]:
    actions = GAMES["cfr"].legal_actions(state)
    return dict.fromkeys(actions, 1 / len(actions))


def right(name: str) -> dict[str, Any]:
    """Arguments that the search takes."""
    game = GAMES.get(name, TREE)
    state = game.initial_state()
    while name == "ismcts" and game.to_move(state) < 0:
        state = game.result(state, game.chance_outcomes(state)[0][0])
    known = {
        "game": game, "state": state, "seat": 0, "replies": uniform, "policy": uniform_policy, "iterations": 2,
        "simulations": 5, "random": RandomNumbers(1), "generator": np.random.default_rng(0), "moves": 1,
    }  # fmt: skip
    parameters = inspect.signature(SEARCHES[name]).parameters.values()
    return {one.name: known[one.name] for one in parameters if one.default is one.empty or one.name == "moves"}


def answer(name: str, *given: Any, **settings: Any) -> Any:
    found = SEARCHES[name](*given, **settings)
    return [*found] if isinstance(found, Iterator) else found


@pytest.mark.parametrize("name", SEARCHES)
def test_wrong_arguments_are_answered_by_a_sentence(name: str) -> None:
    arguments = right(name)
    assert answer(name, **arguments) is not None
    for argument, parameter in inspect.signature(SEARCHES[name]).parameters.items():
        for wrong in (*NOTHING, *NUMBERS.get(argument, ())):
            if (wrong is None and parameter.default is None) or (argument == "game" and wrong is TREE):
                continue
            with pytest.raises(ZermeloError) as raised:
                answer(name, **{**arguments, argument: wrong})
            said = str(raised.value)
            assert "\n" not in said
            assert argument in said or name in said, said
    if "state" in arguments:
        game, state = arguments.pop("game"), arguments.pop("state")
        with pytest.raises(InvalidSettingError, match=f"{name} takes the game first, not .* the wrong way round"):
            answer(name, state, game, **arguments)
    with pytest.raises(InvalidSettingError, match=f"{name} has no setting 'dept'"):
        answer(name, **right(name), dept=3)


def test_games_that_a_search_cannot_play_are_refused() -> None:
    pig, unbounded = RulesGame(Pig(target=5)), tree_game([1, 2])
    with pytest.raises(
        UnsupportedGameError, match=r"minimax knows no chance, .*: expectiminimax averages over it"
    ):
        textbook.minimax(pig, pig.initial_state())
    three = tree_game([[(1, 2, 3), (3, 2, 1)], [(1, 1, 1), (2, 2, 2)]])
    for search in (textbook.minimax, textbook.alpha_beta, textbook.expectiminimax):
        with pytest.raises(
            UnsupportedGameError, match=r"is for two players, and a tree has 3: max_n and paranoid"
        ):
            search(three, three.initial_state())
    with pytest.raises(UnsupportedGameError, match="cfr needs information_state_key and resample, which a tree"):
        textbook.cfr(unbounded, 3)
    with pytest.raises(
        UnsupportedGameError, match=r"mcts needs finite utility bounds, .*tree_game\(\.\.\., bounds="
    ):
        textbook.mcts(unbounded, unbounded.initial_state(), 5, RandomNumbers(1))


@pytest.mark.parametrize("learner", [textbook.DecoupledUCT, textbook.Exp3, textbook.RegretMatching])
def test_learners_need_actions_and_bounds_in_order(learner: Any) -> None:
    with pytest.raises(InvalidSettingError, match="actions must be a list of at least one action"):
        learner([], 0, 1)
    with pytest.raises(InvalidSettingError, match="upper must be above lower"):
        learner([0, 1], 1, 0)


def test_what_fails_inside_is_raised_as_it_is() -> None:
    """A failure inside is the caller's own, and the next call is checked again."""

    def fails(state: Any) -> float:
        raise RuntimeError("inside")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="inside"):
            textbook.minimax(TREE, TREE.initial_state(), 1, fails)
        with pytest.raises(InvalidSettingError, match="depth must be"):
            textbook.minimax(TREE, TREE.initial_state(), -1)
