"""OpenSpiel's games over their own states, through Shimmy and directly."""

from __future__ import annotations

import inspect
import random
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import started

pyspiel = pytest.importorskip("pyspiel")
openspiel_compatibility = pytest.importorskip("shimmy.openspiel_compatibility")

from zermelo.envs import CHANCE, IllegalActionError, UnsupportedGameError, as_game  # noqa: E402 - after the check that OpenSpiel is there
from zermelo.envs.adapters.openspiel import MARKOV_TEXT  # noqa: E402 - as above
from zermelo.envs.capabilities import (  # noqa: E402 - as above
    SupportsActionText,
    SupportsInformationStates,
    SupportsPast,
    SupportsPicture,
    SupportsText,
    members_of,
    offers,
)
from zermelo.envs.errors import GameOverError  # noqa: E402 - after the check that OpenSpiel is there
from zermelo.envs.game import Chance, Information, RewardSum, TraitSource  # noqa: E402 - after the check that OpenSpiel is there


def states_game(thing: Any, backend: str = "environment", **options: Any) -> Any:
    """The game over OpenSpiel's own states, also where there are rules for it."""
    return as_game(thing, backend=backend, **options)


def shimmy(name: str, seed: int = 0, **config: Any) -> Any:
    return started(
        openspiel_compatibility.OpenSpielCompatibilityV0(game_name=name, config=config or None), seed=seed
    )


GAMES: list[tuple[str, dict[str, Any]]] = [
    ("tic_tac_toe", {}),
    ("connect_four", {}),
    ("breakthrough", {"rows": 6, "columns": 6}),
    ("backgammon", {}),
    ("pig", {"winscore": 20}),
    ("mancala", {}),
    ("nim", {}),
]


@pytest.mark.parametrize(("name", "config"), GAMES)
@pytest.mark.parametrize("backend", ["environment", "clone"])
def test_the_game_plays_as_shimmys_environment_does(name: str, config: dict[str, Any], backend: str) -> None:
    draw = random.Random(name)
    for seed in range(3):
        env = shimmy(name, seed, **config)
        game = states_game(env, backend=backend)
        totals = np.zeros(2)
        for _ in range(400):
            state = game.snapshot(env)
            assert not game.is_terminal(state)
            agent = env.agent_selection
            assert env.possible_agents[game.to_move(state)] == agent
            actions = list(game.legal_actions(state))
            assert actions == np.flatnonzero(env.infos[agent]["action_mask"]).tolist()
            action = draw.choice(actions)
            following = game.result(state, action)
            env.step(action)
            totals += [env.rewards[a] for a in env.possible_agents]
            if game.traits.chance is Chance.NONE:
                assert game.is_terminal(following) == any(env.terminations.values())
                assert game.key(following) == game.key(game.snapshot(env))
            if any(env.terminations.values()) or any(env.truncations.values()):
                break
        final = game.snapshot(env)
        assert game.is_terminal(final)
        assert game.utility(final) == pytest.approx(tuple(totals))


def test_rolls_are_chance_events_with_exact_probabilities() -> None:
    env = shimmy("pig", winscore=10)
    game = states_game(env)
    assert game.traits.chance is Chance.EXACT
    roll = game.result(game.snapshot(env), 0)
    assert game.to_move(roll) == CHANCE
    assert game.legal_actions(roll) == []
    assert [p for _, p in game.chance_outcomes(roll)] == pytest.approx([1 / 6] * 6)
    assert game.chance_outcomes(game.snapshot(env)) == ()


