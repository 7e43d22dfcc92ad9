"""Tic-tac-toe in the style of PettingZoo's tutorial, with one odd thing each, and dice games of any size.

Each is one of a kind that third parties write; what is best in them is known by looking at every line of play.
"""

from __future__ import annotations

import functools
import itertools
import random
import time
import uuid
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class Board(AECEnv):  # type: ignore[type-arg]
    """Tic-tac-toe, with nothing odd."""

    metadata: ClassVar[dict[str, Any]] = {"name": "board", "render_modes": []}

    def __init__(self) -> None:
        super().__init__()
        self.possible_agents = ["a", "b"]

    def observation_space(self, agent: Any) -> Any:
        mask = spaces.Box(0, 1, (9,), np.int8)
        return spaces.Dict({"observation": spaces.Box(-1, 1, (9,), np.int8), "action_mask": mask})

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(9)

    def reset(self, seed: Any = None, options: Any = None) -> None:
        self.agents = self.possible_agents[:]
        self.cells = [0] * 9
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[Any, Any] = {agent: {} for agent in self.agents}
        self.agent_selection = "a"
        self.seed = seed
        self.start()

    def start(self) -> None:
        pass

    def seen(self) -> Any:
        return np.array(self.cells, np.int8) * (1 if self.agent_selection == "a" else -1)

    def mask(self) -> Any:
        return np.array([cell == 0 for cell in self.cells], np.int8)

    def observe(self, agent: Any) -> Any:
        sign = 1 if agent == "a" else -1
        return {"observation": np.array(self.cells, np.int8) * sign, "action_mask": self.mask()}

    def note(self) -> None:
        """What else a step does."""

    def put(self, place: int, mark: int) -> None:
        self.cells[place] = mark

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.note()
        assert self.cells[action] == 0
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        other, mark = ("b", 1) if agent == "a" else ("a", -1)
        self.put(action, mark)
        if any(all(self.cells[place] == mark for place in line) for line in LINES):
            self.rewards = {agent: 1, other: -1}
            self.terminations = dict.fromkeys(self.agents, True)
        elif 0 not in self.cells:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = other
        self._accumulate_rewards()


class KeepsTime(Board):
    """Notes when a move was made."""

    def note(self) -> None:
        self.moved_at = time.time()
        self.times = [*getattr(self, "times", []), time.perf_counter_ns()]


class Piece(NamedTuple):
    mark: int
    laid_at: float


class StampsPieces(Board):
    """The board is nowhere but in pieces that know when they were laid."""

    @property
    def cells(self) -> list[int]:  # type: ignore[override]
        return [0 if piece is None else piece.mark for piece in self.pieces]

    @cells.setter
    def cells(self, marks: list[int]) -> None:
        self.pieces: list[Any] = [self.piece(mark) if mark else None for mark in marks]

    def put(self, place: int, mark: int) -> None:
        self.pieces[place] = self.piece(mark)

    def piece(self, mark: int) -> Any:
        return Piece(mark, time.time())


class StampsScores(StampsPieces):
    """Beside the time in each piece stands a number of the same type that means something."""

    @property
    def cells(self) -> list[int]:  # type: ignore[override]
        return [0 if piece is None else int(piece[1]) for piece in self.pieces]

    @cells.setter
    def cells(self, marks: list[int]) -> None:
        self.pieces = [None] * len(marks)

    def piece(self, mark: int) -> Any:
        return [time.time(), float(mark)]


class FilesPieces(StampsPieces):
    """The board is nowhere but in a dictionary with keys that are never the same."""

    @property
    def cells(self) -> list[int]:  # type: ignore[override]
        laid = dict(self.pieces.values())
        return [laid.get(place, 0) for place in range(9)]

    @cells.setter
    def cells(self, marks: list[int]) -> None:
        self.pieces: dict[Any, Any] = {}  # type: ignore[assignment]

    def put(self, place: int, mark: int) -> None:
        self.pieces[uuid.uuid4()] = (place, mark)  # type: ignore[call-overload]


class CountsSteps(Board):
    """Counts the steps of all environments, in a counter that copies share."""

    counter = itertools.count()

    def note(self) -> None:
        self.number = next(CountsSteps.counter)


class NamesMoves(Board):
    """Gives every move a name that is nobody else's."""

    def note(self) -> None:
        self.names = {**getattr(self, "names", {}), uuid.uuid4(): len(self.cells)}


class KeepsIdentities(Board):
    """Keeps the identities of objects of its own."""

    def note(self) -> None:
        token = object()
        self.tokens = [*getattr(self, "tokens", []), token]
        self.latest = id(token)


class Idler:
    def __init__(self) -> None:
        self.random = random.Random(4)
        self.last = 0.0


