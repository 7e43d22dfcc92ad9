"""Trains a network from nothing by self-play with tree search, and rates it as it goes.

python scripts/train_alphazero.py [--env zermelo/ConnectFour-v0] [--minutes 30] [--out alphazero]

The folder gets model.onnx, curve.jsonl (the ratings, drawn by `zermelo report FOLDER`), scalars for TensorBoard
where it is installed, and checkpoint.pt: the same command goes on from there. Ctrl-C ends after the iteration that
goes on. The model is part of an agent,
mcts(evaluator="onnx(path='alphazero/model.onnx')", selection=puct, simulations=400, batch_size=8)

Needs: pip install "zermelo[torch]", "zermelo[tensorboard]" for the scalars, "zermelo[onnx]" to play the model
"""

import argparse
import dataclasses
import importlib.util
import math
import signal
import sys
import time
from pathlib import Path

from rich.console import Console

from zermelo.agents import MCTSAgent
from zermelo.agents.core.checks import check_number
from zermelo.agents.evaluators.model_files import require
from zermelo.agents.evaluators.policy_value import NetworkEvaluator
from zermelo.agents.learning.alphazero import AlphaZero, AlphaZeroSettings, answers_of
from zermelo.envs import ZermeloError
from zermelo.evaluation.training.curve import RatingCurve

LADDER = ("random", "alphabeta(depth=1)", "alphabeta(depth=2)", "alphabeta(depth=4)")
COLUMNS = (
    ("minutes", 8), ("iteration", 10), ("games", 9), ("positions", 11), ("games/s", 8), ("pos./s", 8),
    ("evals/s", 9), ("policy", 7), ("value", 7), ("MiB", 6),
)  # fmt: skip


def memory_mb():
    """The memory of this process, in MiB, where the system says."""
    try:
        import resource
    except ImportError:  # Windows
        return math.nan
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def agent_of(trainer, simulations):
    """The network as it is, as an agent that searches."""
    return MCTSAgent(
        evaluator=NetworkEvaluator(answers_of(trainer.network, trainer.device)),
        selection="puct",
        simulations=simulations,
        batch_size=2,
        name="alphazero",
    )


def writer_of(folder):
    """What writes scalars for TensorBoard, or None where nothing is installed that does."""
    if importlib.util.find_spec("tensorboardX") is None:
        return None
    return importlib.import_module("tensorboardX").SummaryWriter(str(folder))


