"""Books of proven strategies: one best move for a player who follows the book, every move for the opponent."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.requirements import require_plain_game
from zermelo.agents.knowledge.books import EXPANDED, FOLLOWED, PROVEN, Book, BookPosition, open_book, write_book
from zermelo.agents.knowledge.endgame_tables import canonical, canonical_key
from zermelo.agents.knowledge_building.grow_book import BookProgress
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.position import position
from zermelo.envs.rules.history import without_past

_SAVE_EVERY: Final = 30.0
_BOTH: Final = 0b11
_QUICK_MB: Final = 1.0  # memory for the table of a proof that counts as quick, in MiB: an agent may have no more


def prove_book(
    game: Any,
    path: str | os.PathLike[str],
    *,
    plies: int,
    agent: Any,
    nodes: int | None = None,
    seconds: float | None = None,
    memory_mb: float = 256,
    on_progress: Callable[[BookProgress], Any] | None = None,
) -> Book:
    """Proves a strategy for each player, ply after ply, and writes it as a book; one that is there is grown on.

    The strategies go ``plies`` moves from the start in every line, and then on to positions whose proof visits
    more than ``nodes`` states, as agents can prove the others themselves. ``agent`` says which move to try first.
    After ``seconds``, or what ``on_progress`` raises, what was found is written.

    Raises:
        UnsupportedGameError: The game is not one for a win, a draw or a loss that a ``Prover`` accepts.
        InvalidSettingError: The file is another game's.
    """
    root = position(game)
    require_plain_game(root.game.traits, "book")
    if root.game.traits.utility_bounds != (-1.0, 1.0) or root.game.traits.constant:
        raise UnsupportedGameError(f"{root.game.traits.name} is not won, drawn or lost: grow a book without exact")
    proving = _Proving(root.game, Path(path), agent, plies, nodes, memory_mb)
    return proving.run(root.state, seconds, on_progress)


class _OutOfTimeError(Exception):
    """Time is over."""


class _Proving:
    def __init__(self, game: Any, path: Path, agent: Any, plies: int, nodes: int | None, memory_mb: float) -> None:
        self._game, self._path, self._agent, self._plies = game, path, agent, plies
        self._prover = Prover(game, memory_mb=memory_mb)
        self._quick = None if nodes is None else Prover(game, memory_mb=_QUICK_MB, nodes=nodes)
        self._positions: dict[int, BookPosition] = {}
        self._ends = math.inf

    def run(self, state: Any, seconds: float | None, on_progress: Callable[[BookProgress], Any] | None) -> Book:
        started = saved = time.monotonic()
        self._ends = math.inf if seconds is None else started + seconds
        bare = without_past(state)
        self._positions = open_book(self._path, self._game, bare, exact=True)
        frontier = {self._key(bare): (bare, _BOTH)}
        try:
            for ply in range(self._plies) if self._quick is None else itertools.count():
                if not frontier:
                    break
                after: dict[int, tuple[Any, int]] = {}
                for _, (here, seats) in sorted(frontier.items()):  # the same order after an interruption
                    if (now := time.monotonic()) - saved >= _SAVE_EVERY:
                        self._write()
                        saved = now
                    for child, followers in self._moves(here, seats, ply):
                        key = self._key(child)
                        after[key] = child, followers | after.get(key, (child, 0))[1]
                    self._check()
                    if on_progress is not None:
                        size = len(self._positions)
                        on_progress(BookProgress(size, size, size, now - started))
                frontier = after
        except _OutOfTimeError:
            pass
        finally:
            book = self._write()
        return book

    def _write(self) -> Book:
        about = {"agent": self._agent.name, "exact": True}
        return write_book(self._path, self._game.rules, about, self._positions)

    def _key(self, state: Any) -> int:
        return canonical_key(self._game.rules, state)

    def _moves(self, state: Any, seats: int, ply: int) -> list[tuple[Any, int]]:
        """The unfinished positions after one, each with the players who may be there by the book."""
        game, mover = self._game, self._game.to_move(state)
        after = {action: without_past(game.result(state, action)) for action in game.legal_actions(state)}
        children = {action: canonical(game.rules, child)[1] for action, child in after.items()}
        row = self._positions.get(self._key(state))
        value = row.value if row is not None and row.flags & PROVEN else None
        mine, theirs = seats & 1 << mover, seats & ~(1 << mover)
        goes_on = {a: theirs and self._goes_on(child, ply + 1) for a, child in children.items()}
        followers = {action: theirs if goes_on[action] else 0 for action in children}
        if value is None or (theirs and ply < self._plies):
            values = {action: self._value(child, mover, -1, value) for action, child in children.items()}
            value = max(values.values())
            self._note(state, value, EXPANDED)
        if mine:
            for action in self._best(state, children, value):
                followers[action] |= mine
        for action, child in children.items():
            if not game.is_terminal(child) and followers[action]:
                self._value(child, mover, -1, value)
                self._note(child, None, FOLLOWED * followers[action])
        return [(c, followers[a]) for a, c in children.items() if followers[a] and not game.is_terminal(c)]

    def _goes_on(self, child: Any, ply: int) -> bool:
        if ply < self._plies:
            return True
        if self._quick is None or self._game.is_terminal(child):
            return False
        self._quick.clear_memory()
        return self._quick.score(child, lower=-1, upper=1, check=self._check).stopped_by is StoppedBy.NODES

    def _best(self, state: Any, children: dict[int, Any], value: float) -> list[int]:
        """Actions that keep the value: those that the book follows already, else the first that is proven."""
        mover = self._game.to_move(state)
        rows = {action: self._positions.get(self._key(child)) for action, child in children.items()}
        followed = [action for action, row in rows.items() if row and row.flags & FOLLOWED << mover]
        kept = [action for action in followed if self._value(children[action], mover, -1, value) == value]
        if kept:
            return kept
        result = self._agent.search_state(self._game, state)
        hopes = dict.fromkeys(children, -2.0) | result.action_values | {result.action: 2.0}
        for action in sorted(children, key=lambda action: -hopes[action]):
            if self._value(children[action], mover, value - 1, value) == value:
                return [action]
        raise AssertionError("one of the actions keeps a proven value")

    def _value(self, child: Any, mover: int, lower: float, upper: float | None) -> float:
        """What a position is worth for a player, given that it lies in these bounds; noted where it is exact."""
        if self._game.is_terminal(child):
            return float(self._game.utility(child)[mover])
        sign = 1 if self._game.to_move(child) == mover else -1
        row = self._positions.get(self._key(child))
        if row is not None and row.flags & PROVEN:
            return sign * row.value
        upper = 1.0 if upper is None else upper
        value = upper
        if max(lower, -1) < upper:
            low, high = int(max(lower, -1)), int(upper)
            bounds = (low, high) if sign > 0 else (-high, -low)
            score = self._prover.score(child, lower=bounds[0], upper=bounds[1], check=self._check)
            value = float(sign * ((score.lower > 0) - (score.upper < 0)))
            value = min(max(value, low), high)
        if value > lower or lower <= -1:
            self._note(child, sign * value, 0)
        return value

    def _check(self) -> None:
        if time.monotonic() >= self._ends:
            raise _OutOfTimeError

    def _note(self, state: Any, value: float | None, flags: int) -> None:
        key = self._key(state)
        row = self._positions.get(key)
        if value is None:
            assert row is not None, "it was valued"
            value = row.value
        self._positions[key] = BookPosition(state, value, flags | PROVEN | (row.flags if row else 0))
