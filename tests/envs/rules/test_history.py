"""States that know their past: values like other states, in environments and without."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from doubles.chase import Chase, ChaseState
from doubles.game_envs import started

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import as_game, check_rules, clone_env
from zermelo.envs.errors import RulesError
from zermelo.envs.jit.history import PathRules
from zermelo.envs.rules import RulesGame, with_past
from zermelo.envs.rules.contract import COMPILED, METHODS
from zermelo.envs.rules.env import RulesEnv
from zermelo.envs.rules.history import RulesWithHistory, keys_of, without_past

ROUND = (0, 2, 1, 3)
"""The cop goes from place 1 to 0 and back, the robber from 3 to 2."""


def after(game: RulesGame, actions: Any) -> Any:
    """Illegal actions are played too."""
    game = game.for_search
    state = game.initial_state()
    for action in actions:
        state = game.result(state, action)
    return state


def test_states_are_equal_where_their_past_is() -> None:
    game = RulesGame(Chase())
    once, again = after(game, ()), after(game, ROUND)
    assert tuple(once) == tuple(again)
    assert again.cop == 1
    assert once != again
    assert hash(once) != hash(again)
    assert len({once, again, after(game, ROUND), once}) == 2
    for copied in (pickle.loads(pickle.dumps(again)), copy.deepcopy(again), copy.copy(again)):
        assert copied == again
        assert keys_of(copied) == keys_of(again)
        assert type(copied) is type(again)
    assert type(without_past(again)) is ChaseState
    assert again == with_past(game.rules, without_past(again), keys_of(again)[:-1])


def test_a_table_s_key_has_the_past_in_any_order_as_far_as_it_matters() -> None:
    game = RulesGame(Chase())
    there, here = after(game, (0, 2, 1, 3, 4)), after(game, (4, 2, 1, 3, 4))
    assert there[:] == here[:]
    assert game.key(there) != game.key(here)
    state, keys = without_past(there), keys_of(there)[:-1]
    assert game.key(with_past(game.rules, state, keys[::-1])) == game.key(there)
    assert game.key(with_past(game.rules, state, [0, *keys])) == game.key(there)

    class Irreversible(Chase):
        def reversible_plies(self, state: ChaseState) -> int:
            return 2

    assert keys_of(with_past(Irreversible(), state, keys)) == keys_of(there)[-3:]


def test_the_third_occurrence_ends_the_game_in_an_environment_and_in_what_is_searched_of_it() -> None:
    env = started(RulesEnv(Chase()), moves=(*ROUND, *ROUND[:3]))
    before = clone_env(env)
    for other in (before, pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        game = as_game(other)
        assert keys_of(game.snapshot(other)) == keys_of(env.position)
        found = AlphaBetaAgent(depth=1, exact=True, evaluator="game").search(other)
        assert found.action_values[3] == 0
        assert found.action_values[1] != 0
        other.step(3)
        assert all(other.terminations.values())
        assert other.rewards == {"player_0": 0, "player_1": 0}
        assert as_game(other).is_terminal(as_game(other).snapshot(other))


def test_an_action_that_repeats_is_illegal_with_superko() -> None:
    env = started(RulesEnv(Chase(limit=2, superko=1)))
    for action in ROUND[:3]:
        assert action in env.legal_actions()
        env.step(action)
    assert env.legal_actions() == [1, 6]
    assert list(as_game(env).legal_actions(as_game(env).snapshot(env))) == [1, 6]


class Endless(Chase):
    """Nobody may stay."""

    def legal_actions(self, state: ChaseState, actions: list[int]) -> int:
        return super().legal_actions(state, actions) - 1


def test_broken_rules_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(RulesError, match=r"Chase.repetition_limit: it gave 1, but the first"):
        RulesGame(Chase(limit=1))
    game = RulesGame(Endless(limit=2, superko=1))
    for rules, message in (
        (game.rules, r"Endless.legal_actions at .*: every action repeats a position"),
        (Forgetful(), r"Forgetful.reversible_plies at .*: it gave 1, but the position was there before that"),
        (Generous(limit=2), r"Generous.repetition_utility at .*: it gives \(1.0, 1.0\), which do not add up"),
    ):
        with pytest.raises(RulesError, match=message):
            check_rules(rules, games=50)
    check_rules(Chase(limit=2), games=3)


class Forgetful(Chase):
    def reversible_plies(self, state: ChaseState) -> int:
        return 1


class Generous(Chase):
    def repetition_utility(self, state: ChaseState, seat: int) -> int:
        return 1


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"limit": 2}, {"limit": 2, "superko": 1}], ids=str)
def test_the_past_is_compared_with_that_of_compiled_rules(
    settings: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_rules(Chase(**settings), games=50)
    monkeypatch.setattr(RulesWithHistory, "_repeats", lambda self, state: False)
    with pytest.raises(RulesError, match=r"with its past, compiled it gives .*, uncompiled"):
        check_rules(Chase(**settings), games=50)


def test_compiled_rules_with_a_past_pass_every_method_on_that_is_asked_of_a_state() -> None:
    left_out = {"symmetric_state", "safe_actions", "repetition_key", "repetition_utility", "reversible_plies"}
    of_states = {name for name in COMPILED if "state" in METHODS[name].arguments}
    assert of_states - {*vars(PathRules)} == left_out