class Run:
    """A training with its folder: checkpoints, ratings, the table of its progress."""

    def __init__(self, trainer, given, console):
        self.trainer, self.given, self.console = trainer, given, console
        self.folder = Path(given.out)
        self.writer = writer_of(self.folder / "scalars")
        self.curve = RatingCurve(
            given.env,
            every=1,
            path=self.folder / "curve.jsonl",
            resume_step=trainer.positions,
            ladder=LADDER,
            games=given.rating_games,
            seed=given.seed,
            writer=self.writer,
            ladder_path=self.folder / "ladder.json",
        )
        self.stops = False
        self.saved = self.rated = trainer.seconds

    def stop(self, *_):
        """Ends after this iteration; asked again, at once."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.console.print("ending after this iteration (Ctrl-C again: at once, without a checkpoint)")
        self.stops = True

    def train(self):
        """Iterations until the time is over; the one that goes on is finished."""
        trainer, budget = self.trainer, 60 * self.given.minutes
        self.console.print("".join(f"{name:>{width}}" for name, width in COLUMNS), style="bold")
        while trainer.seconds < budget and not self.stops:
            found = trainer.iterate(trainer.seconds / budget)
            self.show(found)
            if trainer.seconds - self.saved >= 60 * self.given.checkpoint_minutes:
                self.save()
            if trainer.seconds - self.rated >= 60 * self.given.rating_minutes:
                self.rate()
        self.save()
        if not self.stops:
            self.rate()

    def show(self, found):
        """A row of the table, and the same as scalars."""
        trainer, seconds = self.trainer, max(found.playing, found.learning)
        values = {
            "games_per_second": found.games / seconds,
            "positions_per_second": found.positions / seconds,
            "evaluations_per_second": found.evaluations / seconds,
            "policy_loss": found.policy_loss,
            "value_loss": found.value_loss,
            "memory_mb": memory_mb(),
        }
        row = (
            f"{trainer.seconds / 60:.1f}", found.number, f"{trainer.self_play.played:,}", f"{trainer.positions:,}",
            *(f"{value:,.{places}f}" for value, places in zip(values.values(), (1, 0, 0, 3, 3, 0), strict=True)),
        )  # fmt: skip
        self.console.print("".join(f"{cell:>{width}}" for cell, (_, width) in zip(row, COLUMNS, strict=True)))
        if self.writer is not None:
            for name, value in values.items():
                if math.isfinite(value):
                    self.writer.add_scalar(f"training/{name}", value, trainer.positions)

    def save(self):
        """Writes the checkpoint and the model."""
        self.trainer.save(self.folder / "checkpoint.pt")
        self.trainer.export(self.folder / "model.onnx")
        self.saved = self.trainer.seconds

    def rate(self):
        """Rates the network as it is."""
        agent = agent_of(self.trainer, self.given.rating_simulations)
        rating = self.curve.update(agent, self.trainer.positions)
        if rating is not None:
            scores = ", ".join(f"{rung.agent} {100 * rung.score:.0f} %" for rung in rating.rungs)
            self.console.print(f"rating {rating.rating:.0f} Elo ({scores})", style="green")
        self.rated = self.trainer.seconds


def settings_of(given):
    """The training's settings, of those that were given."""
    names = [field.name for field in dataclasses.fields(AlphaZeroSettings)]
    return AlphaZeroSettings(
        **{name: value for name in names if (value := getattr(given, name, None)) is not None}
    )


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="zermelo/ConnectFour-v0")
    parser.add_argument("--out", default="alphazero", help="folder for all that is written")
    parser.add_argument("--minutes", type=float, default=30.0, help="of training, ratings not counted")
    parser.add_argument("--device", default="cpu", help="PyTorch's name of it, such as cuda")
    parser.add_argument("--threads", type=int, help="for the games; one less than there are processors")
    parser.add_argument("--checkpoint-minutes", type=float, default=3.0)
    parser.add_argument("--rating-minutes", type=float, default=6.0)
    parser.add_argument("--rating-games", type=int, default=10, help="against each of the ladder")
    parser.add_argument("--rating-simulations", type=int, default=64)
    settings = parser.add_argument_group("settings", "as AlphaZeroSettings explains them, with their defaults")
    for field in dataclasses.fields(AlphaZeroSettings):
        name = "--" + field.name.replace("_", "-")
        if isinstance(field.default, bool):
            settings.add_argument(name, action=argparse.BooleanOptionalAction, help=str(field.default))
        else:
            settings.add_argument(name, type=type(field.default), help=f"{field.default:,}")
    return parser


def main():
    given = arguments().parse_args()
    given.seed = given.seed or 0
    check_number("minutes", given.minutes, lower=0, above=True)
    console = Console(highlight=False)
    folder = Path(given.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"train_alphazero.py: cannot make the folder {folder} ({error.strerror}): choose another --out")
    torch = require("torch", "PyTorch", "torch")
    if given.device == "cpu":
        # One thread for the games, one for learning: more for one operation get in each other's way.
        torch.set_num_threads(1)
    began = time.perf_counter()
    trainer = AlphaZero(given.env, settings_of(given), device=given.device, threads=given.threads)
    if (folder / "checkpoint.pt").exists():
        changed = trainer.restore(folder / "checkpoint.pt")
        console.print(f"goes on from {folder / 'checkpoint.pt'}: {trainer.positions:,} positions so far")
        if changed:
            console.print(f"with other settings than before: {', '.join(changed)}")
    run = Run(trainer, given, console)
    signal.signal(signal.SIGINT, run.stop)
    run.train()
    console.print(f"{folder / 'model.onnx'}: {time.perf_counter() - began:,.0f} seconds, {memory_mb():,.0f} MiB")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the last checkpoint is as it was")
    except (ZermeloError, OSError) as error:
        sys.exit(f"train_alphazero.py: {error}")
