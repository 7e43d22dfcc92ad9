"""Trains a policy by PPO on many games at once, in one file as CleanRL has it, and rates it.

python scripts/train_ppo.py [--env zermelo/MNK-v0] [--opponents random greedy] [--steps 1000000]

Needs: scripts/setup torch
"""

import argparse
import time

import numpy as np
import torch
from torch import nn

from zermelo.agents import PolicyAgent
from zermelo.agents.training import make_vec
from zermelo.evaluation import gauntlet


class ActorCritic(nn.Module):
    """A network with two heads: the policy and the value of an observation."""

    def __init__(self, seen, actions, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(seen, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy, self.value = nn.Linear(width, actions), nn.Linear(width, 1)

    def forward(self, seen, mask):
        """Returns the distribution of legal actions, and the value."""
        hidden = self.body(seen)
        logits = self.policy(hidden).masked_fill(mask == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(hidden).squeeze(-1)


def tensors(seen):
    """The observations and masks of all games, for the network."""
    return (
        torch.as_tensor(seen["observation"], dtype=torch.float32).flatten(1),
        torch.as_tensor(seen["action_mask"]),
    )


def rollout(envs, net, seen, length):
    """Plays steps of all games; returns the next observations, the steps and the rewards of finished games."""
    steps, scores = [], []
    for _ in range(length):
        with torch.no_grad():
            observed, mask = tensors(seen)
            choice, value = net(observed, mask)
            action = choice.sample()
        seen, reward, terminated, truncated, _ = envs.step(action.numpy())
        over = terminated | truncated
        scores += reward[over].tolist()
        rewards, ends = torch.as_tensor(reward, dtype=torch.float32), torch.as_tensor(over)
        steps.append((observed, mask, action, choice.log_prob(action), value, rewards, ends))
    return seen, [torch.stack(part) for part in zip(*steps, strict=True)], scores


def advantages(rewards, values, ends, last, discount, smoothing):
    """Generalized advantage estimation: Schulman et al., "High-dimensional continuous control", ICLR (2016)."""
    found, ahead, after = torch.zeros_like(rewards), torch.zeros_like(last), last
    for step in reversed(range(len(rewards))):
        goes_on = 1.0 - ends[step].float()
        error = rewards[step] + discount * after * goes_on - values[step]
        ahead = error + discount * smoothing * goes_on * ahead
        found[step], after = ahead, values[step]
    return found


def train(env, opponents, steps, games, seed, length=16, epochs=4, batches=4, rate=1e-3, entropy=0.01):
    """Trains by PPO: Schulman et al., "Proximal policy optimization algorithms", arXiv:1707.06347 (2017)."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # so small a network is not worth another
    envs = make_vec(env, games, opponent=opponents, seat="random", autoreset="same_step")
    seen, _ = envs.reset(seed=seed)
    observed, _ = tensors(seen)
    net = ActorCritic(observed.shape[1], int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    updates, started = max(steps // (games * length), 1), time.perf_counter()
    for update in range(updates):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - update / updates)
        seen, data, scores = rollout(envs, net, seen, length)
        with torch.no_grad():
            _, last = net(*tensors(seen))
        gains = advantages(data[5], data[4], data[6], last, 1.0, 0.95)
        targets = gains + data[4]
        flat = [part.flatten(0, 1) for part in (*data[:4], gains, targets)]
        for _ in range(epochs):
            for rows in torch.randperm(games * length).chunk(batches):
                observed, mask, action, before, gain, target = (part[rows] for part in flat)
                choice, value = net(observed, mask)
                ratio = (choice.log_prob(action) - before).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                policy_loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                loss = policy_loss + 0.5 * (value - target).square().mean() - entropy * choice.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                optimizer.step()
        if (update + 1) % max(updates // 10, 1) == 0:
            played, rate_now = (update + 1) * games * length, time.perf_counter() - started
            print(f"{played:>10,} steps, {played / rate_now:>9,.0f} a second, mean reward {np.mean(scores):+.3f}")
    return net


def agent_of(net):
    """The policy as an agent that plays its most probable action."""

    def policy(observation, action_mask):
        with torch.no_grad():
            seen = torch.as_tensor(observation, dtype=torch.float32).flatten()[None]
            choice, _ = net(seen, torch.as_tensor(action_mask)[None])
            return int(choice.probs.argmax())

    return PolicyAgent(policy, name="ppo")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="zermelo/MNK-v0")
    parser.add_argument("--opponents", nargs="+", default=["random", "alphabeta(depth=1)"], metavar="AGENT")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--games", type=int, default=512, help="at once")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    learned = agent_of(train(given.env, given.opponents, given.steps, given.games, given.seed))
    print(gauntlet(given.env, [learned, *given.opponents], games=200, seed=given.seed, workers=1))
