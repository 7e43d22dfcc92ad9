"""Training by self-play: the network plays, learns from its games, and plays better ones.

    trainer = AlphaZero("zermelo/ConnectFour-v0", AlphaZeroSettings(seed=1))
    while trainer.positions < 100_000:
        print(trainer.iterate())
    trainer.export("model.onnx")

Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play",
Science 362 (2018).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zermelo.agents.core.settings import check_number
from zermelo.agents.core.tasks import Tasks
from zermelo.agents.evaluators.model_files import require
from zermelo.agents.learning.alphazero.actors import ActorWork, play_positions
from zermelo.agents.learning.alphazero.network import (
    answers_of,
    export_layers,
    export_onnx,
    make_network,
    network_device,
    read_checkpoint,
    write_checkpoint,
)
from zermelo.agents.learning.alphazero.self_play import (
    AlphaZeroSettings,
    Lesson,
    Replay,
    Samples,
    SelfPlay,
    opposed_game,
)
from zermelo.envs import InvalidSettingError

_SIZES = ("games", "actors", "channels", "blocks", "dense", "buffer")
"""Settings that a checkpoint cannot go on without."""
_LAST_RATE = 0.05
"""The learning rate at the end, as a share of the first."""


class Iteration(NamedTuple):
    """Results of a training iteration, from 1 on.

    Attributes:
        games, positions: Games that ended in it, and their positions to learn from.
        evaluations: Positions that the network judged.
        playing, learning: Seconds that the two took, side by side.
        policy_loss, value_loss: Mean cross entropy and squared error; NaN in the first iteration.
    """

    number: int
    games: int
    positions: int
    evaluations: int
    playing: float
    learning: float
    policy_loss: float
    value_loss: float


class AlphaZero:
    """A network that learns a game by playing against itself.

    Args:
        env: A name that ``make`` takes, rules, or an environment: two opposed players who see the whole state.
        settings: How to play and to learn.
        device: PyTorch's name of the device for the network.
        threads: Threads that play; by default one fewer than there are processors.
        runner: Plays elsewhere, as ``zermelo.evaluation.runners`` do, in ``settings.actors`` tasks; this process
            learns. How many workers there are changes nothing.

    Attributes:
        network: The ``torch.nn.Module``.
        iterations, seconds: Iterations so far, and the time they took.

    Raises:
        UnsupportedGameError: The game is of another kind, or its rules do not compile.
        MissingDependencyError: PyTorch is not installed.
        InvalidSettingError: There is no such device.
    """

    def __init__(
        self,
        env: Any,
        settings: AlphaZeroSettings | None = None,
        *,
        device: str = "cpu",
        threads: int | None = None,
        runner: Any = None,
    ) -> None:
        torch = require("torch", "PyTorch", "torch")
        self.settings = settings = AlphaZeroSettings() if settings is None else settings
        self.device = network_device(device)
        self.game = opposed_game(env)
        self.self_play = SelfPlay(self.game, settings, threads)
        self.replay = Replay(
            self.game, settings.buffer, value_mix=settings.value_mix, symmetries=settings.symmetries
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            network = make_network(self.self_play.shape, self.self_play.choices, settings)
            self.network = network.to(self.device, memory_format=torch.channels_last)
        self._optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self._generator = np.random.default_rng(settings.seed)
        self._torch, self._runner = torch, runner
        self._actors: list[dict[str, Any] | None] = [None] * settings.actors
        self.iterations, self.seconds, self._new = 0, 0.0, 0

    @property
    def positions(self) -> int:
        """Number of positions so far."""
        return self.replay.added

    def iterate(self, progress: float = 0.0) -> Iteration:
        """Plays new positions and meanwhile learns from those before, each in a thread.

        On two processors say ``torch.set_num_threads(1)``. The learning rate falls with ``progress``, the part of
        the training that is over, from 0 to 1.
        """
        check_number("progress", progress)
        began, games, asked = time.perf_counter(), self.self_play.played, self.self_play.asked
        play = self._play_here() if self._is_here else self._play_by_tasks()
        with ThreadPoolExecutor(1) as pool:
            learning = pool.submit(self._learn, progress)
            found = play()
            played = time.perf_counter()
            learned, losses = learning.result()
        self.replay.add(found)
        self._new = len(found.outcomes)
        self.iterations += 1
        self.seconds += time.perf_counter() - began
        return Iteration(
            self.iterations,
            self.self_play.played - games,
            self._new,
            self.self_play.asked - asked,
            played - began,
            learned,
            *losses,
        )

    @property
    def _is_here(self) -> bool:
        return self._runner is None and self.settings.actors == 1

    def _play_here(self) -> Callable[[], Samples]:
        answer = answers_of(self.network, self.device)
        return lambda: play_positions(self.self_play, answer, self.settings.positions)

    def _play_by_tasks(self) -> Callable[[], Samples]:
        weights = {name: part.cpu().numpy().copy() for name, part in self.network.state_dict().items()}
        work = ActorWork(self.game.rules, self.settings, weights)

        def play() -> Samples:
            with contextlib.closing(Tasks(work, self._runner)) as tasks:
                found = list(tasks.map(enumerate(self._actors)))
            self._actors = [state for _, state in found]
            self.self_play.played, self.self_play.asked = (
                sum(state[name] for _, state in found) for name in ("played", "asked")
            )
            return Samples.joined([samples for samples, _ in found])

        return play

    def _learn(self, progress: float) -> tuple[float, tuple[float, float]]:
        began, settings, share = time.perf_counter(), self.settings, min(max(progress, 0.0), 1.0)
        steps = round(self._new * settings.reuse / settings.batch_size)
        if steps == 0:
            return 0.0, (math.nan, math.nan)
        factor = _LAST_RATE + (1 - _LAST_RATE) * (1 + math.cos(math.pi * share)) / 2
        for group in self._optimizer.param_groups:
            group["lr"] = settings.learning_rate * factor
        self.network.train()
        losses = [self._step(self.replay.draw(settings.batch_size, self._generator)) for _ in range(steps)]
        self.network.eval()
        policy, value = np.mean(losses, axis=0).tolist()
        return time.perf_counter() - began, (policy, value)

    def _step(self, lesson: Lesson) -> tuple[float, float]:
        torch = self._torch
        seen, policies, values = (torch.from_numpy(part).to(self.device) for part in lesson)
        logits, found = self.network(seen.float())
        illegal = policies < 0
        logarithms = torch.log_softmax(logits.masked_fill(illegal, -torch.inf), 1).masked_fill(illegal, 0.0)
        policy_loss = -(policies * logarithms).sum(1).mean()
        value_loss = (found - values).square().mean()
        self._optimizer.zero_grad(set_to_none=True)
        (policy_loss + value_loss).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self._optimizer.step()
        return policy_loss.item(), value_loss.item()

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, as a whole or not at all.

        The searches of the games' next moves begin anew, so that what follows is what follows ``restore``.

        Raises:
            InvalidSettingError: It cannot be written; an older one is still there.
        """
        if self._is_here:
            self.self_play.begin_searches()
            self._actors = [self.self_play.state()]
        actors = [state or {} for state in self._actors]
        content = {
            "format": 1,
            "game": repr(self.game),
            "settings": asdict(self.settings),
            "network": self.network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "generator": json.dumps(self._generator.bit_generator.state),
            "iterations": self.iterations,
            "seconds": self.seconds,
            "new": self._new,
        }
        games = {f"{number} {name}": part for number, state in enumerate(actors) for name, part in state.items()}
        write_checkpoint(Path(path), {**content, **games, **self.replay.state()})

    def restore(self, path: str | os.PathLike[str]) -> list[str]:
        """Goes on from a checkpoint of the same game; returns the names of the settings that were others then.

        Raises:
            InvalidSettingError: It cannot be read, or is of another game, or of a network, a number of games or a
                buffer of another size.
        """
        content = read_checkpoint(Path(path))
        try:
            if content["game"] != repr(self.game):
                raise InvalidSettingError(
                    f"{path} is a checkpoint of {content['game']}, not of {self.game!r}: choose another folder"
                )
            settings = asdict(self.settings)
            other = [name for name, value in settings.items() if content["settings"].get(name) != value]
            if sizes := [name for name in other if name in _SIZES]:
                raise InvalidSettingError(
                    f"{path} was written with other settings ({', '.join(sizes)}): give the same, or choose "
                    "another folder"
                )
            self.network.load_state_dict(content["network"])
            self._optimizer.load_state_dict(content["optimizer"])
            self._generator.bit_generator.state = json.loads(content["generator"])
            self.iterations, self._new = int(content["iterations"]), int(content["new"])
            self.seconds = float(content["seconds"])
            self.replay.restore(content)
            states = [
                {name.partition(" ")[2]: part for name, part in content.items() if name.startswith(f"{number} ")}
                for number in range(self.settings.actors)
            ]
            self._actors = [state or None for state in states]
            if self._is_here:
                self.self_play.restore(states[0])
            else:
                self.self_play.played, self.self_play.asked = (
                    sum(state.get(name, 0) for state in states) for name in ("played", "asked")
                )
        except InvalidSettingError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RuntimeError) as error:
            raise InvalidSettingError(
                f"{path} is a damaged checkpoint ({type(error).__name__}): remove it, or choose another folder"
            ) from error
        return other

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the network, as an agent's policy or evaluator.

        ``onnx(path=...)`` reads ONNX, ``dense(path=...)`` a file that ends in ``.npz``, of dense layers.
        """
        if Path(path).suffix == ".npz":
            export_layers(self.network, Path(path))
        else:
            export_onnx(self.network, self.self_play.shape, Path(path))
