"""Training runs: the ratings of a policy as it learned, a line of JSON each, in the order of time.

The file is replaced as a whole with each rating. A last line without an end, which another program was writing, is
left out.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec

from zermelo.evaluation.errors import StoreError

CURVE: Final = "curve.jsonl"
"""The file of a training run in a folder."""
_LARGEST: Final = 200_000_000
_MAX_POINTS: Final = 100_000
_LIMIT: Final = 1e15
"""The largest number in a file."""


_Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=-_LIMIT, le=_LIMIT)] | None
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10**15)]


class CurveLevel(msgspec.Struct):
    """An agent that ratings are measured by, and its own rating."""

    agent: str
    elo: _Amount


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A rating during a training run, as its line has it: None for what is unknown and for an open end."""

    env: str
    ladder: str  # its identity
    step: _Count  # of the training
    games: _Count  # of the rating
    rating: _Amount  # in Elo
    lower: _Amount
    upper: _Amount
    score: _Amount  # the mean, 0 to 1
    rungs: list[CurveLevel]  # the ladder's agents and their ratings
    mean_reward: _Amount = None
    reward_interval: tuple[_Amount, _Amount] | None = None
    scoring: str = ""  # "rewards" where the games pay amounts, so that the reward says more than the rating
    likely_best: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None  # that it is the strongest of the run
    title: str = ""  # the environment's own name, where ``env`` is not one of a registry
    policy: str = ""  # whose ratings they are

    @property
    def by_reward(self) -> bool:
        """Whether the mean reward says more of the policy than the rating."""
        return self.scoring == "rewards"

    @property
    def strength(self) -> float:
        """The number to compare policies by: the mean reward where games pay amounts, else the rating."""
        value = self.mean_reward if self.by_reward else self.rating
        return math.nan if value is None else value

    @property
    def strength_interval(self) -> tuple[float, float]:
        """The interval of ``strength``; an end that is unknown is infinite."""
        low, high = (self.reward_interval or (None, None)) if self.by_reward else (self.lower, self.upper)
        return -math.inf if low is None else low, math.inf if high is None else high

    @property
    def levels(self) -> dict[str, float]:
        """The ratings of the ladder's agents that are known, by name."""
        return {rung.agent: rung.elo for rung in self.rungs if rung.elo is not None}


@dataclass(frozen=True)
class Curve:
    """A training run."""

    name: str  # of its file; where that is called ``curve.jsonl``, of the policy, or else of the folder
    points: tuple[CurvePoint, ...]  # by step; at least one
    folder: str = ""  # where its file is, to tell curves of one name

    @property
    def env(self) -> str:
        """The environment's name."""
        return self.points[0].env

    @property
    def title(self) -> str:
        """The environment's name for people."""
        return self.points[0].title or self.env

    @property
    def ladder(self) -> str:
        """The identity of its ladder."""
        return self.points[0].ladder

    def text(self) -> str:
        """The lines of its file."""
        return "".join(f"{msgspec.json.encode(point).decode()}\n" for point in self.points)


def read_points(path: Path) -> list[tuple[CurvePoint, str]]:
    """The ratings of a file by step, each with its line."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder: give the file of a training run, such as {path / CURVE}")
        if path.exists() and (not path.is_file() or path.stat().st_size > _LARGEST):
            raise StoreError(f"{path} is no file of ratings, or larger than {_LARGEST // 10**6} MB: name another")
        whole = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read the training run in {path}: {error.strerror or error}") from error
    points = []
    lines = whole[: whole.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1]
    for number, line in enumerate(lines, start=1):
        try:
            points.append((msgspec.json.decode(line, type=CurvePoint), line))
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{path}, line {number}: not a rating of a training run ({error})") from error
        if number > _MAX_POINTS:
            raise StoreError(f"{path} has more than {_MAX_POINTS:,} ratings: give a file with fewer")
    return sorted(points, key=lambda one: one[0].step)


def read_curve(path: str | os.PathLike[str]) -> Curve:
    """The training run in a file of ``RatingCurve``.

    Raises:
        StoreError: There is none, or the file is none of these; the message says where.
    """
    path = Path(path)
    points = tuple(point for point, _ in read_points(path))
    if not points:
        raise StoreError(f"{path} holds no rating yet: wait until the first one is found")
    folder = path.resolve().parent.name
    name = (points[-1].policy or folder) if path.name == CURVE else ""
    return Curve(name or path.stem, points, folder)
