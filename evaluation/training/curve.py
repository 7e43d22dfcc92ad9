"""A policy's rating as it learns: for any training loop, and as a callback of Stable-Baselines3."""

from __future__ import annotations

import functools
import json
import math
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zermelo.agents.base.settings import check_whole
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.installing import install_command
from zermelo.evaluation.match.sources import EnvSource
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.curves import read_curve, read_points
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.text_table import TextTable
from zermelo.evaluation.training.evaluate import LadderSource, PolicyRating, evaluate_policy


@checked_call
class RatingCurve:
    """Rates a policy every so many steps of its training, by ``evaluate_policy``.

    Args:
        env: As ``evaluate_policy`` takes it; so are ``ladder`` and the settings after it.
        every: Steps of the training between two ratings.
        path: A file (JSON lines) that gets each rating as it is found, which ``zermelo report`` draws; None for
            none. A disk that is full is warned of, and does not stop the training.
        resume_step: Where the training goes on from: the file's ratings up to this step stay. 0 begins a new file.
        on_rating: Called with the step, the rating, and whether it is the best so far, say to save the policy.

    Attributes:
        ratings: Step and rating of each time.

    Raises:
        StoreError: The file is there and is no training run.
    """

    def __init__(
        self,
        env: EnvSource,
        *,
        every: int = 10_000,
        path: str | os.PathLike[str] | None = None,
        resume_step: int = 0,
        on_rating: Callable[[int, PolicyRating, bool], None] | None = None,
        ladder: LadderSource = None,
        interval: float | None = None,
        games: int | None = None,
        seed: int = 0,
    ) -> None:
        check_whole("every", every, lower=1)
        self.ratings: list[tuple[int, PolicyRating]] = []
        self._every = every
        self._evaluate = functools.partial(
            evaluate_policy, env=env, ladder=ladder, interval=interval, games=games, seed=seed
        )
        self._path = None if path is None else Path(path)
        self._on_rating = on_rating
        self._last, self._best, self._ladder = 0, -math.inf, ""
        self._lines: list[str] = []
        check_whole("resume_step", resume_step, lower=0)
        if self._path is None or not self._path.exists() or not self._path.stat().st_size:
            return
        if not resume_step:
            read_curve(self._path)  # only a training run is overwritten
        for point, line in read_points(self._path) if resume_step else ():
            if point.step <= resume_step:
                self._last, self._ladder, self._best = point.step, point.ladder, max(self._best, point.strength)
                self._lines.append(f"{line}\n")

    def update(self, policy: Any, step: int) -> PolicyRating | None:
        """Rates the policy if it is time; to be called as often as you like.

        Raises:
            InvalidSettingError: The file has ratings on another ladder.
        """
        if step - self._last < self._every:
            return None
        rating = self._evaluate(policy)
        if self._ladder and self._ladder != rating.ladder:
            raise InvalidSettingError(
                f"{self._path} has ratings on another ladder, so the two do not compare: give the same env, "
                "ladder and seed, another file, or no resume_step"
            )
        is_best = rating.strength > self._best
        self._last, self._best = step, max(self._best, rating.strength)
        self.ratings.append((step, rating))
        self._write({"step": step, **rating.to_dict()})
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

    def callback(self) -> Any:
        """A callback for ``model.learn`` of Stable-Baselines3, which also logs ratings where it logs losses."""
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
                if rating is not None:
                    self.logger.record("zermelo/rating", rating.rating)
                    self.logger.record("zermelo/score", rating.total.score)
                    if math.isfinite(rating.total.mean_reward):
                        self.logger.record("zermelo/reward", rating.total.mean_reward)
                return True

        return Callback()

    def __str__(self) -> str:
        by_reward = any(rating.by_reward for _, rating in self.ratings)
        rows = []
        for step, rating in self.ratings:
            ends, score = f"{rating.lower:.0f} to {rating.upper:.0f}", f"{100 * rating.total.score:.1f}"
            reward = [f"{rating.total.mean_reward:.3g}"] * by_reward
            rows.append([f"{step:,}", f"{rating.rating:.0f}", ends, score, *reward])
        columns = ["step", "Elo", INTERVAL, "score %"] + ["reward"] * by_reward
        return TextTable(columns, rows, names=()).text()
