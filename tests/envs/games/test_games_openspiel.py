"""Our rules against OpenSpiel's, in lockstep over random games: turns, actions, chance, ends and results.

``as_game`` searches these rules instead of OpenSpiel's states, so a position that was read off an
OpenSpiel state must be the one that our rules reached by themselves.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from zermelo.envs import CHANCE, UnsupportedGameError, as_game, make
from zermelo.envs import games as g
from zermelo.envs.adapters.openspiel import OpenSpielGame
from zermelo.envs.adapters.openspiel_rules import OpenSpielRulesGame
from zermelo.envs.games.tables import OPENSPIEL

pyspiel = pytest.importorskip("pyspiel")
pytest.importorskip("shimmy.openspiel_compatibility")

EQUIVALENT: dict[str, Any] = {
    "tic_tac_toe": g.MNK(3, 3, 3),
    "mnk(m=6,n=7,k=5)": g.MNK(6, 7, 5),
    "mnk(m=5,n=4,k=4)": g.MNK(5, 4, 4),
    "connect_four": g.ConnectFour(),
    "connect_four(rows=4,columns=9)": g.ConnectFour(4, 9),
    "othello": g.Othello(),
    "breakthrough": g.Breakthrough(),
    "breakthrough(rows=6,columns=6)": g.Breakthrough(6, 6),
    "breakthrough(rows=5,columns=4)": g.Breakthrough(5, 4, 1),
    "breakthrough(rows=7,columns=3)": g.Breakthrough(7, 3),
    "mancala": g.Kalah(),
    "dots_and_boxes": g.DotsAndBoxes(2, 2),
    "dots_and_boxes(num_rows=1,num_cols=1)": g.DotsAndBoxes(1, 1),
    "dots_and_boxes(num_rows=3,num_cols=2,utility_margin=true)": g.DotsAndBoxes(3, 2, margin=True),
    "dots_and_boxes(num_rows=2,num_cols=5)": g.DotsAndBoxes(2, 5),
    "nim": g.Nim((1, 3, 5, 7), misere=True),
    "nim(is_misere=false,pile_sizes=2;6)": g.Nim((2, 6)),
    "hex": g.Hex(),
    "hex(board_size=4)": g.Hex(4, 4),
    "hex(num_rows=3,num_cols=7)": g.Hex(3, 7),
    "clobber": g.Clobber(),
    "clobber(rows=4,columns=5)": g.Clobber(4, 5),
    "clobber(rows=8,columns=8)": g.Clobber(8, 8),
    "oware": g.Oware(),
    "oware(num_houses_per_player=3,num_seeds_per_house=2)": g.Oware(3, 2),
    "oware(num_houses_per_player=2,num_seeds_per_house=9)": g.Oware(2, 9),
    "amazons": g.Amazons(),
    "amazons(board_size=8)": g.Amazons(8),
    "amazons(board_size=6)": g.Amazons(6),
    "kuhn_poker": g.Kuhn(),
    "kuhn_poker(players=4)": g.Kuhn(4),
    "leduc_poker": g.Leduc(),
    "liars_dice": g.LiarsDice(),
    "liars_dice(numdice=2,dice_sides=3)": g.LiarsDice(2, 3),
    "pig": g.Pig(),
    "pig(winscore=15,diceoutcomes=4)": g.Pig(15, 1, 4),
    "pig(winscore=9,diceoutcomes=2,piglet=true)": g.Pig(9, 1, 2),
}


def chances_of(game: Any, state: Any, outcomes: Any) -> dict[Any, float]:
    """The probability of each next state."""
    chances: Counter[Any] = Counter()
    for outcome, chance in outcomes:
        chances[game.result(state, outcome)] += chance
    return dict(chances)


@pytest.mark.parametrize("text", EQUIVALENT)
def test_the_same_game(text: str) -> None:
    """Both are played at random, and each of OpenSpiel's states is read."""
    theirs, seed = pyspiel.load_game(text), 5
    game, generator = as_game(theirs), random.Random(seed)
    assert game.rules == EQUIVALENT[text]
    for number in range(3):
        state, other = game.initial_state(), theirs.new_initial_state()
        while True:
            where = f"seed {seed}, game {number}: {state}\n{other}"
            if generator.random() < 4 / (4 + other.move_number()):
                assert game.snapshot(other) == state, where
            assert game.is_terminal(state) == other.is_terminal(), where
            if other.is_terminal():
                break
            if other.is_chance_node():
                assert game.to_move(state) == CHANCE, where
                outcomes = other.chance_outcomes()
                assert chances_of(game, state, game.chance_outcomes(state)) == pytest.approx(
                    chances_of(game, state, outcomes)
                ), where
                action = generator.choices(*zip(*outcomes, strict=True))[0]
            else:
                assert game.to_move(state) == other.current_player(), where
                assert list(game.legal_actions(state)) == other.legal_actions(), where
                action = generator.choice(other.legal_actions())
            other.apply_action(action)
            state = game.result(state, action)
        assert list(game.utility(state)) == pytest.approx(other.returns()), where


