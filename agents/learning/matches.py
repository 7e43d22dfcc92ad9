"""Matches of two agents, many games at once in compiled code: the searches of both sides run there."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.learning.layout import Games
from zermelo.agents.learning.vector_games import GameArrays, compiled_game, run_parts, split_games
from zermelo.agents.learning.vector_opponents import seated
from zermelo.envs import UnsupportedGameError

MAX_MOVES: Final = 1_000
"""Longer games are drawn."""


class MatchResult(NamedTuple):
    """The first agent's games, those won, drawn and lost; and the moves of all."""

    wins: int
    draws: int
    losses: int
    moves: int


class Match:
    """Games of two agents that ``make_vec`` takes as opponents, as many from either seat.

    Args:
        env: What ``make_vec`` takes, of two seats.
        first, second: Agents or their specs.
        pairs: Pairs of games with the seats exchanged.
        opening: Random moves that each game begins with.
        threads: Threads that share the games; results do not depend on it.

    Raises:
        UnsupportedGameError: It has no rules that compile, or not two seats, or an agent cannot play it.
        InvalidSettingError: An agent does not compile.
    """

    def __init__(
        self, env: Any, first: Any, second: Any, pairs: int, *, opening: int = 0, threads: int | None = 1
    ) -> None:
        from zermelo.agents.learning.vector_kernel import answer, play

        self._game = game = compiled_game(env)
        if game.traits.seats != 2:
            raise UnsupportedGameError(f"{game.traits.name} has {game.traits.seats} seats, and a match needs two")
        self._pairs = pairs
        self._games = GameArrays(
            game, Games, pairs, MAX_MOVES, seat_rule=-1, same_step=0, illegal_reward=0.0, rounds=2, opening=opening
        )
        self._first, self._second = (
            seated(self._games, game, agent, pairs, threads, kernel)
            for agent, kernel in ((first, answer), (second, play))
        )

    def play(self, seed: int) -> MatchResult:
        """Plays the games that the seed decides."""
        arrays, start = self._games.arrays, self._game.initial_state()
        first, second = (split_games(lanes, 0, self._pairs) for lanes, _ in (self._first, self._second))
        numbers = np.random.SeedSequence(seed).generate_state(self._pairs, np.uint64)
        arrays["random"][:] = numbers >> np.uint64(2)
        arrays["episodes"][:] = 0
        run_parts(second, start, 1)
        counts, moves = np.zeros(3, np.int64), 0
        while run_parts(first, start, 0) or (arrays["episodes"] < 2).any():
            run_parts(second, start, 0)
            ended = (arrays["terminated"] | arrays["truncated"]).astype(bool)
            seats, rewards = arrays["seats"][ended], arrays["rewards"][ended]
            own, other = (rewards[np.arange(len(seats)), seat] for seat in (seats, 1 - seats))
            counts += np.bincount(1 - np.sign(own - other).astype(np.int64), minlength=3)
            moves += int(arrays["moves"][ended].sum())
        wins, draws, losses = map(int, counts)
        return MatchResult(wins, draws, losses, moves)
