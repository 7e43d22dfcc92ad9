"""Live environments whose game is known as rules: their positions as states of the rules.

PettingZoo's tic-tac-toe and Connect Four have the same game in ``zermelo.envs.games``, and environments over rules
(``zermelo.envs.rules.env``) have it by construction. ``as_game`` then searches the rules. It counts for exactly
these classes; a position that the rules cannot have, such as one set up by hand with three stones more on one
side, or a game that ended by an illegal action, is left to the clone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from zermelo.envs.adapters.as_game import register_rules
from zermelo.envs.adapters.wrappers import game_name, innermost, is_gymnasium, require_reset, seat_agents
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.games.connect_four import ConnectFour, ConnectFourState
from zermelo.envs.games.mnk import MNK, MNKState
from zermelo.envs.rules.rules_game import RulesGame

__all__ = ["LiveRulesGame"]

_TRANSPOSED = 4
"""The symmetry of a square m,n,k board that swaps rows and columns."""


class LiveRulesGame(RulesGame):
    """The rules of a live environment, and the way from its positions to their states.

    Args:
        env: The environment below its checking wrappers.
        rules: Its game.
        read: The state of the rules that an environment is in, or None if they cannot be in that state.
    """

    def __init__(self, env: Any, rules: Any, read: Callable[[Any], Any | None]) -> None:
        super().__init__(rules)
        self.text: Callable[[Any], str]
        self.action_text: Callable[[Any, int], str]
        self._read = read
        self._env_class = type(env)
        agents = self.traits.seat_names if is_gymnasium(env) else tuple(map(str, seat_agents(env)))
        self.traits = replace(self.traits, name=game_name(env), seat_names=agents)

    def snapshot(self, env: Any) -> Any:
        """The state of a live environment of this game, now. The environment is not changed.

        Raises:
            UnsupportedGameError: It is another kind of environment, has not been reset, or is in a position that
                the rules do not know.
        """
        require_reset(env)
        raw = innermost(env)
        if type(raw) is not self._env_class:
            raise UnsupportedGameError(
                f"this game reads positions of {self.traits.name}, not of {game_name(env)}: ask as_game(env) again"
            )
        state = self.position(raw)
        if state is None:
            raise UnsupportedGameError(
                f"{self.traits.name} is in a position that its rules cannot reach, or was ended by an illegal "
                "action: as_game(env, backend='clone') copies the environment as it is"
            )
        return state

    def fits(self, raw: Any) -> bool:
        """Whether this is still the game of the environment: ``as_game`` asks before each search."""
        return self.position(raw) is not None

    def position(self, raw: Any) -> Any | None:
        """The state of an environment, if turn, end and instance are as the rules have them."""
        if any(
            name in vars(raw) for name in ("step", "observe", "reset")
        ):  # somebody has put another method there
            return None
        state = self._read(raw)
        if state is None or is_gymnasium(raw):
            return state
        rules = self.rules
        dead = [raw.terminations[agent] or raw.truncations[agent] for agent in raw.agents]
        over = all(dead)  # also when no agents are left
        if over != rules.is_terminal(state) or (any(dead) and not over):
            return None
        if over:
            return state
        seat = rules.to_move(state)
        return state if seat < 0 or raw.possible_agents[seat] == raw.agent_selection else None


def _read_tictactoe(env: Any) -> MNKState | None:
    squares = env.board.squares
    if len(squares) != 9:
        return None
    sides = [0, 0, 0]
    for square, mark in enumerate(squares):
        if mark not in (0, 1, 2):
            return None
        sides[mark] |= 1 << (square + square // 3)
    first, second = sides[1], sides[2]
    turn = first.bit_count() - second.bit_count()
    if turn not in (0, 1):
        return None
    return MNKState(second if turn else first, first | second)


def _read_connect_four(env: Any) -> ConnectFourState | None:
    board = env.board
    if len(board) != 42:
        return None
    sides = [0, 0, 0]
    for cell, piece in enumerate(board):
        if piece:
            if piece not in (1, 2):
                return None
            sides[piece] |= 1 << (cell % 7 * 7 + 5 - cell // 7)
    first, second = sides[1], sides[2]
    stones = first | second
    turn = first.bit_count() - second.bit_count()
    bottom = sum(1 << column * 7 for column in range(7))
    floating = stones & ~(stones << 1 | bottom)
    if turn not in (0, 1) or floating:
        return None
    return ConnectFourState(second if turn else first, stones)


def _tictactoe(env: Any) -> LiveRulesGame | None:
    """The environment numbers its squares column by column: the rules play on the board seen in a mirror."""
    rules = MNK(3, 3, 3)
    game = LiveRulesGame(env, rules, _read_tictactoe)
    game.text = lambda state: rules.text(rules.symmetric_state(state, _TRANSPOSED))
    game.action_text = lambda state, action: rules.action_text(state, rules.symmetric_action(action, _TRANSPOSED))
    return _if_it_fits(game, env)


def _connect_four(env: Any) -> LiveRulesGame | None:
    return _if_it_fits(LiveRulesGame(env, ConnectFour(6, 7), _read_connect_four), env)


def _rules_env(env: Any) -> LiveRulesGame | None:
    rules = env.rules

    def read(other: Any) -> Any | None:
        return other.position if type(other.rules) is type(rules) and other.rules == rules else None

    return _if_it_fits(LiveRulesGame(env, rules, read), env)


def _if_it_fits(game: LiveRulesGame, env: Any) -> LiveRulesGame | None:
    return game if game.fits(env) else None


_TWINS: Mapping[str, Callable[[Any], LiveRulesGame | None]] = {
    "pettingzoo.classic.tictactoe.tictactoe.raw_env": _tictactoe,
    "pettingzoo.classic.connect_four.connect_four.raw_env": _connect_four,
    "zermelo.envs.rules.env.RulesEnv": _rules_env,
    "zermelo.envs.games.gym_2048.Game2048Env": _rules_env,
}
for _class_name, _to_game in _TWINS.items():
    register_rules(_class_name, _to_game)
