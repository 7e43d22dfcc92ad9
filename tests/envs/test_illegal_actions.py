"""``Game.result`` raises at an illegal action and after the end of the game, whatever kind of game it is."""

import random

import gymnasium
import pytest
from doubles.game_envs import DeclaredDice, Dice, Numbers, started

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import CHANCE, IllegalActionError, as_game, make
from zermelo.envs.errors import GameOverError
from zermelo.envs.games import MNK, Chess, ConnectFour, Go, Kuhn, Othello, Pig
from zermelo.envs.trees import figure, tree_game


def live(env, **how):
    return as_game(started(env, seed=0), **how)


def openspiel(name, **how):
    pyspiel = pytest.importorskip("pyspiel")
    return as_game(pyspiel.load_game(name), **how)


GAMES = {
    "rules": lambda: as_game(ConnectFour()),
    "rules with a past": lambda: as_game(Go(5)),
    "rules with dice": lambda: as_game(Pig(10)),
    "rules with cards": lambda: as_game(Kuhn()),
    "rules of chess": lambda: as_game(Chess()),
    "rules of a live environment": lambda: live(make("classic/connect_four-v3")),
    "environment over rules": lambda: live(make("zermelo/Othello-v0")),
    "clone": lambda: live(make("classic/tictactoe-v3"), backend="clone"),
    "clone of numbers": lambda: live(Numbers()),
    "clone with dice": lambda: live(Dice()),
    "clone with declared dice": lambda: live(DeclaredDice()),
    "Gymnasium": lambda: live(gymnasium.make("CliffWalking-v1"), backend="clone"),
    "transition table": lambda: live(gymnasium.make("FrozenLake-v1", is_slippery=False)),
    "slippery transition table": lambda: live(gymnasium.make("FrozenLake-v1")),
    "OpenSpiel": lambda: openspiel("tic_tac_toe", backend="environment"),
    "OpenSpiel by rules": lambda: openspiel("othello"),
    "OpenSpiel by rules with other numbers": lambda: openspiel("breakthrough(rows=5,columns=4)"),
    "OpenSpiel's kalah": lambda: openspiel("mancala"),
    "OpenSpiel's backgammon": lambda: openspiel("backgammon"),
    "figure": lambda: figure("aima-5.2"),
    "tree with chance": lambda: tree_game([{"a": (0.5, 1), "b": (0.5, [2, 3])}, 4]),
}


@pytest.mark.parametrize("kind", GAMES)
def test_illegal_actions_raise(kind):
    game, source = GAMES[kind](), random.Random(kind)
    state = game.initial_state()
    for _ in range(60):
        if game.is_terminal(state):
            with pytest.raises((GameOverError, IllegalActionError)):
                game.result(state, 0)
            state = game.initial_state()
            continue
        if game.to_move(state) == CHANCE:
            legal = [outcome for outcome, _ in game.chance_outcomes(state)]
        else:
            legal = list(game.legal_actions(state))
            everything = range(-3, (game.traits.num_actions or 10) + 3)
            illegal = [action for action in everything if action not in legal]
            for action in [-1, *source.sample(illegal, min(3, len(illegal))), 10**6]:
                with pytest.raises(IllegalActionError):
                    game.result(state, action)
        state = game.result(state, source.choice(legal))


def test_a_column_of_six_takes_no_seventh_stone():
    game = as_game(ConnectFour())
    state = game.initial_state()
    for _ in range(6):
        state = game.result(state, 3)
    with pytest.raises(IllegalActionError, match=r"3 is not legal in ConnectFour: legal are 0, 1, 2, 4, 5, 6"):
        game.result(state, 3)


@pytest.mark.parametrize("rules", [MNK(3, 3, 3), Othello(4)], ids=repr)
def test_after_the_end_nothing_is_legal(rules):
    game = as_game(rules)
    state = game.initial_state()
    while not game.is_terminal(state):
        state = game.result(state, game.legal_actions(state)[-1])
    with pytest.raises(GameOverError, match="is over"):
        game.result(state, 0)


def test_searches_do_not_pay_for_the_check():
    """A search asks each node for its legal actions once, and at the root a few times more."""

    class Counted(MNK):
        asked = 0

        def legal_actions(self, state, actions):
            Counted.asked += 1
            return MNK.legal_actions(self, state, actions)

    result = AlphaBetaAgent(on_node=lambda event: None, memory_mb=0).search_state(Counted(3, 3, 3))
    assert Counted.asked <= 2 * result.nodes
