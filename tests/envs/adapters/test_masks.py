"""Masks are looked up at every step and for every agent; those that nobody would find are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from doubles.strange_envs import ALLOWED, MaskedRoom, Pick

from zermelo.envs import EnvFailedError, UnsupportedGameError, as_game, legal_actions


def allowed(turn: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(ALLOWED[turn % 3]).tolist())


def first_actions(env: Any, after: Any = ()) -> Any:
    game = as_game(env)
    state = game.snapshot(env)
    for action in after:
        state = game.result(state, action)
    return game.legal_actions(state)


@pytest.mark.defect(19)
def test_a_mask_counts_also_after_another_agent_was_seen_without_one() -> None:
    env = Pick("second")
    env.reset()
    game = as_game(env, traits={"information": "perfect", "reward_sum": "zero_sum", "chance": "deterministic"})
    state = game.snapshot(env)
    assert game.legal_actions(state) == (0, 1, 2, 3)
    state = game.result(state, 3)
    assert game.legal_actions(state) == allowed(1)


@pytest.mark.defect(44)
@pytest.mark.parametrize("show", ["phase", "second", "info", "observation"])
def test_masks_whose_place_changes_are_followed(show: str) -> None:
    env = Pick(show)
    env.reset()
    game = as_game(env)
    state = game.snapshot(env)
    for turn in range(6):
        agent = env.possible_agents[game.to_move(state)]
        is_free = (show == "second" and agent == "one") or (show == "phase" and turn % 2 == 0)
        assert game.legal_actions(state) == ((0, 1, 2, 3) if is_free else allowed(turn))
        state = game.result(state, game.legal_actions(state)[-1])
    assert game.is_terminal(state)


@pytest.mark.defect(51)
@pytest.mark.parametrize(
    ("show", "place"),
    [
        (
            "legal_moves",
            r"'one' in .* has no action_mask, but info\['legal_moves'\] .* 4 actions .* 'action_mask'",
        ),
        ("valid_actions", r"no action_mask, but observation\['valid_actions'\]"),
        (
            "last",
            r"action mask of 'one' in .* only right once Pick\.last\(\) has filled it in: .* reset\(\) and step",
        ),
    ],
)
def test_masks_under_another_name_or_only_in_last_are_refused_by_their_place(show: str, place: str) -> None:
    env = Pick(show)
    env.reset()
    with pytest.raises(UnsupportedGameError, match=place):
        first_actions(env)
    with pytest.raises(UnsupportedGameError, match=place):
        legal_actions(env)


@pytest.mark.defect(51)
def test_a_mask_that_last_has_filled_in_already_is_refused_too() -> None:
    env = Pick("last")
    env.reset()
    env.last()
    with pytest.raises(UnsupportedGameError, match=r"'two' in .* only right once Pick\.last\(\)"):
        first_actions(env)


def room(show: str) -> Any:
    env = MaskedRoom(show)
    env.reset()
    return env


@pytest.mark.defect(44)
def test_a_gymnasium_mask_in_the_observation() -> None:
    env = room("observation")
    game = as_game(env)
    state = game.snapshot(env)
    for turn in range(4):
        assert game.legal_actions(state) == allowed(turn)
        state = game.result(state, game.legal_actions(state)[0])
    assert game.is_terminal(state)


@pytest.mark.defect(51)
@pytest.mark.parametrize(
    ("show", "place"),
    [
        ("seen_only", r"observation\['action_mask'\]: give its class a method action_masks\(\)"),
        ("valid_mask", r"no action_mask, but info\['valid_mask'\] seems to say"),
    ],
)
def test_a_gymnasium_mask_that_a_live_environment_does_not_show(show: str, place: str) -> None:
    env = room(show)
    with pytest.raises(UnsupportedGameError, match=place):
        first_actions(env, after=[0])


def test_an_illegal_action_without_a_mask_is_answered_with_what_to_add() -> None:
    env = Pick("nowhere")
    env.reset()
    game = as_game(env)
    with pytest.raises(EnvFailedError, match=r"AssertionError in step\(1\) .* an action_mask in the observation"):
        game.result(game.snapshot(env), 1)