def test_all_equivalent_rules_are_tested():
    assert {text.partition("(")[0] for text in EQUIVALENT} == set(OPENSPIEL)


# -- what as_game makes of them -----------------------------------------------------------------------------------


def test_games_states_and_environments_are_searched_by_rules():
    env = make("openspiel/breakthrough(rows=5,columns=4)")
    env.reset()
    env.step(env.game_state.legal_actions()[0])
    state = env.game_state
    for given in (env, state, state.get_game()):
        game = as_game(given)
        assert game.rules == g.Breakthrough(5, 4, 1)
        assert game.traits.name == "openspiel/breakthrough(columns=4,rows=5)"
        assert game.traits.seat_names == ("player_0", "player_1")
        assert game.snapshot(state) == game.snapshot(env)
        assert game.snapshot(state).seat == 1
    assert as_game(env) is as_game(env)
    assert as_game(env, backend="rules").rules == g.Breakthrough(5, 4, 1)
    for given in (env, state, state.get_game()):
        assert isinstance(as_game(given, backend="environment"), OpenSpielGame)


@pytest.mark.parametrize(
    "text",
    [
        "connect_four(x_in_row=3)",
        "connect_four(rows=20)",
        "hex(swap=true)",
        "hex(board_size=13)",
        "clobber(rows=9,columns=9)",
        "pig(horizon=100)",
        "pig(players=3)",
        "pig(piglet=true)",
        "2048",
        "backgammon",
        "nim(pile_sizes=300;1)",
        "catch",
    ],
)
def test_what_the_rules_do_not_cover_is_left_to_openspiel(text):
    game = pyspiel.load_game(text)
    assert isinstance(as_game(game), OpenSpielGame)
    with pytest.raises(UnsupportedGameError, match="no rules are registered for "):
        as_game(game, backend="rules")


def test_games_that_openspiel_will_break_off_are_left_to_it():
    state = pyspiel.load_game("pig(horizon=210)").new_initial_state()
    game = as_game(state)
    assert isinstance(game, OpenSpielRulesGame)
    for _ in range(10):
        state.apply_action(1)
    assert isinstance(as_game(state), OpenSpielGame)
    with pytest.raises(UnsupportedGameError, match=r"comes near the length at which .* backend='environment'"):
        game.snapshot(state)


def test_a_live_game_goes_back_to_the_rules():
    env = make("openspiel/pig(horizon=202)")
    env.reset()
    for rules in (True, True, False):
        assert isinstance(as_game(env), OpenSpielRulesGame) is rules
        env.step(1)
    env.reset()
    assert isinstance(as_game(env), OpenSpielRulesGame)


def test_a_state_of_another_game_is_not_read():
    game = as_game(pyspiel.load_game("breakthrough(rows=5,columns=4)"))
    with pytest.raises(
        UnsupportedGameError, match=r"reads positions of openspiel/breakthrough.*, not of breakthrough"
    ):
        game.snapshot(pyspiel.load_game("breakthrough").new_initial_state())


def test_an_environment_with_another_step_is_left_to_openspiel():
    env = make("openspiel/tic_tac_toe")
    env.reset()
    env.step = env.step
    assert isinstance(as_game(env), OpenSpielGame)


def test_a_network_is_not_shown_what_openspiel_does_not_show():
    game = as_game(pyspiel.load_game("tic_tac_toe"))
    with pytest.raises(UnsupportedGameError, match="with backend='environment' a network sees them"):
        game.observation(game.initial_state(), 0)


def test_histories_that_part_are_read_from_the_start():
    game = as_game(pyspiel.load_game("tic_tac_toe"))
    one, other = (pyspiel.load_game("tic_tac_toe").new_initial_state() for _ in range(2))
    for action in (4, 0, 8):
        one.apply_action(action)
    for action in (4, 2):
        other.apply_action(action)
    assert game.text(game.snapshot(one)) == "O . .\n. X .\n. . X"
    assert game.text(game.snapshot(other)) == ". . O\n. X .\n. . ."
