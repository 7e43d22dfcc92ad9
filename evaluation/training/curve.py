"""A policy's rating as it learns: for any training loop, and as a callback of Stable-Baselines3's.

curve = RatingCurve("classic/connect_four-v3", every=10_000)
model.learn(100_000, callback=curve.callback())
print(curve)
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zermelo.agents.core.checks import check_whole
from zermelo.envs import InvalidSettingError, MissingDependencyError
from zermelo.evaluation.match.sources import EnvSource
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.training.evaluate import PolicyRating, evaluate_policy

__all__ = ["RatingCurve"]


class RatingCurve:
    """Rates a policy every so many steps of its training, by ``evaluate_policy``.

    Args:
        env: As ``evaluate_policy`` takes it.
        every: Steps of the training between two ratings.
        path: A file (JSON lines) that gets each rating as it is found; None for none.
        on_rating: Called with the step, the rating, and whether it is the best so far, say to save the policy.
        **settings: What else ``evaluate_policy`` takes, such as ``ladder``, ``games`` and ``writer``.

    Attributes:
        ratings: Step and rating of each time.

    Raises:
        InvalidSettingError: A setting is none.
    """

    def __init__(
        self,
        env: EnvSource,
        *,
        every: int = 10_000,
        path: str | os.PathLike[str] | None = None,
        on_rating: Callable[[int, PolicyRating, bool], None] | None = None,
        **settings: Any,
    ) -> None:
        check_whole("every", every, lower=1)
        if taken := {"step", "previous"} & set(settings):
            raise InvalidSettingError(f"{', '.join(sorted(taken))} follows from the training: leave it out")
        self.ratings: list[tuple[int, PolicyRating]] = []
        self._env, self._every, self._settings = env, every, settings
        self._path = None if path is None else Path(path)
        self._on_rating = on_rating

    def update(self, policy: Any, step: int) -> PolicyRating | None:
        """Rates the policy if it is time; to be called as often as you like.

        Args:
            policy: As ``evaluate_policy`` takes it.
            step: Of the training so far.

        Raises:
            As ``evaluate_policy`` does.
        """
        last, previous = self.ratings[-1] if self.ratings else (0, None)
        if step - last < self._every:
            return None
        rating = evaluate_policy(policy, self._env, step=step, previous=previous, **self._settings)
        is_best = all(rating.rating > other.rating for _, other in self.ratings)
        self.ratings.append((step, rating))
        if self._path is not None:
            rows = [{"step": at, **found.to_dict()} for at, found in self.ratings]
            replace_text(self._path, (json.dumps(row) + "\n" for row in rows))
        if self._on_rating is not None:
            self._on_rating(step, rating, is_best)
        return rating

    def callback(self) -> Any:
        """A callback for ``model.learn`` of Stable-Baselines3, which also logs ratings where it logs losses.

        Raises:
            MissingDependencyError: Stable-Baselines3 is not installed.
        """
        try:
            from stable_baselines3.common.callbacks import BaseCallback
        except ImportError as error:
            raise MissingDependencyError(
                'a callback of Stable-Baselines3 needs it: pip install "zermelo[sb3]"'
            ) from error
        curve = self

        class Callback(BaseCallback):  # type: ignore[misc]  # the library may be missing
            """Rates the model as it learns."""

            def _on_step(self) -> bool:
                rating = curve.update(self.model, self.num_timesteps)
                if rating is not None:
                    self.logger.record("zermelo/rating", rating.rating)
                    self.logger.record("zermelo/score", rating.score)
                return True

        return Callback()

    def __str__(self) -> str:
        lines = [f"{'step':>12}{'Elo':>7}  95 % interval{'score':>9}"]
        for step, rating in self.ratings:
            interval = f"{rating.lower:.0f} to {rating.upper:.0f}"
            lines.append(f"{step:12,}{rating.rating:7.0f}  {interval:13}{100 * rating.score:7.1f} %")
        return "\n".join(lines)
