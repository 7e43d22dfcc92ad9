"""Growing an opening book best first: the line is made longer that good play reaches soonest.

The next position to expand is found by drop-out expansion (T. Lincke, "Strategies for the automatic construction
of opening books", Computers and Games 2000): each move away from the root costs one, and more the worse it is.
Every new position is proven where that takes few nodes, else an agent says what it is worth.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents.compiled.proof.prover import Prover, can_prove
from zermelo.agents.core.endgame_tables import canonical_key
from zermelo.agents.core.gate import require_plain_game
from zermelo.agents.core.knowledge_files import require_game, write_knowledge
from zermelo.agents.knowledge.books import EXPANDED, KIND, PROVEN, Book, read_book
from zermelo.agents.solving.solve import solve
from zermelo.envs import InvalidSettingError, UnsupportedGameError
from zermelo.envs.jit.memory import load_state
from zermelo.envs.position import position
from zermelo.envs.rules.history import without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN
from zermelo.envs.rules.words import flat

_COST_OF_LOSS: Final = 8.0
"""How many moves a line is put off for each point of utility that one of its moves gives away."""
_SAVE_EVERY: Final = 30.0


@dataclass(frozen=True)
class BookProgress:
    """How far a book is: positions, how many of them are proven and expanded, seconds in this run."""

    positions: int
    proven: int
    expanded: int
    seconds: float


@dataclass
class _Node:
    """A position in the book.

    Attributes:
        state: It.
        value: What it is worth to its player to move.
        proven: Whether that is so.
        moves: For each action the node after it, or None at an end; its value there; whether the same player moves
            again. None where the position is not expanded.
        urgency: What it costs to reach the next position to expand from here; infinite if there is none.
        parents: Where it is reached from.
        plies: Moves from the root, on the shortest way known.
    """

    state: Any
    value: float
    proven: bool
    plies: int
    moves: dict[int, tuple[_Node | None, float, bool]] | None = None
    urgency: float = 0.0
    parents: list[_Node] = field(default_factory=list)


def grow_book(
    game: Any,
    path: str | os.PathLike[str],
    *,
    agent: Any = None,
    seconds: float | None = None,
    positions: int | None = None,
    plies: int | None = None,
    nodes: int = 1_000_000,
    on_progress: Callable[[BookProgress], Any] | None = None,
) -> Book:
    """Grows the book in a file, or begins one, and writes it.

    Args:
        game: A game of rules for two players with a constant sum and no chance; an environment or its name.
        path: The file, which usually ends in ``.zbook``. One that is there is grown on.
        agent: Says what a position is worth that could not be proven (``search_state``); None takes the middle.
        seconds: How long to go on.
        positions: How many positions the book may have.
        plies: How far from the start positions are expanded.
        nodes: The states that a proof of one position may visit.
        on_progress: Called after each position; what it raises ends the growth, and what was found is written.

    Raises:
        UnsupportedGameError: It is no such game.
        InvalidSettingError: The file is another game's, or there is no limit.
    """
    if seconds is None and positions is None and plies is None:
        raise InvalidSettingError("a book grows without end: give seconds, positions or plies")
    root = position(game)
    require_plain_game(root.game.traits, "book")
    if not isinstance(root.game, RulesGame):
        raise UnsupportedGameError(f"{root.game.traits.name} has no rules, which books are made from")
    growth = _Growth(root.game, root.state, Path(path), agent, plies, nodes)
    return growth.run(seconds, positions, on_progress)


class _Growth:
    """A book in the making."""

    def __init__(self, game: RulesGame, state: Any, path: Path, agent: Any, plies: int | None, nodes: int) -> None:
        self._game, self._path, self._agent, self._nodes = game, path, agent, nodes
        self._most_plies = math.inf if plies is None else plies
        self._prover = Prover(game) if can_prove(game) else None
        self._known: dict[int, tuple[float, int]] = {}
        self._stored: dict[int, Any] = {}
        if path.exists():
            self._read(state)
        self._by_key: dict[int, _Node] = {}
        self._root = self._node(state, 0)
        self._restore()

    def run(
        self, seconds: float | None, positions: int | None, on_progress: Callable[[BookProgress], Any] | None
    ) -> Book:
        """Expands position after position until a limit."""
        started = saved = time.monotonic()
        try:
            while self._root.urgency < math.inf:
                now = time.monotonic()
                if seconds is not None and now - started >= seconds:
                    break
                if positions is not None and len(self._by_key) >= positions:
                    break
                if now - saved >= _SAVE_EVERY:
                    self._write()
                    saved = now
                self._expand(self._next())
                if on_progress is not None:
                    on_progress(self._progress(started))
        finally:
            self._write()
        return read_book(self._path)

    def _progress(self, started: float) -> BookProgress:
        nodes = self._by_key.values()
        proven = sum(node.proven for node in nodes)
        expanded = sum(node.moves is not None for node in nodes)
        return BookProgress(len(nodes), proven, expanded, time.monotonic() - started)

    def _next(self) -> _Node:
        """The position that good play reaches soonest among those that are not expanded."""
        node = self._root
        seen = {id(node)}
        while node.moves is not None:
            options = [(cost, child) for cost, child in self._costs(node) if id(child) not in seen]
            if not options:
                node.urgency = math.inf  # play goes round here
                self._update(node)
                return self._next() if self._root.urgency < math.inf else self._root
            _, node = min(options, key=lambda option: option[0])
            seen.add(id(node))
        return node

    def _costs(self, node: _Node) -> list[tuple[float, _Node]]:
        assert node.moves is not None, "it is expanded"
        values = {action: self._value(child, value, again) for action, (child, value, again) in node.moves.items()}
        best = max(values.values())
        return [
            (1 + _COST_OF_LOSS * (best - values[action]) + child.urgency, child)
            for action, (child, _, _) in node.moves.items()
            if child is not None and child.urgency < math.inf
        ]

    def _value(self, child: _Node | None, value: float, again: bool) -> float:
        if child is None:
            return value
        return child.value if again else self._game.traits.constant - child.value

    def _expand(self, node: _Node) -> None:
        """Puts all positions after one into the book."""
        if node.moves is not None:
            return
        game, state = self._game, node.state
        mover = game.to_move(state)
        moves: dict[int, tuple[_Node | None, float, bool]] = {}
        for action in game.legal_actions(state):
            child = without_past(game.result(state, action))
            if game.is_terminal(child):
                moves[int(action)] = None, float(game.utility(child)[mover]), False
                continue
            after = self._node(child, node.plies + 1)
            after.parents.append(node)
            moves[int(action)] = after, 0.0, game.to_move(child) == mover
        node.moves = moves
        self._update(node)

    def _update(self, node: _Node) -> None:
        """Works out a node from those after it, and then those before it."""
        waiting, rounds = [node], 0
        while waiting and rounds < 1_000_000:
            rounds += 1
            here = waiting.pop()
            if here.moves is None:
                continue
            before = here.value, here.proven, here.urgency
            if not here.proven:
                options = [(self._value(*move), move[0] is None or move[0].proven) for move in here.moves.values()]
                here.value = max(value for value, _ in options)
                top = here.value == self._game.traits.utility_bounds[1]
                here.proven = all(proven for _, proven in options) or (top and (here.value, True) in options)
            here.urgency = min((cost for cost, _ in self._costs(here)), default=math.inf)
            if before != (here.value, here.proven, here.urgency):
                waiting += here.parents

    def _node(self, state: Any, plies: int) -> _Node:
        """The node of a position, a new one with its value."""
        bare = without_past(state)
        key = canonical_key(self._game.rules, bare)
        node = self._by_key.get(key)
        if node is None:
            value, flags = self._known[key] if key in self._known else self._judged(bare)
            node = _Node(bare, value, bool(flags & PROVEN), plies)
            node.urgency = math.inf if plies >= self._most_plies else 0.0
            self._by_key[key] = node
        return node

    def _judged(self, state: Any) -> tuple[float, int]:
        """The value of a position: proven, else what the agent says."""
        traits = self._game.traits
        if self._prover is not None:
            decides = traits.utility_bounds == (-1.0, 1.0) and not traits.constant
            lower, upper = (-1, 1) if decides else (LOSS, WIN)
            score = self._prover.score(state, nodes=self._nodes, lower=lower, upper=upper)
            if decides and (score.lower > 0 or score.upper < 0 or score.lower == score.upper):
                return float((score.lower > 0) - (score.upper < 0)), PROVEN
            if score.lower == score.upper:
                return self._prover.value(score.lower)[0], PROVEN
        else:
            found = solve(self._game, state, nodes=self._nodes, compile="never")
            if found.value is not None:
                return found.value, PROVEN
        if self._agent is None:
            return traits.constant / 2, 0
        result = self._agent.search_state(self._game, state)
        return result.value, PROVEN if result.proven else 0

    # -- the file ----------------------------------------------------------------------------------------------

    def _read(self, state: Any) -> None:
        book = read_book(self._path)
        require_game(self._path, book.about, self._game)
        self._known = {
            int(key): (float(value), int(flags))
            for key, value, flags in zip(book.keys, book.values, book.flags, strict=True)
        }
        like = without_past(state)
        rows = np.ascontiguousarray(book.states)
        width = 8 * rows.shape[1]
        self._stored = {
            int(key): load_state(like, rows.ctypes.data + width * place) for place, key in enumerate(book.keys)
        }

    def _restore(self) -> None:
        """Puts the book of the file into nodes, from the root on."""
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            flags = self._known.get(canonical_key(self._game.rules, node.state), (0.0, 0))[1]
            if node.moves is None and flags & EXPANDED:
                self._expand(node)
                assert node.moves is not None, "it was expanded"
                waiting += [child for child, _, _ in node.moves.values() if child is not None]

    def _write(self) -> None:
        keys = sorted(self._by_key)
        nodes = [self._by_key[key] for key in keys]
        others = sorted(self._known.keys() - self._by_key.keys())  # of a book from another position
        states = [flat(node.state) for node in nodes] + [flat(self._stored[key]) for key in others]
        values = [node.value for node in nodes] + [self._known[key][0] for key in others]
        flags = [PROVEN * node.proven | EXPANDED * (node.moves is not None) for node in nodes]
        flags += [self._known[key][1] for key in others]
        every = np.array(keys + others, np.int64)
        order = np.argsort(every)
        write_knowledge(
            self._path,
            KIND,
            self._game.rules,
            {"agent": getattr(self._agent, "name", ""), "nodes": self._nodes},
            keys=every[order],
            values=np.array(values, np.float32)[order],
            flags=np.array(flags, np.uint8)[order],
            states=np.array(states, np.int64)[order],
        )
