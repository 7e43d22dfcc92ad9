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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.storage.files import write_text

CURVE: Final = "curve.jsonl"
"""Where ``zermelo report`` looks for a training run in a folder."""
_LARGEST: Final = 200_000_000
_MOST_POINTS: Final = 100_000
_GREATEST: Final = 1e15
"""Greater numbers are none of ours."""


@dataclass(frozen=True)
class CurvePoint:
    """A rating during a training run; what is not known is nan, and an interval without an end is infinite.

    Attributes:
        step: Of the training.
        games: On which it rests.
        rating: In Elo, with its interval.
        score: The mean score, 0 to 1.
        levels: The ratings of the ladder's agents, by name.
        reward: The mean reward of a game, with its interval.
        by_reward: Whether the games pay amounts, so that the reward says more than the rating.
        accuracy: The share of optimal moves among those that mattered, 0 to 1, with its interval.
        exploitability: What a player could gain that knew the policy.
    """

    step: int
    games: int
    rating: tuple[float, float, float]
    score: float
    levels: Mapping[str, float]
    reward: tuple[float, float, float]
    by_reward: bool
    accuracy: tuple[float, float, float]
    exploitability: float

    @property
    def strength(self) -> float:
        """What says more of the policy: the mean reward where games pay amounts, else the rating."""
        return self.reward[0] if self.by_reward else self.rating[0]


@dataclass(frozen=True)
class Curve:
    """A training run.

    Attributes:
        name: What reports call it: that of its file, or of the folder of a file that is called ``curve.jsonl``.
        env: The environment's name.
        ladder: What tells its ladder from others.
        points: Its ratings by step.
    """

    name: str
    env: str
    ladder: str
    points: tuple[CurvePoint, ...]


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
    points, env, ladder = list[CurvePoint](), "", ""
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            row = msgspec.json.decode(line, type=_Row)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{path}, line {number}: not a rating of a training run ({error})") from error
        env, ladder = env or row.env, ladder or row.ladder
        points.append(_point(row))
        if number > _MOST_POINTS:
            raise StoreError(f"{path} has more than {_MOST_POINTS:,} ratings: give a file with fewer")
    if not points:
        raise StoreError(f"{path} holds no rating yet: wait until the first one is found")
    points.sort(key=lambda point: point.step)
    name = path.resolve().parent.name if path.name == CURVE else ""
    return Curve(name or path.stem, env, ladder, tuple(points))


def keep_points(path: Path, last_step: int) -> Curve | None:
    """Leaves the ratings up to a step in the file, and gives them back; None where there are none.

    Raises:
        StoreError: The file cannot be read or written, or is no training run.
    """
    if not _whole_lines(path):
        return None
    before = read_curve(path)
    kept = [line for line in _whole_lines(path) if msgspec.json.decode(line, type=_Row).step <= last_step]
    write_text(path, "".join(f"{line}\n" for line in kept))
    points = tuple(point for point in before.points if point.step <= last_step)
    return replace(before, points=points) if points else None


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file that have an end."""
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > _LARGEST):
            raise StoreError(f"{path} is no file of ratings, or larger than {_LARGEST // 10**6} MB: name another")
        whole = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read the training run in {path}: {error.strerror or error}") from error
    return whole[: whole.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1]


_Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=-_GREATEST, le=_GREATEST)] | None
_Bounds: TypeAlias = tuple[_Amount, _Amount]


class _Rung(msgspec.Struct):
    agent: str
    elo: _Amount


class _Row(msgspec.Struct):
    """A line of the file, as far as it is read."""

    env: str
    ladder: str
    step: Annotated[int, msgspec.Meta(ge=0, le=10**15)]
    games: Annotated[int, msgspec.Meta(ge=0, le=10**15)]
    rating: _Amount
    lower: _Amount
    upper: _Amount
    score: _Amount
    rungs: list[_Rung]
    mean_reward: _Amount = None
    reward_interval: _Bounds | None = None
    scoring: str = ""
    accuracy: _Amount = None
    accuracy_interval: _Bounds | None = None
    exploitability: _Amount = None


def _point(row: _Row) -> CurvePoint:
    return CurvePoint(
        step=row.step,
        games=row.games,
        rating=_interval(row.rating, (row.lower, row.upper)),
        score=_number(row.score),
        levels={rung.agent: rung.elo for rung in row.rungs if rung.elo is not None},
        reward=_interval(row.mean_reward, row.reward_interval),
        by_reward=row.scoring == "rewards",
        accuracy=_interval(row.accuracy, row.accuracy_interval),
        exploitability=_number(row.exploitability),
    )


def _number(value: float | None, missing: float = math.nan) -> float:
    return missing if value is None else value


def _interval(value: float | None, bounds: tuple[float | None, float | None] | None) -> tuple[float, float, float]:
    lower, upper = bounds or (None, None)
    return _number(value), _number(lower, -math.inf), _number(upper, math.inf)
