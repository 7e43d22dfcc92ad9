"""The value of a position under random play, for games without an evaluation."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.agents.base.playouts import Playouts, RandomNumbers
from zermelo.agents.base.scores import undecided_reward
from zermelo.agents.base.settings import check_whole
from zermelo.envs.game import Game
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import format_spec


@checked_call
@dataclass(frozen=True, kw_only=True)
class PlayoutEvaluator:
    """The average outcome of random games from the state on.

    It is drawn towards the middle as if one more game had ended there, which keeps it strictly inside the utility
    bounds. The same state always gets the same value: the random numbers come from the seed and the state's key.

    Attributes:
        games: Random games to play.
        moves: Moves after which a game counts as undecided.
        seed: Seed of the random games.
    """

    games: int = 8
    moves: int = 400
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("games", self.games, lower=1)
        check_whole("moves", self.moves, lower=1)
        check_whole("seed", self.seed)

    def spec(self) -> str:
        default = PlayoutEvaluator()
        changed = {name: value for name, value in vars(self).items() if value != getattr(default, name)}
        return format_spec("playout", changed)

    def __call__(self, game: Game[Any], state: Any) -> tuple[float, ...]:
        return self._evaluate(game, state, lambda: None)

    def watched(self, check: Callable[[], None]) -> Callable[[Game[Any], Any], tuple[float, ...]]:
        return lambda game, state: self._evaluate(game, state, check)

    def _evaluate(self, game: Game[Any], state: Any, check: Callable[[], None]) -> tuple[float, ...]:
        seed = stable_hash(self.seed, game.key(state)) >> 2
        playouts = Playouts(game, RandomNumbers(seed), np.random.default_rng(seed), longest=self.moves)
        budget: Any = _CheckedBudget(check)
        before = game.utility(state)
        share = undecided_reward(game.traits, before)
        totals = [0.0] * len(before)
        for _ in range(self.games):
            end, _ = playouts.play(state, budget)
            final = None if playouts.cut_off else game.utility(end)
            for seat, start in enumerate(before):
                totals[seat] += share if final is None else final[seat] - start
        return tuple((total + share) / (self.games + 1) for total in totals)


class _CheckedBudget:
    """In place of a budget: calls a function before each move."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check_clock = check

    def visit(self, ply: int) -> None:
        self.check_clock()


def stable_hash(*parts: Any) -> int:
    """64 bits, the same in every process for plain values; other objects are hashed by their pickle."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        _feed(digest, part)
    return int.from_bytes(digest.digest(), "little")


def _feed(digest: Any, part: Any) -> None:
    if isinstance(part, tuple):
        digest.update(b"(%d" % len(part))
        for item in part:
            _feed(digest, item)
    elif isinstance(part, frozenset):
        digest.update(b"{")
        for item in sorted(stable_hash(item) for item in part):
            digest.update(item.to_bytes(8, "little"))
    elif isinstance(part, bytes):
        digest.update(b"b%d:" % len(part))
        digest.update(part)
    elif part is None or isinstance(part, int | float | str):
        digest.update(repr(part).encode())
        digest.update(b";")
    else:
        digest.update(pickle.dumps(part, protocol=5))
