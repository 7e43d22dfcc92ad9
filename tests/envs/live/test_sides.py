"""Gymnasium environments of several sides, played as games of these sides."""

from __future__ import annotations

import enum
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from zermelo.agents import make_agent
from zermelo.agents.training import OpponentEnv
from zermelo.envs import UnsupportedGameError, ZermeloError, make, register_env, sides
from zermelo.envs.errors import EnvFailedError, InvalidSettingError
from zermelo.evaluation import play_match

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, seed_test

pytestmark = pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning", "ignore::UserWarning")

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class Colour(enum.Enum):
    WHITE, BLACK = 1, 2


class Board(gymnasium.Env[Any, Any]):
    """Tic-tac-toe whose step plays both sides; whose turn it is, and whose the reward, is said as in ``says``."""

    def __init__(self, says: str = "sign", pays: str = "mover", masks: str = "method") -> None:
        self.says, self.pays, self.masks = says, pays, masks
        self.action_space = spaces.Discrete(9)
        self.observation_space = spaces.Box(-1, 1, (9,), np.int8)

    @property
    def turn(self) -> Any:
        first = self.sign == 1
        names = {"colour": Colour.WHITE if first else Colour.BLACK, "white": first, "number": 0 if first else 1}
        return names.get(self.says, self.sign)

    def info(self) -> dict[str, Any]:
        return {"to_play": self.turn} | ({"action_mask": self.empty()} if self.masks == "info" else {})

    def empty(self) -> Any:
        return (self.board == 0).astype(np.int8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.board, self.sign = np.zeros(9, np.int8), 1
        return self.board.copy(), self.info()

    def step(self, action: Any) -> Any:
        if self.board[action]:
            raise ValueError("taken")
        self.board[action] = self.sign
        won = any(all(self.board[i] == self.sign for i in line) for line in LINES)
        paid: Any = float(won)
        if self.pays == "first":
            paid *= self.sign
        if self.pays == "each":
            paid = [paid * self.sign, -paid * self.sign]
        if self.pays == "names":
            paid = {self.turn: paid}
        self.sign = -self.sign
        return self.board.copy(), paid, won or bool(self.board.all()), False, self.info()


class MaskedBoard(Board):
    def action_masks(self) -> Any:
        return self.empty()


def at(env: Any, *actions: int) -> Any:
    env.reset(seed=0)
    for action in actions:
        env.step(action)
    return env


@pytest.mark.parametrize("says", ["sign", "colour", "white", "number"])
@pytest.mark.parametrize("mover", ["turn", "unwrapped.turn", "info to_play", lambda env: env.turn])
def test_who_is_to_move(says: str, mover: Any) -> None:
    env = at(sides(MaskedBoard(says), mover))
    seen = []
    for action in (4, 0, 8):
        seen.append(env.agent_selection)
        env.step(action)
    assert seen == ["player_0", "player_1", "player_0"]


@pytest.mark.parametrize("pays", ["mover", "first", "each"])
@pytest.mark.parametrize("masks", ["method", "info"])
def test_both_sides_are_searched_for_themselves(pays: str, masks: str) -> None:
    kind = MaskedBoard if masks == "method" else Board
    env = at(sides(kind(pays=pays, masks=masks), "turn", pays), 0, 4, 1)  # the first player is about to win at 2
    for spec in ("alphabeta(depth=4)", "minimax(depth=2)", "mcts(simulations=300)", "maxn(depth=2)"):
        result = make_agent(spec).search(env)
        assert result.env_action == 2
    env.step(2)
    env.step(3)  # a mistake: the second player wins at 6
    assert make_agent("alphabeta(depth=3)").act(env) == 6
    env.step(6)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert all(env.terminations.values())


def test_rewards_of_each_may_be_named_or_computed() -> None:
    def both(paid: Any, info: Any) -> list[float]:
        (name, amount), *_ = paid.items()
        return [amount, 0.0] if name == 1 else [0.0, amount]

    env = at(sides(MaskedBoard(pays="names"), "turn", both), 0, 4, 1, 5, 2)
    assert env.rewards == {"player_0": 1.0, "player_1": 0.0}
    with pytest.raises(EnvFailedError, match="one number for each of 2 players, not"):
        at(sides(MaskedBoard(), "turn", "each"), 0)


def test_sums_are_told_where_one_side_pays_the_other() -> None:
    seen = make_agent("maxn(depth=1)").search(at(sides(MaskedBoard(pays="each"), "turn", "each"))).assumed
    told = make_agent("maxn(depth=1)").search(at(sides(MaskedBoard(), "turn"))).assumed
    assert any("reward_sum" in text for text in seen)
    assert not any("reward_sum" in text for text in told)


def test_it_is_an_environment_of_pettingzoo(capsys: pytest.CaptureFixture[str]) -> None:
    env = sides(MaskedBoard(), "turn")
    api_test(env, 20)
    seed_test(lambda: sides(MaskedBoard(), "turn"), 5)
    assert "Passed API test" in capsys.readouterr().out
    assert env.metadata["name"] == "MaskedBoard"


def test_matches_training_and_names() -> None:
    register_env("tests/Sides-v0", lambda: sides(MaskedBoard(), "turn"))
    gymnasium.register("tests/Board-v0", MaskedBoard)
    record = play_match("tests/Sides-v0", ["alphabeta(depth=2)", "random"], seed=3)
    assert record.rewards[0] >= 0.0
    env = OpponentEnv("tests/Sides-v0", "alphabeta(depth=2)")
    env.reset(seed=1)
    assert env.action_space == spaces.Discrete(9)
    by_name = at(make("sides(env='tests/Board-v0', mover='turn', says='colour')"), 0, 4, 1)
    assert make_agent("alphabeta(depth=4)").act(by_name) == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mover": "whose"}, "no 'whose', neither as an attribute nor in what it shows"),
        (
            {"mover": "says"},
            "'says' of MaskedBoard was 'sign' in all random play: name what says whose move it is",
        ),
        ({"mover": "turn", "players": (1,)}, "players must be two values or more"),
        ({"mover": "turn", "players": (1, 1)}, "players must be two values or more"),
        ({"mover": "turn", "players": (1, 2, 3)}, "has 3 players: with reward='mover' nobody knows"),
        ({"mover": "turn", "reward": "winner"}, "reward must be one of mover, first, each or a function"),
        ({"mover": 3}, "mover must be a name such as 'current_player' or a function"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSettingError, match=words):
        sides(MaskedBoard(), **settings)


def test_players_that_were_not_named_are_refused_when_they_move() -> None:
    with pytest.raises(EnvFailedError, match=r"is -1, and its players are 1, 2: name them all"):
        at(sides(MaskedBoard(), "turn", players=(1, 2)), 0)


def test_other_environments_are_refused() -> None:
    with pytest.raises(UnsupportedGameError, match="sides takes a Gymnasium environment, not"):
        sides(make("zermelo/Kalah-v0"))


def test_a_search_that_meets_several_sides_names_the_line() -> None:
    env = MaskedBoard()
    env.reset()
    with pytest.raises(ZermeloError, match=r"zermelo\.envs\.sides\(env, mover='sign'\)|mover='info to_play'"):
        make_agent("mcts(simulations=20)").search(env)
