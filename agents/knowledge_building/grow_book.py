"""Growing an opening book best first, by drop-out expansion; the same book comes out wherever the tasks run.

T. Lincke, "Strategies for the automatic construction of opening books", Computers and Games 2000.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents.base.requirements import require_plain_game
from zermelo.agents.base.tasks import PureWork, Tasks
from zermelo.agents.knowledge.books import EXPANDED, PROVEN, Book, BookPosition, open_book, write_book
from zermelo.agents.knowledge.endgame_tables import canonical_key
from zermelo.agents.solving.solve import solve
from zermelo.agents.tree_search.exact.prover import Prover, can_prove
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.position import position
from zermelo.envs.rules.history import without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN

_COST_OF_LOSS: Final = 8.0  # moves a line is put off for each point of utility that a move gives away
_TOGETHER: Final = 1 / 64, 16  # the share of the book's positions, and the most, that are expanded together
_SAVE_EVERY: Final = 30.0


@dataclass(frozen=True)
class BookProgress:
    """How far a book is: positions, how many of them are proven and expanded, seconds in this run."""

    positions: int
    proven: int
    expanded: int
    seconds: float


@dataclass
class _BookNode:
    state: Any
    value: float  # for the player to move
    proven: bool
    moves: dict[int, tuple[_BookNode | None, float, bool]] | None = None
    """For each action the node after it, or None at an end; the value of that end; whether the same player moves
    again. None where the position is not expanded."""
    urgency: float = math.inf  # the cost of reaching the next position to expand from here
    parents: list[_BookNode] = field(default_factory=list)
    plies: float = math.inf  # moves from the root, on the shortest way


def grow_book(
    game: Any,
    path: str | os.PathLike[str],
    *,
    agent: Any = None,
    seconds: float | None = None,
    positions: int | None = None,
    plies: int | None = None,
    nodes: int = 1_000_000,
    runner: Any = None,
    on_progress: Callable[[BookProgress], Any] | None = None,
) -> Book:
    """Grows the book in a file, or begins one, and writes it.

    It ends after ``seconds``, at ``positions`` in the book, or when those less than ``plies`` moves from the start
    are expanded. A proof may visit ``nodes`` states; other positions are worth what ``agent`` says, or the middle.
    A ``runner`` evaluates them elsewhere, as ``zermelo.evaluation.workers`` do. What ``on_progress`` raises ends
    the growth, and what was found is written.

    Raises:
        UnsupportedGameError: The game has no rules, or is not for two players with a constant sum and no chance.
        InvalidSettingError: The file is another game's, or there is no limit.
    """
    if seconds is None and positions is None and plies is None:
        raise InvalidSettingError("a book grows without end: give seconds, positions or plies")
    root = position(game)
    require_plain_game(root.game.traits, "book")
    if not isinstance(root.game, RulesGame):
        raise UnsupportedGameError(f"{root.game.traits.name} has no rules, which books are made from")
    if dataclasses.is_dataclass(agent) and not isinstance(agent, type):
        agent = dataclasses.replace(agent)  # without what it remembers, which workers cannot be sent
    rules_game = RulesGame(root.game.rules)
    growth = _Growth(rules_game, root.state, Path(path), BookWork(rules_game.rules, agent, nodes), plies)
    return growth.run(seconds, positions, runner, on_progress)


@dataclass
class BookWork(PureWork):
    """The evaluation of positions as tasks of a runner; an item is a state, with the seed for the agent."""

    rules: Any
    agent: Any
    nodes: int

    @functools.cached_property
    def game(self) -> RulesGame:
        return RulesGame(self.rules)

    @functools.cached_property
    def prover(self) -> Prover | None:
        return Prover(self.game) if can_prove(self.game) else None

    def run(self, item: tuple[Any, int], on_turn: Callable[[int], None] | None = None) -> tuple[float, bool]:
        state, seed = item
        traits = self.game.traits
        if self.prover is not None:
            self.prover.clear_memory()
            decides = traits.utility_bounds == (-1.0, 1.0) and not traits.constant
            lower, upper = (-1, 1) if decides else (LOSS, WIN)
            score = self.prover.score(state, nodes=self.nodes, lower=lower, upper=upper)
            if decides and (score.lower > 0 or score.upper < 0 or score.lower == score.upper):
                return float((score.lower > 0) - (score.upper < 0)), True
            if score.lower == score.upper:
                return self.prover.value(score.lower)[0], True
        else:
            solution = solve(self.game, state, nodes=self.nodes, compile="never")
            if solution.value is not None:
                return solution.value, True
        if self.agent is None:
            return traits.constant / 2, False
        self.agent.reset(seed)
        result = self.agent.search_state(self.game, state)
        return float(np.float32(result.value)), result.proven  # as the file has it


class _Growth:
    def __init__(self, game: RulesGame, state: Any, path: Path, work: BookWork, plies: int | None) -> None:
        self._game, self._path, self._work = game, path, work
        self._most_plies = math.inf if plies is None else plies
        self._root_state = without_past(state)
        rows = open_book(path, game, self._root_state, exact=False)
        self._by_key = {
            key: _BookNode(row.state, row.value, bool(row.flags & PROVEN)) for key, row in rows.items()
        }
        for key, row in rows.items():
            if row.flags & EXPANDED:
                self._expand(self._by_key[key])

    def run(
        self,
        seconds: float | None,
        positions: int | None,
        runner: Any,
        on_progress: Callable[[BookProgress], Any] | None,
    ) -> Book:
        ends, most = (math.inf if limit is None else limit for limit in (seconds, positions))
        started = saved = time.monotonic()
        try:
            with contextlib.closing(Tasks(self._work, runner)) as tasks:
                leaves, new = list[_BookNode](), {self._key(self._root_state): self._root_state}
                new = {key: state for key, state in new.items() if key not in self._by_key}
                while True:
                    nodes = self._by_key.values()
                    expanded = sum(node.moves is not None for node in nodes)
                    proven = sum(node.proven for node in nodes)
                    judged = tasks.map((state, key & 0x7FFFFFFF) for key, state in new.items())
                    for key, judgement in zip(new, judged, strict=False):
                        self._by_key[key] = _BookNode(new[key], *judgement)
                        proven += judgement[1]
                        now = time.monotonic()
                        if on_progress is not None:
                            on_progress(BookProgress(len(self._by_key), proven, expanded, now - started))
                        if now - saved >= _SAVE_EVERY:
                            self._write()
                            saved = now
                        if now - started >= ends:
                            break
                    else:
                        for leaf in leaves:
                            self._expand(leaf)
                        leaves, new = self._chosen(most)
                        if leaves:
                            continue
                    break
        finally:
            book = self._write()
        return book

    def _chosen(self, most: float) -> tuple[list[_BookNode], dict[int, Any]]:
        """The positions to expand next, and those after them that are new; none once ``most`` are reached."""
        root = self._node(self._root_state, 0)
        reached = {key for key, node in self._by_key.items() if node.plies < math.inf}
        leaves, new = list[_BookNode](), dict[int, Any]()
        room = min(1 + _TOGETHER[0] * len(reached), _TOGETHER[1])
        while root.urgency < math.inf and len(leaves) + 1 <= room and len(reached) < most:
            leaf = self._next(root)
            if leaf.moves is not None:
                continue  # play goes round, and nothing is left
            leaves.append(leaf)
            leaf.urgency = math.inf  # it is in hand
            for parent in leaf.parents:
                self._update(parent)
            after = (self._game.result(leaf.state, action) for action in self._game.legal_actions(leaf.state))
            states = {
                self._key(state): without_past(state) for state in after if not self._game.is_terminal(state)
            }
            reached |= states.keys()
            new |= {key: state for key, state in states.items() if key not in self._by_key}
        return leaves, new

    def _key(self, state: Any) -> int:
        return canonical_key(self._game.rules, without_past(state))

    def _next(self, root: _BookNode) -> _BookNode:
        """The position that good play reaches soonest among those that are not expanded."""
        node = root
        seen = {id(node)}
        while node.moves is not None:
            options = [(cost, child) for cost, child in self._costs(node) if id(child) not in seen]
            if not options:
                node.urgency = math.inf  # play goes round here
                self._update(node)
                return self._next(root) if root.urgency < math.inf else root
            _, node = min(options, key=lambda option: option[0])
            seen.add(id(node))
        return node

    def _costs(self, node: _BookNode) -> list[tuple[float, _BookNode]]:
        assert node.moves is not None, "it is expanded"
        values = {action: self._value(child, value, again) for action, (child, value, again) in node.moves.items()}
        best = max(values.values())
        return [
            (1 + _COST_OF_LOSS * (best - values[action]) + child.urgency, child)
            for action, (child, _, _) in node.moves.items()
            if child is not None and child.urgency < math.inf
        ]

    def _value(self, child: _BookNode | None, value: float, again: bool) -> float:
        if child is None:
            return value
        return child.value if again else self._game.traits.constant - child.value

    def _expand(self, node: _BookNode) -> None:
        if node.moves is not None:
            return
        game, state = self._game, node.state
        mover = game.to_move(state)
        moves: dict[int, tuple[_BookNode | None, float, bool]] = {}
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

    def _update(self, node: _BookNode) -> None:
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

    def _node(self, state: Any, plies: float) -> _BookNode:
        first = self._by_key[self._key(state)]
        waiting, reached = deque([(first, plies)]), list[_BookNode]()
        while waiting:
            node, plies = waiting.popleft()
            if plies < node.plies:
                node.plies = plies
                reached.append(node)
                if node.moves is None:
                    node.urgency = math.inf if plies >= self._most_plies else 0.0
                else:
                    waiting.extend((child, plies + 1) for child, _, _ in node.moves.values() if child is not None)
        for node in reversed(reached):
            for each in (node, *node.parents):
                self._update(each)
        return first

    def _write(self) -> Book:
        rows = {
            key: BookPosition(node.state, node.value, PROVEN * node.proven | EXPANDED * (node.moves is not None))
            for key, node in self._by_key.items()
        }
        about = {"agent": self._work.agent.name if self._work.agent else "", "nodes": self._work.nodes}
        return write_book(self._path, self._game.rules, about, rows)
