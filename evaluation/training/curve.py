"""A policy's rating as it learns: for any training loop, and as a callback of Stable-Baselines3."""

from __future__ import annotations

import functools
import json
import math
import numbers
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from zermelo.agents.base.settings import check_whole
from zermelo.agents.training.schedules import SelfPlay
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.installing import install_command
from zermelo.evaluation.match.sources import EnvSource
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.curves import CurvePoint, read_curve, read_points
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.text_table import TextTable
from zermelo.evaluation.training.evaluate import LadderSource, PolicyRating, check_sources, evaluate_policy


@dataclass
class _Gains:
    """What a training has gained so far, by the intervals of its ratings."""

    best: tuple[float, float] = (-math.inf, -math.inf)  # the lower end and the strength
    gained: tuple[float, float] = (-math.inf, -math.inf)  # the strength and the upper end of the last gain
    without: int = 0  # ratings since then

    def add(self, rating: PolicyRating | CurvePoint) -> bool:
        """Takes the next rating; whether its lower end is the highest so far."""
        strength, (lower, upper) = rating.strength, rating.strength_interval
        # The lower end of the difference (G. Y. Zou and A. Donner, 2008, Statistics in Medicine 27:1693).
        before, its_upper = self.gained
        if before == -math.inf or strength - before > math.hypot(strength - lower, its_upper - before):
            self.gained, self.without = (strength, upper), 0
        else:
            self.without += 1
        is_best = (lower, strength) > self.best
        self.best = max(self.best, (lower, strength))
        return is_best


