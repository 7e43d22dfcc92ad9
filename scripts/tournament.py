"""A tournament in a few lines: copy this, put your own agent in, run it.

python scripts/tournament.py
"""

import numpy as np

from zermelo.evaluation import round_robin


class CentreFirst:
    """An agent is a class with a name, ``act(env)`` and ``reset(seed)``. This one likes the middle columns."""

    name = "centre first"

    def reset(self, seed=None):
        """Starts a new game with its own random numbers."""
        self.generator = np.random.default_rng(seed)

    def act(self, env):
        """A legal action near the middle, ties broken at random."""
        mask = env.observe(env.agent_selection)["action_mask"]
        legal = np.flatnonzero(mask)
        distance = np.abs(legal - (len(mask) - 1) / 2)
        return int(self.generator.choice(legal[distance == distance.min()]))


if __name__ == "__main__":  # worker processes import this file: the guard keeps them from starting a tournament
    standings = round_robin(
        "classic/connect_four-v3",
        ["random", CentreFirst, "alphabeta(depth=2)"],
        games=20,
        seed=0,
        workers=2,
    )
    print(standings)