class HoldsAnAgent(Board):
    """An agent inside of it draws random numbers at every move, which nobody sees."""

    def start(self) -> None:
        self.idler = Idler()

    def note(self) -> None:
        self.idler.last = self.idler.random.random() + np.random.random()  # noqa: NPY002  # as third parties do


class ClearsRewards(Board):
    """Accumulates, then clears ``rewards``: what is paid is seen in ``last()`` alone."""

    def step(self, action: Any) -> None:
        is_dead = self.terminations[self.agent_selection]
        super().step(action)
        if not is_dead:
            self._clear_rewards()


class NeverAccumulates(Board):
    """Writes ``rewards`` and forgets to accumulate them."""

    def _accumulate_rewards(self) -> None:
        pass


class TakesNumPy(Board):
    """Takes what ``action_space(agent).sample()`` gives."""

    def step(self, action: Any) -> None:
        super().step(None if action is None else action.item())


class TakesPython(Board):
    """Takes integers of Python's only."""

    def step(self, action: Any) -> None:
        if action is not None and type(action) is not int:
            raise TypeError(f"an int, not {type(action).__name__}")
        super().step(action)


class AsksLast(Board):
    """Wants ``last()`` before each step."""

    asked = False

    def last(self, observe: bool = True) -> Any:
        self.asked = True
        return super().last(observe)

    def step(self, action: Any) -> None:
        if not self.asked:
            raise RuntimeError("call last() first")
        self.asked = False
        super().step(action)


class FailsSometimes(Board):
    """Its own code fails in one line of play."""

    def step(self, action: Any) -> None:
        if action == 3 and self.cells.count(0) == 4:
            raise KeyError("a bug of the environment")
        super().step(action)


class ForgetsItsMask(Board):
    """Its mask is made wrongly in one line of play, by code that fails."""

    def observe(self, agent: Any) -> Any:
        if self.cells.count(0) == 3 and self.cells[3]:
            raise IndexError("a bug of the environment")
        return super().observe(agent)


class HoldsSets(Board):
    """Small sets that never change."""

    def __init__(self) -> None:
        super().__init__()
        draw = np.random.default_rng(0)
        self.places = [{tuple(map(int, draw.integers(0, 10, 2))) for _ in range(4)} for _ in range(400)]


class MaskInInfo(Board):
    """Lists what is legal in ``infos``, by a name of its own."""

    def observe(self, agent: Any) -> Any:
        return self.seen()

    @property
    def legal(self) -> list[int]:
        return [place for place in range(9) if not self.cells[place]]

    def start(self) -> None:
        self.infos = {agent: {"legal_moves": self.legal} for agent in self.agents}

    def step(self, action: Any) -> None:
        super().step(action)
        self.infos = {agent: {"legal_moves": self.legal} for agent in self.agents}


class SpaceOfTheMoment(Board):
    """Has ``action_spaces`` alone, and makes its spaces anew each time."""

    @property
    def action_spaces(self) -> dict[Any, Any]:
        return {agent: spaces.Discrete(9) for agent in self.possible_agents}

    def action_space(self, agent: Any) -> Any:
        return self.action_spaces[agent]


BOARDS: dict[str, type[Board]] = {
    kind.__name__: kind
    for kind in (
        Board,
        KeepsTime,
        CountsSteps,
        NamesMoves,
        StampsPieces,
        StampsScores,
        FilesPieces,
        KeepsIdentities,
        HoldsAnAgent,
        ClearsRewards,
        NeverAccumulates,
        TakesNumPy,
        TakesPython,
        AsksLast,
        FailsSometimes,
        ForgetsItsMask,
        HoldsSets,
        MaskInInfo,
        SpaceOfTheMoment,
    )
}


def at(kind: type[Board], moves: tuple[int, ...]) -> Any:
    """An environment after some moves."""
    env = kind()
    env.reset(seed=0)
    for move in moves:
        env.last()
        env.step(move if kind is TakesPython else np.int64(move))
    env.last()
    return env


@functools.cache
def worth(cells: tuple[int, ...], mark: int) -> int:
    """What the position is worth for the mark to move."""
    if any(all(cells[place] == -mark for place in line) for line in LINES):
        return -1
    free = [place for place in range(9) if cells[place] == 0]
    after = (worth((*cells[:place], mark, *cells[place + 1 :]), -mark) for place in free)
    return max((-value for value in after), default=0)


def best(env: Board) -> set[int]:
    """The best moves."""
    cells, mark = tuple(env.cells), 1 if env.agent_selection == "a" else -1
    free = [place for place in range(9) if cells[place] == 0]
    values = {place: -worth((*cells[:place], mark, *cells[place + 1 :]), -mark) for place in free}
    return {place for place in free if values[place] == max(values.values())}
