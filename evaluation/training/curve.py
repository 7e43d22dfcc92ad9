"""A policy's rating as it learns: for any training loop, and as a callback of Stable-Baselines3 and Lightning.

curve = RatingCurve("classic/connect_four-v3", every=10_000, path="runs/ppo/curve.jsonl")
model.learn(100_000, callback=curve.callback())
print(curve)

``zermelo report runs/ppo`` then draws the file, also while the training goes on.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from zermelo.agents.core.checks import check_whole
from zermelo.envs import InvalidSettingError, MissingDependencyError
from zermelo.evaluation.match.sources import EnvSource
from zermelo.evaluation.storage.curves import append_lines, keep_points, read_curve
from zermelo.evaluation.training.evaluate import evaluate_policy
from zermelo.evaluation.training.rating import PolicyRating

_LIGHTNING: Final = ("lightning.pytorch", "pytorch_lightning")


class RatingCurve:
    """Rates a policy every so many steps of its training, by ``evaluate_policy``.

    Args:
        env: As ``evaluate_policy`` takes it.
        every: Steps of the training between two ratings.
        path: A file (JSON lines) that gets each rating as it is found, which ``zermelo report`` draws; None for
            none. A disk that is full is warned of, and does not stop the training.
        resume_step: Where the training goes on from: the file's ratings up to this step stay. 0 begins a new file.
        on_rating: Called with the step, the rating, and whether it is the best so far, say to save the policy.
        **settings: What else ``evaluate_policy`` takes, such as ``ladder``, ``games``, ``writer``, ``judge_nodes``
            and ``exploitability``.

    Attributes:
        ratings: Step and rating of each time.

    Raises:
        InvalidSettingError: A setting is none.
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
        **settings: Any,
    ) -> None:
        check_whole("every", every, lower=1)
        if taken := {"step", "previous"} & set(settings):
            raise InvalidSettingError(f"{', '.join(sorted(taken))} follows from the training: leave it out")
        self.ratings: list[tuple[int, PolicyRating]] = []
        self._env, self._every, self._settings = env, every, settings
        self._path = None if path is None else Path(path)
        self._on_rating = on_rating
        self._last, self._best, self._ladder = 0, -math.inf, ""
        self._unwritten: list[Mapping[str, Any]] = []
        self._is_new = True
        check_whole("resume_step", resume_step, lower=0)
        if not resume_step and self._path is not None and self._path.exists() and self._path.stat().st_size:
            read_curve(self._path)  # only a training run is overwritten
        if resume_step and self._path is not None and self._path.exists():
            before = keep_points(self._path, resume_step)
            if before is not None:
                self._last, self._ladder, self._is_new = before.points[-1].step, before.ladder, False
                self._best = max(point.strength for point in before.points)

    def update(self, policy: Any, step: int) -> PolicyRating | None:
        """Rates the policy if it is time; to be called as often as you like.

        Args:
            policy: As ``evaluate_policy`` takes it.
            step: Of the training so far.

        Raises:
            InvalidSettingError: The file has ratings on another ladder.
            ZermeloError: As ``evaluate_policy`` does.
        """
        if step - self._last < self._every:
            return None
        previous = self.ratings[-1][1] if self.ratings else None
        rating = evaluate_policy(policy, self._env, step=step, previous=previous, **self._settings)
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
        self._unwritten.append(row)
        try:
            append_lines(self._path, self._unwritten, is_new=self._is_new)
        except OSError as error:
            reason = error.strerror or error
            warnings.warn(
                f"cannot write the ratings to {self._path}: {reason}; the next one will try again", stacklevel=3
            )
            return
        self._unwritten, self._is_new = [], False

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
                for name, value in [] if rating is None else _logged(rating):
                    self.logger.record(name, value)
                return True

        return Callback()

    def hooks(self, policy: Callable[[Any], Any] | None = None) -> Any:
        """A callback for trainers that call hooks as Lightning's does, such as ``on_train_epoch_end``.

        It rates after batches and epochs when it is time by ``trainer.global_step``, and logs where the module has
        a ``log(name, value)``. For Lightning, import it first.

        Args:
            policy: What to rate of the module that is trained; by default the module itself.
        """
        curve, chosen = self, policy or (lambda module: module)

        class Hooks(_callback_class()):  # type: ignore[misc]  # whose class depends on what is imported
            """Rates the module as it learns."""

            def on_train_batch_end(self, trainer: Any, module: Any, *_: Any, **__: Any) -> None:
                self._rate(trainer, module)

            def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
                self._rate(trainer, module)

            def _rate(self, trainer: Any, module: Any) -> None:
                step = getattr(trainer, "global_step", None)
                if not isinstance(step, int):
                    raise InvalidSettingError(
                        f"{type(trainer).__name__} has no global_step that counts its steps: call "
                        "RatingCurve.update(policy, step) yourself"
                    )
                rating = curve.update(chosen(module), step)
                log = getattr(module, "log", None)
                if rating is not None and callable(log):
                    for name, value in _logged(rating):
                        log(name, value)

        return Hooks()

    def __str__(self) -> str:
        by_reward = any(rating.scoring == "rewards" for _, rating in self.ratings)
        judged = any(rating.judged for _, rating in self.ratings)
        exploited = any(math.isfinite(rating.exploitability) for _, rating in self.ratings)
        heading = f"{'step':>12}{'Elo':>7}  {'95 % interval':16}{'score':>8}"
        lines = [heading + "   reward" * by_reward + "  optimal" * judged + "  exploitability" * exploited]
        for step, rating in self.ratings:
            interval = f"{rating.lower:.0f} to {rating.upper:.0f}"
            line = f"{step:12,}{rating.rating:7.0f}  {interval:16}{100 * rating.score:6.1f} %"
            line += f"{rating.mean_reward:9.3g}" if by_reward else ""
            line += f"{100 * rating.accuracy:7.1f} %" if judged else ""
            lines.append(line + (f"{rating.exploitability:16.4g}" if exploited else ""))
        return "\n".join(lines)


def _logged(rating: PolicyRating) -> list[tuple[str, float]]:
    """What training loops log of a rating."""
    values = {
        "rating": rating.rating,
        "score": rating.score,
        "reward": rating.mean_reward,
        "accuracy": rating.accuracy,
        "exploitability": rating.exploitability,
    }
    return [(f"zermelo/{name}", value) for name, value in values.items() if math.isfinite(value)]


def _callback_class() -> type:
    """Lightning's class of callbacks where the program has imported it; any other trainer takes any object."""
    for name in _LIGHTNING:
        found = getattr(sys.modules.get(name), "Callback", None)
        if isinstance(found, type):
            return found
    return object
