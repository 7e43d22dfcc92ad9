"""Training runs: the ratings of a policy as it learned, a line of JSON each, in the order of time.

Lines are only ever added, each with its end in one write, so that whoever stops a training run loses at most the
line that was being written: a last line without an end is left out.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.storage.files import write_text

CURVE: Final = "curve.jsonl"
"""The file of a training run in a folder."""
_LARGEST: Final = 200_000_000
_MAX_POINTS: Final = 100_000
_LIMIT: Final = 1e15
"""The largest number in a file."""


_Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=-_LIMIT, le=_LIMIT)] | None
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10**15)]


class _Rung(msgspec.Struct):
    agent: str
    elo: _Amount


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A rating during a training run, as its line has it: None for what is unknown, and for an end without bound.

    Attributes:
        env: The environment's name.
        ladder: The identity of its ladder.
        step: Of the training.
        games: Number of games of the rating.
        rating: In Elo.
        lower, upper: Its interval.
        score: The mean score, 0 to 1.
        rungs: The ladder's agents and their ratings.
        mean_reward: Of a game.
        reward_interval: Its interval.
        scoring: ``"rewards"`` where the games pay amounts, so that the reward says more than the rating.
    """

    env: str
    ladder: str
    step: _Count
    games: _Count
    rating: _Amount
    lower: _Amount
    upper: _Amount
    score: _Amount
    rungs: list[_Rung]
    mean_reward: _Amount = None
    reward_interval: tuple[_Amount, _Amount] | None = None
    scoring: str = ""

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
    def levels(self) -> dict[str, float]:
        """The ratings of the ladder's agents that are known, by name."""
        return {rung.agent: rung.elo for rung in self.rungs if rung.elo is not None}


@dataclass(frozen=True)
class Curve:
    """A training run.

    Attributes:
        name: What reports call it: that of its file, or of the folder of a file that is called ``curve.jsonl``.
        points: Its ratings by step; at least one.
    """

    name: str
    points: tuple[CurvePoint, ...]

    @property
    def env(self) -> str:
        """The environment's name."""
        return self.points[0].env

    @property
    def ladder(self) -> str:
        """The identity of its ladder."""
        return self.points[0].ladder


def append_lines(path: Path, rows: Iterable[Mapping[str, Any]], *, is_new: bool) -> None:
    """Adds rows to a file, or begins it anew.

    Raises:
        OSError: It cannot be written.
    """
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    with path.open("wb" if is_new else "ab+", buffering=0) as file:
        if not is_new and file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # a line that was being written when the process was killed
                _drop_torn_line(file)
        size = file.tell()
        try:
            if file.write(text.encode()) != len(text):  # which is ASCII
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                file.truncate(size)
            raise


def _drop_torn_line(file: Any) -> None:
    file.seek(0)
    whole = file.read()
    file.truncate(whole.rfind(b"\n") + 1)
    file.seek(0, os.SEEK_END)


def read_curve(path: str | os.PathLike[str]) -> Curve:
    """The training run in a file of ``RatingCurve``.

    Raises:
        StoreError: There is none, or the file is none of these; the message says where.
    """
    path = Path(path)
    points = list[CurvePoint]()
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            points.append(msgspec.json.decode(line, type=CurvePoint))
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{path}, line {number}: not a rating of a training run ({error})") from error
        if number > _MAX_POINTS:
            raise StoreError(f"{path} has more than {_MAX_POINTS:,} ratings: give a file with fewer")
    if not points:
        raise StoreError(f"{path} holds no rating yet: wait until the first one is found")
    points.sort(key=lambda point: point.step)
    name = path.resolve().parent.name if path.name == CURVE else ""
    return Curve(name or path.stem, tuple(points))


def keep_points(path: Path, last_step: int) -> Curve | None:
    """Leaves the ratings up to a step in the file, and gives them back; None where there are none.

    Raises:
        StoreError: The file cannot be read or written, or is no training run.
    """
    if not _whole_lines(path):
        return None
    before = read_curve(path)
    kept = [line for line in _whole_lines(path) if msgspec.json.decode(line, type=CurvePoint).step <= last_step]
    write_text(path, "".join(f"{line}\n" for line in kept))
    points = tuple(point for point in before.points if point.step <= last_step)
    return Curve(before.name, points) if points else None


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file that have an end."""
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > _LARGEST):
            raise StoreError(f"{path} is no file of ratings, or larger than {_LARGEST // 10**6} MB: name another")
        whole = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read the training run in {path}: {error.strerror or error}") from error
    return whole[: whole.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1]
