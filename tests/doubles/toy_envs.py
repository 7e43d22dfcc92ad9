"""Small environments with known games in them, for tests of the driver and the tournament."""

import os
import time

import gymnasium
import numpy as np
from doubles.game_envs import SmallEnv
from gymnasium.spaces import Discrete


class ToyEnv(SmallEnv):
    """Agents in turn pick 0, 1 or 2; after ``rounds`` rounds the greatest sum wins.

    Rewards are paid as they are earned: a pick pays its number to the picker.
    """

    metadata = {"name": "toy_v0", "render_modes": []}  # noqa: RUF012  # PettingZoo's own form

    def __init__(self, players=2, rounds=2, mask="observation", start=0):
        super().__init__([f"player_{i}" for i in range(players)], Discrete(3, start=start))
        self.rounds, self.mask, self.agents = rounds, mask, []

    def observe(self, agent):
        mask = np.array([1, 1, self.turns % 2 == 0], np.int8)
        return {"observation": 0, "action_mask": mask} if self.mask == "observation" else 0

    def play(self, agent, action):
        self.rewards[agent] = float(action - self.space.start)
        if self.turns == self.rounds * len(self.possible_agents):
            self.end()
        self.agent_selection = self.possible_agents[self.turns % len(self.possible_agents)]


class EarlyDeathEnv(ToyEnv):
    """Whoever picks 0 dies at once, paid -1; the last one alive gets 1 and the game ends."""

    def play(self, agent, action):
        living = [a for a in self.agents if not self.terminations[a]]
        if action == 0:
            self.rewards[agent] = -1.0
            self.terminations[agent] = True
            living.remove(agent)
        if len(living) == 1:
            self.rewards[living[0]] = 1.0
            self.terminations[living[0]] = True
        self.next_agent()


class EndlessEnv(ToyEnv):
    def play(self, agent, action):
        self.next_agent()


class BrokenEnv(ToyEnv):
    """Raises in its second step, or wherever ``at`` says."""

    def __init__(self, at="step"):
        super().__init__()
        self.at = at

    def reset(self, seed=None, options=None):
        if self.at == "reset":
            raise RuntimeError("no board")
        super().reset(seed, options)

    def observe(self, agent):
        if self.at == "mask":
            return {"observation": 0, "action_mask": np.zeros(3, np.int8)}
        if self.at == "short" and self.turns == 1:
            return {"observation": 0, "action_mask": np.ones(2, np.int8)}
        if self.at == "observe" and self.turns == 1:
            raise ZeroDivisionError("nothing to see")
        return super().observe(agent)

    def play(self, agent, action):
        if self.at == "hang":
            time.sleep(60)
        if self.turns == 2 and self.at == "step":
            raise ZeroDivisionError("the board fell over")
        super().play(agent, action)
        if self.turns == 1 and self.at == "nan":
            self.rewards[agent] = float("nan")


class DiceEnv(ToyEnv):
    """Each step pays a die that the seed decides; what is picked does not matter."""

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.generator = np.random.default_rng(seed)

    def play(self, agent, action):
        super().play(agent, action)
        self.rewards[agent] = float(self.generator.integers(1, 7))


class DoublingEnv(ToyEnv):
    """Leaves its rewards standing through dead steps, as Shimmy does."""

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self.agents.remove(agent)
            for mapping in (self.terminations, self.truncations, self.infos):
                del mapping[agent]
            self.agent_selection = self.agents[0] if self.agents else agent
            return
        super().step(action)


class TruncatedEnv(ToyEnv):
    def play(self, agent, action):
        super().play(agent, action)
        if any(self.terminations.values()):
            self.truncations, self.terminations = self.terminations, self.truncations


class WalkEnv(gymnasium.Env):
    """A single-player game: five steps, each pays its action; the seed decides a bonus at the start."""

    action_space = Discrete(3)
    observation_space = Discrete(6)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        self.bonus = float(self.np_random.integers(0, 10))
        return 0, {}

    def step(self, action):
        self.steps += 1
        reward = action + (self.bonus if self.steps == 1 else 0.0)
        return self.steps, reward, self.steps == 5, False, {}


def three_players():
    return ToyEnv(players=3)


def broken_step():
    return BrokenEnv("step")


class FatalEnv(ToyEnv):
    def play(self, agent, action):
        if self.turns == 2:
            os._exit(9)
        super().play(agent, action)


class OnlyHere:
    """Makes an environment here, and cannot be unpickled in any other process."""

    def __init__(self):
        self.process = os.getpid()

    def __call__(self):
        return ToyEnv()

    def __setstate__(self, state):
        if state["process"] != os.getpid():
            raise ImportError("no such module over here")
        self.__dict__.update(state)


class Clock:
    """The time that all copies of ``SlowEnv`` share."""

    now = 0.0


class SlowEnv(ToyEnv):
    """Five hundred picks of 0 or 1 until somebody wins, each of which takes 20 ms by a clock of the tests' own."""

    metadata = {"name": "slow_v0", "render_modes": []}  # noqa: RUF012  # PettingZoo's own form

    def __init__(self):
        super().__init__(rounds=250)

    def play(self, agent, action):
        Clock.now += 0.02
        super().play(agent, 0)
        if self.terminations[agent]:
            won = 1.0 if action else -1.0
            self.rewards = {name: won if name == agent else -won for name in self.agents}
