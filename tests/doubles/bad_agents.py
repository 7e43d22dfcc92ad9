"""Agents that misbehave on purpose, and one that behaves, for tests of the driver and the tournament.

They are at the top level of an importable module so that worker processes can be sent them.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from zermelo.envs import UnsupportedGameError


def legal_actions(env):
    """The legal actions of the agent to move, from the mask or else from the whole space."""
    if not hasattr(env, "agent_selection"):
        return list(range(env.action_space.start, env.action_space.start + env.action_space.n))
    agent = env.agent_selection
    observation = env.observe(agent)
    mask = observation.get("action_mask") if isinstance(observation, dict) else None
    if mask is None:
        mask = env.infos[agent].get("action_mask")
    space = env.action_space(agent)
    if mask is None:
        return list(range(space.start, space.start + space.n))
    return [int(index) + int(space.start) for index in np.flatnonzero(mask)]


class Good:
    """Plays a seeded random legal action."""

    name = "good"

    def __init__(self, name="good"):
        self.name = name
        self.generator = np.random.default_rng(0)

    def reset(self, seed=None):
        self.generator = np.random.default_rng(seed)

    def act(self, env):
        return int(self.generator.choice(legal_actions(env)))


class First(Good):
    name = "first"

    def __init__(self, name="first"):
        super().__init__(name)

    def act(self, env):
        return legal_actions(env)[0]


class Last(First):
    def __init__(self, name="last"):
        super().__init__(name)

    def act(self, env):
        return legal_actions(env)[-1]


class Answers(Good):
    """Answers with what it was told to, whatever the position."""

    def __init__(self, answer, name="answers"):
        super().__init__(name)
        self.answer = answer

    def act(self, env):
        return self.answer


class Raises(Good):
    """Raises on its ``after``-th move of a game, and plays at random before that."""

    def __init__(self, error=None, after=0, name="raises"):
        super().__init__(name)
        self.error, self.after, self.count = error or RuntimeError("no idea"), after, 0

    def reset(self, seed=None):
        super().reset(seed)
        self.count = 0

    def act(self, env):
        self.count += 1
        if self.count > self.after:
            raise self.error
        return super().act(env)


class RefusesToStart(Good):
    def reset(self, seed=None):
        raise OSError("the model file is missing")


class Unsupported(Good):
    def act(self, env):
        raise UnsupportedGameError("this game has dice: use expectiminimax")


class Steps(Good):
    """Plays its move itself, in the environment that it was only shown."""

    def act(self, env):
        action = super().act(env)
        env.step(action)
        return action


class Exits(Good):
    def act(self, env):
        os._exit(7)


class ExitsNowAndThen(Good):
    """Ends its process in about one game of fifty, decided by the game's seed."""

    def reset(self, seed=None):
        super().reset(seed)
        if seed is not None and seed % 50 == 0:
            os._exit(8)


class Gated(First):
    """Waits in one game, decided by its seed, as long as a file is there: no run with it ends before.

    The variable ``GATE`` of the environment names both, ``seed:file``; without it no game waits. While it waits
    there is a file ``file.reached`` too.
    """

    def __init__(self, name="gated"):
        super().__init__(name)

    def reset(self, seed=None):
        super().reset(seed)
        waits, _, file = os.environ.get("GATE", "").partition(":")
        while waits == str(seed) and os.path.exists(file):
            open(f"{file}.reached", "w").close()
            time.sleep(0.01)


class SysExits(Good):
    def act(self, env):
        sys.exit(3)


class Slow(Good):
    def __init__(self, seconds=0.05, name="slow"):
        super().__init__(name)
        self.seconds = seconds

    def act(self, env):
        time.sleep(self.seconds)
        return super().act(env)


class SlowOnANode(Slow):
    """While it thinks there is a file in a folder, with the name of the Ray node that it is on."""

    def __init__(self, folder, seconds, name="slow"):
        super().__init__(seconds, name)
        self.folder = folder

    def act(self, env):
        import ray

        if not ray.is_initialized():
            return super().act(env)
        mark = Path(self.folder, ray.get_runtime_context().get_node_id())
        mark.touch()
        try:
            return super().act(env)
        finally:
            mark.unlink()


class Interrupted(Good):
    def act(self, env):
        raise KeyboardInterrupt


class UnfitToPickle(Good):
    def __init__(self, name="unfit"):
        super().__init__(name)
        self.trouble = lambda: None


class NoName:
    def reset(self, seed=None):
        pass

    def act(self, env):
        return legal_actions(env)[0]


class StartsAnother(Good):
    """Thinks for ever beside a process that it has started, and writes that one's number down."""

    def act(self, env):
        child = subprocess.Popen(["sleep", "60"])
        with open(os.environ["ZERMELO_TEST_CHILDREN"], "a") as file:
            print(child.pid, file=file)
        time.sleep(60)
