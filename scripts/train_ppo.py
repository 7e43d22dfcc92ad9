"""Trains a MaskablePPO on a board game of PettingZoo, rates it as it learns, and saves it for tournaments.

python scripts/train_ppo.py [--env classic/connect_four-v3] [--opponents random greedy] [--steps 100000]
zermelo tournament classic/connect_four-v3 random greedy "sb3(path='ppo.zip')"

Needs: pip install "zermelo[classic,sb3]"
"""

import argparse
from pathlib import Path

from sb3_contrib import MaskablePPO

from zermelo.agents.learning import OpponentEnv
from zermelo.evaluation import RatingCurve


def train(env, opponents, steps, rounds, out, seed):
    """Trains in rounds, prints a rating after each, and saves the model."""
    model = MaskablePPO(
        "MlpPolicy",
        OpponentEnv(env, opponents, observation="array"),
        policy_kwargs={"net_arch": [128, 128]},
        n_steps=1024,
        batch_size=256,
        seed=seed,
        device="cpu",
    )

    def told(step, rating, is_best):
        print(f"\nafter {step:,} steps\n{rating}", flush=True)
        if is_best:
            model.save(out)

    ladder = ["random", "greedy", "alphabeta(depth=2)"]
    path = Path(out).with_suffix(".jsonl")
    curve = RatingCurve(env, every=steps // rounds, ladder=ladder, on_rating=told, path=path)
    model.learn(steps, callback=curve.callback())
    print(f"\n{curve}\n\nThe best model is in {out}; zermelo report --training {path} draws the ratings")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="classic/connect_four-v3")
    parser.add_argument("--opponents", nargs="+", default=["random", "greedy"], metavar="AGENT")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5, help="ratings on the way")
    parser.add_argument("--out", default="ppo.zip")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    train(arguments.env, arguments.opponents, arguments.steps, arguments.rounds, arguments.out, arguments.seed)
