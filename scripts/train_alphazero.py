"""Trains a network from nothing by self-play with tree search, and rates it as it goes.

python scripts/train_alphazero.py [--env zermelo/ConnectFour-v0] [--minutes 30] [--out alphazero]

The folder gets model.onnx, curve.jsonl (the ratings, drawn by `zermelo report FOLDER`) and checkpoint.pt: the
same command goes on from there. Ctrl-C ends after the iteration that goes on. With --runner ray --actors 64 a
cluster plays in 64 tasks, and this process learns. The model is part of an agent,
mcts(evaluator="onnx(path='alphazero/model.onnx')", selection=puct, simulations=400, batch_size=8)
With --dense it is also in model.npz, for mcts(evaluator="dense(path='alphazero/model.npz')", selection=puct, ...)

Needs: pip install "zermelo[torch]", "zermelo[onnx]" to play the model
"""

import argparse
import dataclasses
import signal
import sys
from pathlib import Path

from zermelo.agents import MCTSAgent
from zermelo.agents.core.settings import check_number
from zermelo.agents.evaluators.model_files import require
from zermelo.agents.evaluators.policy_value import NetworkEvaluator
from zermelo.agents.learning.alphazero import AlphaZero, AlphaZeroSettings, answers_of
from zermelo.envs import ZermeloError
from zermelo.evaluation import RatingCurve
from zermelo.evaluation.runners import RunnerChoice
from zermelo.evaluation.runners.work import SerialRunner
from zermelo.evaluation.tournament.run import make_runner

LADDER = ("random", "alphabeta(depth=1)", "alphabeta(depth=2)", "alphabeta(depth=4)")


def train(trainer, given):
    """Iterates until the time is over or Ctrl-C is pressed, with checkpoints and ratings on the way."""
    folder, stopped = Path(given.out), []
    curve = RatingCurve(
        given.env,
        every=1,
        path=folder / "curve.jsonl",
        resume_step=trainer.positions,
        ladder=LADDER,
        games=given.rating_games,
        seed=given.seed or 0,
    )

    def stop(*_):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("ending after this iteration (Ctrl-C again: at once, without a checkpoint)")
        stopped.append(True)

    def save():
        trainer.save(folder / "checkpoint.pt")
        trainer.export(folder / "model.onnx")
        if trainer.settings.dense:
            trainer.export(folder / "model.npz")

    signal.signal(signal.SIGINT, stop)
    saved = rated = began = trainer.seconds
    while trainer.seconds < 60 * given.minutes and not stopped:
        is_first = trainer.seconds == began
        print_iteration(trainer, trainer.iterate(trainer.seconds / (60 * given.minutes)), is_first)
        if trainer.seconds - saved >= 60 * given.checkpoint_minutes:
            save()
            saved = trainer.seconds
        if trainer.seconds - rated >= 60 * given.rating_minutes:
            rate(trainer, curve, given.rating_simulations)
            rated = trainer.seconds
    save()
    if not stopped:
        rate(trainer, curve, given.rating_simulations)


def print_iteration(trainer, done, is_first):
    """Prints a row of the table of progress, under its heading if it is the first."""
    seconds = max(done.playing, done.learning)
    cells = {
        "minutes": f"{trainer.seconds / 60:.1f}",
        "iteration": done.number,
        "games": f"{trainer.self_play.played:,}",
        "positions": f"{trainer.positions:,}",
        "games/s": f"{done.games / seconds:,.1f}",
        "pos./s": f"{done.positions / seconds:,.0f}",
        "evals/s": f"{done.evaluations / seconds:,.0f}",
        "policy": f"{done.policy_loss:.3f}",
        "value": f"{done.value_loss:.3f}",
    }
    if is_first:
        print("".join(f"{name:>11}" for name in cells))
    print("".join(f"{cell:>11}" for cell in cells.values()))


def rate(trainer, curve, simulations):
    """Rates the network as it is."""
    network = NetworkEvaluator(answers_of(trainer.network, trainer.device))
    agent = MCTSAgent(evaluator=network, selection="puct", simulations=simulations, batch_size=2)
    rating = curve.update(agent, trainer.positions)
    if rating is not None:
        scores = ", ".join(f"{name} {100 * row.score:.0f} %" for name, row in rating.against.items())
        print(f"rating {rating.rating:.0f} Elo ({scores})")


def arguments():
    """The options, those of ``AlphaZeroSettings`` among them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="zermelo/ConnectFour-v0")
    parser.add_argument("--out", default="alphazero", help="folder for all that is written")
    parser.add_argument("--minutes", type=float, default=30.0, help="of training, ratings not counted")
    parser.add_argument("--device", default="cpu", help="PyTorch's name of it, such as cuda")
    parser.add_argument("--threads", type=int, help="for the games; one less than there are processors")
    parser.add_argument("--workers", type=int, help="processes that play, or Ray's tasks at a time")
    parser.add_argument("--runner", choices=list(RunnerChoice), default="local", help="who plays the --actors")
    parser.add_argument("--ray-address", help="by default RAY_ADDRESS, else a new cluster is started")
    parser.add_argument("--checkpoint-minutes", type=float, default=3.0)
    parser.add_argument("--rating-minutes", type=float, default=6.0)
    parser.add_argument("--rating-games", type=int, default=10, help="against each of the ladder")
    parser.add_argument("--rating-simulations", type=int, default=64)
    group = parser.add_argument_group("settings", "as AlphaZeroSettings explains them, with their defaults")
    for field in dataclasses.fields(AlphaZeroSettings):
        is_flag = isinstance(field.default, bool)
        kind = {"action": argparse.BooleanOptionalAction} if is_flag else {"type": type(field.default)}
        group.add_argument(f"--{field.name.replace('_', '-')}", help=f"{field.default:,}", **kind)
    return parser


def main():
    given = arguments().parse_args()
    check_number("minutes", given.minutes, lower=0, above=True)
    checkpoint = Path(given.out, "checkpoint.pt")
    try:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(
            f"train_alphazero.py: cannot make the folder {given.out} ({error.strerror}): choose another --out"
        )
    torch = require("torch", "PyTorch", "torch")
    if given.device == "cpu":
        torch.set_num_threads(1)  # one thread for the games, one for learning: more get in each other's way
    names = {field.name for field in dataclasses.fields(AlphaZeroSettings)}
    settings = {name: value for name, value in vars(given).items() if name in names and value is not None}
    runner = make_runner(given.workers, given.runner, given.ray_address)
    trainer = AlphaZero(
        given.env,
        AlphaZeroSettings(**settings),
        device=given.device,
        threads=given.threads,
        runner=None if isinstance(runner, SerialRunner) else runner,
    )
    if checkpoint.exists():
        changed = trainer.restore(checkpoint)
        print(f"goes on from {checkpoint}: {trainer.positions:,} positions so far")
        if changed:
            print(f"with other settings than before: {', '.join(changed)}")
    train(trainer, given)
    print(f"the model is in {checkpoint.with_name('model.onnx')}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the last checkpoint is as it was")
    except (ZermeloError, OSError) as error:
        sys.exit(f"train_alphazero.py: {error}")
