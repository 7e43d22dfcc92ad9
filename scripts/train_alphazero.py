"""Trains a network from nothing by self-play with tree search, and rates it as it goes.

python scripts/train_alphazero.py [--env zermelo/ConnectFour-v0] [--minutes 30] [--out alphazero]

The folder gets model.onnx, curve.jsonl (the ratings, drawn by `zermelo report FOLDER`) and checkpoint.pt: the same
command goes on from there. Ctrl-C ends after the iteration that goes on. The model is part of an agent,
mcts(evaluator="onnx(path='alphazero/model.onnx')", selection=puct, simulations=400, batch_size=8)

Needs: pip install "zermelo[torch]", "zermelo[onnx]" to play the model
"""

import argparse
import dataclasses
import signal
import sys
import time
from pathlib import Path

from zermelo.agents import MCTSAgent
from zermelo.agents.core.checks import check_number
from zermelo.agents.evaluators.model_files import require
from zermelo.agents.evaluators.policy_value import NetworkEvaluator
from zermelo.agents.learning.alphazero import AlphaZero, AlphaZeroSettings, answers_of
from zermelo.envs import ZermeloError
from zermelo.evaluation import RatingCurve

LADDER = ("random", "alphabeta(depth=1)", "alphabeta(depth=2)", "alphabeta(depth=4)")
COLUMNS = (
    ("minutes", 8), ("iteration", 10), ("games", 9), ("positions", 11), ("games/s", 8), ("pos./s", 8),
    ("evals/s", 9), ("policy", 7), ("value", 7),
)  # fmt: skip


class Run:
    """A training with its folder: checkpoints, ratings, the table of its progress."""

    def __init__(self, trainer, given):
        self.trainer, self.given = trainer, given
        self.folder = Path(given.out)
        self.curve = RatingCurve(
            given.env,
            every=1,
            path=self.folder / "curve.jsonl",
            resume_step=trainer.positions,
            ladder=LADDER,
            games=given.rating_games,
            seed=given.seed,
            ladder_path=self.folder / "anchors",
        )
        self.stops = False
        self.saved = self.rated = trainer.seconds

    def stop(self, *_):
        """Ends after this iteration; asked again, at once."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("ending after this iteration (Ctrl-C again: at once, without a checkpoint)")
        self.stops = True

    def train(self):
        """Iterations until the time is over; the one that goes on is finished."""
        trainer, budget = self.trainer, 60 * self.given.minutes
        print("".join(f"{name:>{width}}" for name, width in COLUMNS))
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
        """Prints a row of the table."""
        trainer, seconds = self.trainer, max(found.playing, found.learning)
        row = (
            f"{trainer.seconds / 60:.1f}", found.number, f"{trainer.self_play.played:,}", f"{trainer.positions:,}",
            f"{found.games / seconds:,.1f}", f"{found.positions / seconds:,.0f}",
            f"{found.evaluations / seconds:,.0f}", f"{found.policy_loss:.3f}", f"{found.value_loss:.3f}",
        )  # fmt: skip
        print("".join(f"{cell:>{width}}" for cell, (_, width) in zip(row, COLUMNS, strict=True)))

    def save(self):
        """Writes the checkpoint and the model."""
        self.trainer.save(self.folder / "checkpoint.pt")
        self.trainer.export(self.folder / "model.onnx")
        self.saved = self.trainer.seconds

    def rate(self):
        """Rates the network as it is."""
        network = NetworkEvaluator(answers_of(self.trainer.network, self.trainer.device))
        simulations = self.given.rating_simulations
        agent = MCTSAgent(evaluator=network, selection="puct", simulations=simulations, batch_size=2)
        rating = self.curve.update(agent, self.trainer.positions)
        if rating is not None:
            scores = ", ".join(f"{name} {100 * row.score:.0f} %" for name, row in rating.against.items())
            print(f"rating {rating.rating:.0f} Elo ({scores})")
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
        print(f"goes on from {folder / 'checkpoint.pt'}: {trainer.positions:,} positions so far")
        if changed:
            print(f"with other settings than before: {', '.join(changed)}")
    run = Run(trainer, given)
    signal.signal(signal.SIGINT, run.stop)
    run.train()
    print(f"{folder / 'model.onnx'}: {time.perf_counter() - began:,.0f} seconds")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the last checkpoint is as it was")
    except (ZermeloError, OSError) as error:
        sys.exit(f"train_alphazero.py: {error}")
