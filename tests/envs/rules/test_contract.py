"""Rules whose methods are misspelt, and games that are not the same game."""

from __future__ import annotations

from typing import Any

import pettingzoo
import pytest
from doubles.game_envs import started
from doubles.own_rules import Piglike

from zermelo.agents import CFRAgent
from zermelo.envs import as_game, check_rules, make
from zermelo.envs.errors import RulesError
from zermelo.envs.games import Hexapawn, Leduc, Nim
from zermelo.envs.registration.own_games import env_maker
from zermelo.envs.rules import RulesGame


def with_method(name: str, base: type = Nim, method: Any = lambda self, *arguments: 0) -> type:
    return type("Misspelt", (base,), {"__slots__": (), name: method})


MISSPELT = [
    ("evaluate", "evaluation"),
    ("evaluator", "evaluation"),
    ("ordering_hints", "ordering_hint"),
    ("order_hint", "ordering_hint"),
    ("is_noise", "is_noisy"),
    ("symmetry", "symmetries"),
    ("informationstate_key", "information_state_key"),
    ("legal_action", "legal_actions"),
    ("is_terminated", "is_terminal"),
    ("repetition_keys", "repetition_key"),
    ("seat_name", "seat_names"),
]


@pytest.mark.parametrize(("name", "right"), MISSPELT)
def test_a_misspelt_method_is_refused_with_the_nearest_name(name: str, right: str) -> None:
    kind = with_method(name)
    with pytest.raises(RulesError, match=rf"Misspelt\.{name} is no method of rules: did you mean {right}\?"):
        RulesGame(kind())


def test_every_way_to_hand_rules_over_refuses_it() -> None:
    kind = with_method("evaluate")
    for hand_over in (as_game, check_rules, lambda rules: env_maker(type(rules))):
        with pytest.raises(RulesError, match=r"did you mean evaluation\?"):
            hand_over(kind())


def test_a_misspelt_method_is_found_where_a_parent_has_the_right_one() -> None:
    with pytest.raises(RulesError, match=r"did you mean evaluation\?"):
        RulesGame(with_method("evaluate", make("zermelo/Othello-v0").unwrapped.rules.__class__)())


@pytest.mark.parametrize("name", ["neighbours", "winner", "_evaluate", "moves_of", "rounds", "heap_sizes"])
def test_other_helpers_are_free(name: str) -> None:
    assert RulesGame(with_method(name)()).initial_state() == Nim().initial_state()


def test_a_helper_may_resemble_a_method_of_the_same_class() -> None:
    class Both(Piglike):
        __slots__ = ()

        def evaluation(self, state: Any, seat: int) -> int:
            return self.evaluate(state, seat)

        def evaluate(self, state: Any, seat: int) -> int:
            return 0

    assert RulesGame(Both()).evaluation(Both().initial_state()) == (0.0, 0.0)


def test_a_policy_for_rules_is_not_taken_for_an_environment_that_pays_half() -> None:
    env = started(pettingzoo.make("aec", "classic/leduc_holdem-v4"), seed=0)
    live = as_game(env)
    values = []
    for games in ([live], [RulesGame(Leduc(blinds=True)), live]):
        agent = CFRAgent(iterations=3)
        for game in games:
            value = agent.policy_for(game).values[0]
        values.append(value)
    assert values[1] == pytest.approx(values[0], rel=1e-9)


def test_games_are_equal_only_if_they_are_the_same_in_every_respect() -> None:
    env = started(pettingzoo.make("aec", "classic/leduc_holdem-v4"), seed=0)
    assert RulesGame(Leduc(blinds=True)) != as_game(env)
    assert as_game(env) == as_game(env)
    other = started(make("zermelo/Hexapawn-v0"))
    plain = RulesGame(Hexapawn())
    assert RulesGame(Hexapawn()) == plain
    assert hash(RulesGame(Hexapawn())) == hash(plain)
    assert as_game(other, traits={"utility_bounds": (-2, 2)}) != as_game(other)