def test_the_environments_dice_cannot_be_seen_through_the_clone() -> None:
    env = shimmy("pig", seed=3)
    game = states_game(env, backend="clone")
    assert game.traits.chance is Chance.SAMPLED
    state = game.snapshot(env)
    rolled = {str(game.result(state, 0).env.game_state) for _ in range(60)}
    assert len(rolled) == 6

    def draws(seed: int) -> list[str]:
        generator = np.random.default_rng(seed)
        return [str(game.sample_result(state, 0, generator).env.game_state) for _ in range(10)]

    assert draws(1) == draws(1) != draws(2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tic_tac_toe", (RewardSum.ZERO, Chance.NONE, Information.PERFECT, (-1.0, 1.0), True)),
        ("pig", (RewardSum.ZERO, Chance.EXACT, Information.PERFECT, (-1.0, 1.0), True)),
        ("kuhn_poker", (RewardSum.ZERO, Chance.EXACT, Information.HIDDEN, (-2.0, 2.0), True)),
        ("matrix_rps", (RewardSum.ZERO, Chance.NONE, Information.HIDDEN, (-1.0, 1.0), True)),
        ("matrix_pd", (RewardSum.GENERAL, Chance.NONE, Information.HIDDEN, None, True)),
        ("tiny_hanabi", (RewardSum.GENERAL, Chance.EXACT, Information.HIDDEN, None, True)),
        ("2048", (RewardSum.GENERAL, Chance.EXACT, Information.PERFECT, (-np.inf, np.inf), False)),
        ("stones_and_gems", (RewardSum.GENERAL, Chance.SAMPLED, Information.PERFECT, None, False)),
    ],
)
def test_traits_come_from_the_game_type(name: str, expected: Any) -> None:
    traits = states_game(pyspiel.load_game(name)).traits
    found = (traits.reward_sum, traits.chance, traits.information, traits.utility_bounds)
    wanted = expected[:3] + ((traits.utility_bounds,) if expected[3] is None else (expected[3],))
    assert found == wanted
    assert traits.terminal_rewards_only == expected[4]
    assert traits.source("information") is TraitSource.KNOWN


def test_hidden_information_stays_hidden_through_the_clone() -> None:
    assert states_game(shimmy("kuhn_poker"), backend="clone").traits.information is Information.HIDDEN


def test_given_traits_are_trusted_more() -> None:
    traits = states_game(shimmy("tic_tac_toe"), traits={"utility_bounds": (-2, 2)}).traits
    assert traits.utility_bounds == (-2, 2)
    assert traits.source("utility_bounds") is TraitSource.GIVEN


def test_games_and_states_of_openspiel_are_games() -> None:
    loaded = pyspiel.load_game("tic_tac_toe")
    game = states_game(loaded)
    state = game.initial_state()
    state = game.result(game.result(state, 4), 0)
    assert states_game(state).legal_actions(state) == [1, 2, 3, 5, 6, 7, 8]
    copy = game.snapshot(state)
    assert game.key(copy) == game.key(state)
    assert game.legal_actions(game.snapshot(loaded)) == list(range(9))
    assert game.action_text(state, 1) == "x(0,1)"
    assert game.text(state).startswith("o..")


def test_a_state_is_never_changed_by_its_results() -> None:
    game = states_game(pyspiel.load_game("connect_four"))
    state = game.initial_state()
    before = str(state)
    game.result(state, 3)
    assert str(state) == before


def test_shimmys_environment_is_asked_for_once() -> None:
    env = shimmy("connect_four")
    game = states_game(env)
    env.step(3)
    assert states_game(env) is game
    env.reset(seed=2)
    assert states_game(env) is game


def test_shimmys_truncation_is_an_end() -> None:
    # Shimmy counts chance events against max_game_length, which leaves them out.
    env = shimmy("pig", winscore=1000, horizon=10)
    game = states_game(env)
    state = game.snapshot(env)
    while not (any(env.truncations.values()) or any(env.terminations.values())):
        assert not game.is_terminal(game.snapshot(env))
        env.step(0)
    assert game.is_terminal(game.snapshot(env))
    direct = states_game(env.game_state)
    assert not direct.is_terminal(direct.snapshot(env))
    while not game.is_terminal(state):
        action = game.chance_outcomes(state)[1][0] if game.to_move(state) == CHANCE else 0
        state = game.result(state, action)
    assert state.move_number() == 10


def test_illegal_actions_and_finished_games() -> None:
    game = states_game(pyspiel.load_game("tic_tac_toe"))
    state = game.result(game.initial_state(), 4)
    with pytest.raises(IllegalActionError, match="4 is not legal in openspiel/tic_tac_toe"):
        game.result(state, 4)
    for action in (0, 3, 1, 5):
        state = game.result(state, action)
    state = game.result(game.result(state, 2), 6) if not game.is_terminal(state) else state
    while not game.is_terminal(state):
        state = game.result(state, game.legal_actions(state)[0])
    with pytest.raises(GameOverError, match="is over"):
        game.result(state, 8)
    assert game.legal_actions(state) == []


def test_moves_at_the_same_time_belong_to_nobody() -> None:
    game = states_game(pyspiel.load_game("matrix_rps"))
    with pytest.raises(UnsupportedGameError, match="players move at the same time"):
        game.to_move(game.initial_state())


