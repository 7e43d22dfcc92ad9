"""Trains a MaskablePPO on a board game of PettingZoo, rates it as it learns, and saves it for tournaments.

python scripts/train_ppo.py [--env classic/connect_four-v3] [--opponents random greedy] [--steps 100000]
zermelo tournament classic/connect_four-v3 random greedy "sb3(path='ppo.zip')"

Needs: pip install "zermelo[classic,sb3]"
"""

import argparse

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO

from zermelo.agents import make_agent
from zermelo.envs import make_env
from zermelo.evaluation import evaluate_policy


class OneSeat(gymnasium.Env):
    """One seat of an AEC environment, as a single player sees it. An opponent, another each game, has the others.

    The learner has every seat in turn: who learns from one seat only plays badly from the others.
    """

    def __init__(self, env, opponents):
        self.env = make_env(env)
        self.env.reset()
        first = self.env.possible_agents[0]
        self.observation_space = self.env.observation_space(first)["observation"]
        self.action_space = self.env.action_space(first)
        self.opponents = [make_agent(opponent) for opponent in opponents]
        self.games = 0

    def reset(self, seed=None, options=None):
        """Starts a game, and lets the opponent move until it is the learner's turn."""
        super().reset(seed=seed)
        seeds = [int(number) for number in self.np_random.integers(2**31, size=2)]
        seats = self.env.possible_agents
        self.learner = seats[self.games % len(seats)]
        self.opponent = self.opponents[self.games // len(seats) % len(self.opponents)]
        self.games += 1
        self.env.reset(seed=seeds[0])
        self.opponent.reset(seeds[1])
        self.earned = 0.0
        self._others_move()
        return self._seen(), {}

    def step(self, action):
        """The learner's move and the answers to it."""
        self.earned = 0.0
        self._step(int(action))
        self._others_move()
        return self._seen(), self.earned, self._is_over(), False, {}

    def action_masks(self):
        """What MaskablePPO asks for: the legal actions."""
        return self.env.observe(self.learner)["action_mask"].astype(bool)

    def _others_move(self):
        while not self._is_over() and self.env.agent_selection != self.learner:
            self._step(self.opponent.act(self.env))

    def _step(self, action):
        self.env.step(action)
        self.earned += float(self.env.rewards.get(self.learner, 0.0))

    def _is_over(self):
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    def _seen(self):
        return np.asarray(self.env.observe(self.learner)["observation"])


def train(env, opponents, steps, rounds, out, seed):
    """Trains in rounds, prints a rating after each, and saves the model."""
    model = MaskablePPO(
        "MlpPolicy",
        OneSeat(env, opponents),
        policy_kwargs={"net_arch": [128, 128]},
        n_steps=1024,
        batch_size=256,
        seed=seed,
        device="cpu",
    )
    rating = None
    for _ in range(rounds):
        model.learn(steps // rounds, reset_num_timesteps=False)
        ladder = ["random", "greedy", "alphabeta(depth=2)"]
        rating = evaluate_policy(model, env, ladder=ladder, step=model.num_timesteps, previous=rating)
        print(f"\nafter {model.num_timesteps:,} steps\n{rating}", flush=True)
        model.save(out)
    print(f"\nThe model is in {out}")


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
