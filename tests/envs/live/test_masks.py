"""Masks are looked up at every step and for every agent, under their usual names; what is unclear is tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from doubles.game_envs import started
from doubles.strange_envs import ALLOWED, MaskedRoom, Pick
from gymnasium import spaces

from zermelo.envs import UnsupportedGameError, as_game, legal_actions
from zermelo.envs.adapters.actions import ActionCodec
from zermelo.envs.errors import EnvFailedError, UnknownTraitWarning
from zermelo.envs.live.masks import shown_mask


def allowed(turn: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(ALLOWED[turn % 3]).tolist())


def first_actions(env: Any, after: Any = ()) -> Any:
    game = as_game(env)
    state = game.snapshot(env)
    for action in after:
        state = game.result(state, action)
    return game.legal_actions(state)


def test_a_mask_counts_also_after_another_agent_was_seen_without_one() -> None:
    env = started(Pick("second"))
    game = as_game(env, traits={"information": "perfect", "reward_sum": "zero_sum", "chance": "deterministic"})
    state = game.snapshot(env)
    assert game.legal_actions(state) == (0, 1, 2, 3)
    state = game.result(state, 3)
    assert game.legal_actions(state) == allowed(1)


@pytest.mark.parametrize("show", ["phase", "second", "info", "observation", "legal_moves", "valid_actions"])
def test_masks_whose_place_changes_are_followed(show: str) -> None:
    env = started(Pick(show))
    game = as_game(env)
    state = game.snapshot(env)
    for turn in range(6):
        agent = env.possible_agents[game.to_move(state)]
        is_free = (show == "second" and agent == "one") or (show == "phase" and turn % 2 == 0)
        assert game.legal_actions(state) == ((0, 1, 2, 3) if is_free else allowed(turn))
        state = game.result(state, game.legal_actions(state)[-1])
    assert game.is_terminal(state)


@pytest.mark.parametrize(
    ("shown", "allowed"),
    [
        ({"action_mask": [0, 1, 1], "legal_moves": [0]}, (1, 2)),
        ({"legal_actions": [2, 0]}, (0, 2)),
        ({"avail_actions": {1}}, (1,)),
        ({"validActionMask": np.array([True, False, True])}, (0, 2)),
        ({"legal_moves": np.array([[1, 0, 0]])}, (0,)),
        ({"possible_moves": [0, 3]}, None),
        ({"legal_moves": []}, None),
        ({"mask": 1, "valid": True, "legal_text": ["a"], 7: [1, 0, 0]}, None),
    ],
    ids=str,
)
def test_masks_under_the_usual_names(shown: Any, allowed: Any) -> None:
    codec = ActionCodec(spaces.Discrete(3), "it")
    for observation, info in ((shown, {}), (np.zeros(3), shown)):
        mask = shown_mask(observation, info, codec)
        assert (None if mask is None else codec.masked(mask)) == allowed


def test_a_list_of_actions_has_their_own_numbers() -> None:
    codec = ActionCodec(spaces.Discrete(3, start=5), "it")
    mask = shown_mask({"legal_actions": [7, 5]}, {}, codec)
    assert codec.masked(mask) == (5, 7)


@pytest.mark.parametrize(
    "shown",
    [{"invalid_moves": [0, 1]}, {"available": [1, 0, 0]}, {"legal_actions": [0, 1]}],
    ids=str,
)
def test_what_may_or_may_not_be_a_mask_does_not_count_untried(shown: Any) -> None:
    size = 2 if "legal_actions" in shown else 3
    assert shown_mask(None, shown, ActionCodec(spaces.Discrete(size), "it")) is None


def test_what_sounds_like_a_mask_is_tried_on_copies() -> None:
    class Tried(Pick):
        pass

    env = started(Tried("available"))
    with pytest.warns(UnknownTraitWarning, match=r"info\['available'\] of .* is taken for the legal actions"):
        assert legal_actions(env) == list(allowed(0))
    game = as_game(env)
    state = game.snapshot(env)
    for turn in range(6):
        assert game.legal_actions(state) == allowed(turn)
        state = game.result(state, game.legal_actions(state)[-1])
    assert game.is_terminal(state)


def test_what_only_sounds_like_a_mask_is_none() -> None:
    class Other(Pick):
        pass

    assert legal_actions(started(Other("options"))) == [0, 1, 2, 3]


def test_a_mask_that_only_last_fills_in_is_asked_for() -> None:
    env = started(Pick("last"))
    game = as_game(env)
    state = game.snapshot(env)
    for turn in range(6):
        assert legal_actions(env) == list(allowed(turn))
        assert game.legal_actions(state) == allowed(turn)
        action = game.legal_actions(state)[-1]
        state = game.result(state, action)
        env.last()
        env.step(action)
    assert game.is_terminal(state)


def room(show: str) -> Any:
    return started(MaskedRoom(show))


@pytest.mark.parametrize("show", ["observation", "valid_mask", "moves", "part"])
def test_a_gymnasium_mask_that_a_method_returns_or_an_attribute_has_in_it(show: str) -> None:
    env = room(show)
    game = as_game(env)
    state = game.snapshot(env)
    for turn in range(4):
        assert game.legal_actions(state) == allowed(turn)
        assert legal_actions(env) == list(allowed(turn))
        action = game.legal_actions(state)[0]
        state = game.result(state, action)
        env.step(action)
    assert game.is_terminal(state)


def test_a_gymnasium_mask_that_a_live_environment_does_not_show() -> None:
    env = room("seen_only")
    with pytest.raises(
        UnsupportedGameError, match=r"observation\['action_mask'\]: give its class a method action_masks"
    ):
        first_actions(env)


def test_a_mask_in_info_that_no_method_returns_is_read_from_the_first_step_on() -> None:
    env = room("info_only")
    assert first_actions(env) == (0, 1, 2, 3)
    assert first_actions(env, after=[0]) == allowed(1)


def test_an_illegal_action_without_a_mask_is_answered_with_what_to_add() -> None:
    env = started(Pick("nowhere"))
    game = as_game(env)
    with pytest.raises(EnvFailedError, match=r"AssertionError in step\(1\) .* an action_mask in the observation"):
        game.result(game.snapshot(env), 1)