def test_chance_inside_openspiel_is_not_looked_at() -> None:
    game = states_game(pyspiel.load_game("stones_and_gems"))
    state = game.initial_state()
    state = game.result(state, game.legal_actions(state)[0])
    with pytest.raises(UnsupportedGameError, match="draws its chance inside OpenSpiel"):
        game.chance_outcomes(state)
    with pytest.raises(UnsupportedGameError, match="draws its chance inside OpenSpiel"):
        game.result(state, 0)


def test_what_holds_no_openspiel_state() -> None:
    game = states_game(pyspiel.load_game("tic_tac_toe"))
    with pytest.raises(UnsupportedGameError, match="holds no OpenSpiel state"):
        game.snapshot(object())


SMALL = {
    "breakthrough": {"rows": 5, "columns": 3},
    "catch": {"rows": 5, "columns": 3},
    "clobber": {"rows": 3, "columns": 4},
    "connect_four": {"rows": 4, "columns": 4},
    "gomoku": {"size": 3, "connect": 3},
    "havannah": {"board_size": 3},
    "hex": {"board_size": 3},
    "mnk": {"m": 3, "n": 3, "k": 3},
    "nim": {"pile_sizes": "1;2;3"},
    "pig": {"winscore": 6, "diceoutcomes": 3, "horizon": 12},
    "twixt": {"board_size": 5},
    "y": {"board_size": 3},
}


@pytest.mark.parametrize("name", sorted(MARKOV_TEXT))
def test_equal_keys_mean_the_same_future(name: str) -> None:
    game = states_game(pyspiel.load_game(name, SMALL.get(name, {})))
    draw = random.Random(1)
    first: dict[Any, Any] = {}
    met = 0
    for _ in range(3000):
        if met >= 200:
            break
        state = game.initial_state()
        while not game.is_terminal(state):
            key = game.key(state)
            other = first.setdefault(key, state)
            if other.history() != state.history():
                met += 1
                assert _same_line(other, state, random.Random(met)), (name, key)
            actions = state.legal_actions()
            narrow = min(int(draw.expovariate(1.0)), len(actions) - 1)
            state = state.child(actions[narrow] if draw.random() < 0.9 else draw.choice(actions))
            if state.move_number() > 60:
                break
    assert met >= 10


def _same_line(one: Any, other: Any, draw: random.Random) -> bool:
    """Whether a random line from two states meets the same players, moves and rewards to come."""
    before = np.subtract(one.returns(), other.returns())
    while not one.is_terminal():
        if one.current_player() != other.current_player() or one.legal_actions() != other.legal_actions():
            return False
        action = draw.choice(one.legal_actions())
        one, other = one.child(action), other.child(action)
    return bool(other.is_terminal() and np.allclose(np.subtract(one.returns(), other.returns()), before))


def test_keys_of_other_games_hold_the_history() -> None:
    game = states_game(pyspiel.load_game("dots_and_boxes"))
    start = game.initial_state()
    one = game.result(game.result(start, 0), 1)
    other = game.result(game.result(start, 1), 0)
    assert game.key(one) != game.key(other)
    assert game.key(one) == game.key(game.result(game.result(start, 0), 1))


@pytest.mark.parametrize("name", ["leduc_poker", "breakthrough", "mancala", "nim"])
def test_rules_with_openspiels_numbers_offer_what_the_rules_do(name: str) -> None:
    """So that ``isinstance`` with a protocol sees it too, which asks no ``__getattr__`` from Python 3.12 on."""
    game = as_game(pyspiel.load_game(name))
    assert game is not game.inside
    for ability in (SupportsInformationStates, SupportsPast, SupportsText, SupportsPicture, SupportsActionText):
        assert offers(game, ability) == offers(game.inside, ability) == isinstance(game, ability)
        found = [name for name in members_of(ability) if inspect.getattr_static(game, name, None) is not None]
        assert found == [*members_of(ability)] * offers(
            game, ability
        )  # also with Python 3.11, which asks otherwise
    state = game.initial_state()
    assert game.text(state) == game.inside.text(state)
    assert game.for_search is game.inside.for_search


def test_the_past_has_openspiels_numbers() -> None:
    """Of cards that differ in suit alone it may be another one."""
    theirs = pyspiel.load_game("leduc_poker")
    game, state, draw = as_game(theirs), theirs.new_initial_state(), random.Random(3)
    while not state.is_terminal():
        state.apply_action(draw.choice(state.legal_actions()))
    again = game.initial_state()
    for action in game.moves_so_far(game.snapshot(state)):
        again = game.result(again, action)
    assert again == game.snapshot(state)