@checked_call
class RatingCurve:
    """Rates a policy every so many steps of its training, by ``evaluate_policy``.

    Args:
        env: As ``evaluate_policy`` takes it.
        ladder: As ``evaluate_policy`` takes it.
        interval: Width of the 95 % interval at which games stop, in Elo, as ``evaluate_policy`` takes it.
        games: Games with each agent, as ``evaluate_policy`` takes them.
        seed: Decides every game.
        every: Steps of the training between two ratings.
        path: A file (JSON lines) that gets each rating as it is found, which ``zermelo report`` draws; None for
            none. A disk that is full is warned of, and does not stop the training.
        resume_step: Where the training goes on from: the file's ratings up to this step stay. With 0 there may be
            no ratings in the file.
        on_rating: Called with the step, the rating, and whether its interval's lower end is the highest so far,
            say to save the policy.
        log: Called with numbers by name and the step, as ``wandb.log`` is.
        patience: Ratings in a row that are not surely above the last one that was, by the intervals of both, after
            which ``is_done`` is true; None for never.
        pool: A schedule of opponents that gets a copy of the policy with each rating: self-play against earlier
            versions (``SelfPlay.add_copy``).

    Attributes:
        ratings: Step and rating of each time.
        best_step: The step of the rating with the highest lower end; 0 before the first.

    Raises:
        StoreError: The file is there and is no training run.
        InvalidSettingError: The file has ratings already, and no ``resume_step`` is given.
        UnknownNameError: No environment or agent of the ladder has that name.
    """

    def __init__(
        self,
        env: EnvSource,
        *,
        every: int = 10_000,
        path: str | os.PathLike[str] | None = None,
        resume_step: int = 0,
        on_rating: Callable[[int, PolicyRating, bool], None] | None = None,
        log: Callable[[Mapping[str, float], int], object] | None = None,
        patience: int | None = None,
        pool: SelfPlay | None = None,
        ladder: LadderSource = None,
        interval: float | None = None,
        games: int | None = None,
        seed: int = 0,
    ) -> None:
        check_whole("every", every, lower=1)
        check_sources(env, ladder)
        self.ratings: list[tuple[int, PolicyRating]] = []
        self._every = every
        self._evaluate = functools.partial(
            evaluate_policy, env=env, ladder=ladder, interval=interval, games=games, seed=seed
        )
        self._path = None if path is None else Path(path)
        if patience is not None:
            check_whole("patience", patience, lower=1)
        if log is not None and not callable(log):
            raise InvalidSettingError(f"log must be a function of numbers and step, as wandb.log is, not {log!r}")
        if pool is not None and not isinstance(pool, SelfPlay):
            raise InvalidSettingError(f"pool must be the SelfPlay that draws the opponents, not {pool!r}")
        self._on_rating, self._log, self._patience, self._pool = on_rating, log, patience, pool
        self._last, self._ladder, self._gains, self.best_step = 0, "", _Gains(), 0
        self._lines: list[str] = []
        check_whole("resume_step", resume_step, lower=0)
        if self._path is None or not self._path.exists() or not self._path.stat().st_size:
            return
        if not resume_step:
            last = read_curve(self._path).points[-1].step
            raise InvalidSettingError(
                f"{self._path} has ratings up to step {last:,}: give resume_step={last} to go on, or another file"
            )
        for point, line in read_points(self._path):
            if point.step <= resume_step:
                self._last, self._ladder = point.step, point.ladder
                if self._gains.add(point):
                    self.best_step = point.step
                self._lines.append(f"{line}\n")

    @property
    def is_done(self) -> bool:
        """Whether the training has gained nothing for as long as ``patience`` says."""
        return self._patience is not None and self._gains.without >= self._patience

    def update(self, policy: Any, step: int) -> PolicyRating | None:
        """Rates the policy if it is time; to be called as often as you like.

        Raises:
            InvalidSettingError: The file has ratings on another ladder.
        """
        if not isinstance(step, numbers.Real):
            raise InvalidSettingError(f"step must be a number, not {step!r}: write curve.update(policy, step)")
        if step - self._last < self._every:
            return None
        rating = self._evaluate(policy)
        if self._ladder and self._ladder != rating.ladder:
            raise InvalidSettingError(
                f"{self._path} has ratings on another ladder, so the two do not compare: give the same env, "
                "ladder and seed, another file, or no resume_step"
            )
        is_best, self._last = self._gains.add(rating), step
        if is_best:
            self.best_step = step
        self.ratings.append((step, rating))
        self._write({"step": step, **rating.to_dict()})
        if self._pool is not None:
            self._pool.add_copy(policy, f"step {step}")
        if self._log is not None:
            self._log(_numbers(rating), step)
        if self._on_rating is not None:
            self._on_rating(step, rating, is_best)
        return rating

    def _write(self, row: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        self._lines.append(json.dumps(row, allow_nan=False) + "\n")
        try:
            replace_text(self._path, self._lines)
        except OSError as error:
            sentence = f"cannot write the ratings to {self._path}: {error.strerror or error}"
            warnings.warn(f"{sentence}; the next one will try again", stacklevel=3)

    def callback(self, *, best: str | os.PathLike[str] | None = None) -> Any:
        """A callback for ``model.learn`` of Stable-Baselines3.

        It logs ratings where the library logs losses (TensorBoard, or Weights & Biases that follow it), and ends
        the training once ``is_done``. ``best`` is a file for the model with the highest lower end so far.
        """
        try:
            from stable_baselines3.common.callbacks import BaseCallback
        except ImportError as error:
            raise MissingDependencyError(
                f"a callback of Stable-Baselines3 needs it: {install_command('sb3')}"
            ) from error
        curve = self

        class Callback(BaseCallback):  # type: ignore[misc]  # the library may be missing
            def _on_step(self) -> bool:
                rating = curve.update(self.model, self.num_timesteps)
                if rating is None:
                    return True
                for name, number in _numbers(rating).items():
                    self.logger.record(name, number)
                if best is not None and curve.best_step == self.num_timesteps:
                    self.model.save(best)
                return not curve.is_done

        return Callback()

    def __call__(self, *_: Any) -> NoReturn:  # as ``model.learn(callback=curve)`` does
        raise InvalidSettingError("a RatingCurve is no callback itself: give curve.callback() to model.learn")

    def __str__(self) -> str:
        by_reward = any(rating.by_reward for _, rating in self.ratings)
        rows = []
        for step, rating in self.ratings:
            ends, score = f"{rating.lower:.0f} to {rating.upper:.0f}", f"{100 * rating.total.score:.1f}"
            reward = [f"{rating.total.mean_reward:.3g}"] * by_reward
            rows.append([f"{step:,}", f"{rating.rating:.0f}", ends, score, *reward])
        columns = ["step", "Elo", INTERVAL, "score %"] + ["reward"] * by_reward
        notes = self.ratings[-1][1].notes if self.ratings else ()
        return "\n".join([TextTable(columns, rows, names=()).text(), *(f"Note: {note}" for note in notes)])


def _numbers(rating: PolicyRating) -> dict[str, float]:
    """The numbers of a rating that are finite, by the names that they are logged under."""
    numbers = {
        "rating": rating.rating, "lower": rating.lower, "upper": rating.upper, "score": rating.total.score,
        "reward": rating.total.mean_reward,
    }  # fmt: skip
    return {f"zermelo/{name}": number for name, number in numbers.items() if math.isfinite(number)}
