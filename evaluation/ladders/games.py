"""The games of ladders: blocks of games of two agents, and the journal that has their results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from zermelo.agents.base.tasks import PureWork
from zermelo.agents.training.vectors.opponents import Match, MatchResult
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.support.files import read_file
from zermelo.evaluation.errors import EnvironmentFailureError, StoreError
from zermelo.evaluation.ladders.ladder import openings_for, play_here
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.match.sources import build_env
from zermelo.evaluation.schedule import derived_seed
from zermelo.evaluation.storage.files import replace_text

_LARGEST: Final = 1 << 28  # bytes of a journal
_Line: TypeAlias = tuple[str, str, int, int, int, int, int, int, float]
OPENING: Final = 2  # random moves at the start of a game


class Block(NamedTuple):
    """Games of two agents, as many from either seat; ``number`` counts the blocks of this pair."""

    first: str
    second: str
    games: int
    number: int

    @property
    def key(self) -> tuple[str, str, int]:
        """The identity of a block on its ladder; its number of games may change."""
        return self.first, self.second, self.number


@dataclass
class BlockPlayer(PureWork):
    """Plays blocks: the work of a runner."""

    env: str
    seed: int

    def run(self, block: Block, on_turn: Callable[[int], None] | None = None) -> tuple[Block, MatchResult, float]:
        seed = derived_seed(self.seed, block.first, block.second, block.number)
        try:
            match = Match(self.env, block.first, block.second, block.games // 2, opening=OPENING)
        except (InvalidSettingError, UnsupportedGameError):
            started = time.process_time()
            return block, self._one_by_one(block, seed), time.process_time() - started
        started = time.process_time()
        return block, match.play(seed), time.process_time() - started

    def _one_by_one(self, block: Block, seed: int) -> MatchResult:
        driver = drive_env(build_env(self.env)[0], seed)
        agents, openings = {"first": block.first, "second": block.second}, openings_for(driver.env, 2, seed)
        standings = play_here(self.env, agents, games=block.games, seed=seed, openings=openings or None)
        if failure := next((record.failure for record in standings.records if record.failure), None):
            raise EnvironmentFailureError(f"{block.first} against {block.second}: {failure.message}")
        row = standings.row("first")
        return MatchResult(row.wins, row.draws, row.losses, sum(each.moves for each in standings.rows))


@dataclass
class Journal:
    """The blocks that were played, in a file of JSON lines."""

    path: Path
    key: str
    blocks: dict[tuple[str, str, int], tuple[Block, MatchResult, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            return
        try:
            head, *lines = read_file(self.path, _LARGEST).decode().split("\n")
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.path} cannot be read ({error}): move it away") from error
        whole = lines[:-1]  # a kill may have cut the last one
        try:
            if head and msgspec.json.decode(head) != self.key:
                raise StoreError(f"{self.path} has the games of another ladder ({head}): choose another file")
            for line in whole:
                stored: Any = msgspec.json.decode(line, type=_Line)
                *given, seconds = stored
                block = Block(*given[:4])
                self.blocks[block.key] = block, MatchResult(*given[4:]), seconds
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{self.path} is damaged, or no journal of games: move it away") from error
        replace_text(self.path, [f"{line}\n" for line in [head, *whole]] if head else [])

    def add(self, block: Block, result: MatchResult, seconds: float) -> None:
        """Writes a block; what is decided later sees the time as the file has it."""
        seconds = round(seconds, 6)
        self.blocks[block.key] = block, result, seconds
        is_new = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(self.key)}\n" * is_new)
            file.write(json.dumps([*block, *result, seconds]) + "\n")
