"""An agent that looks at everybody's cards in Leduc hold'em, and writes down what it saw."""

import json
from pathlib import Path

from doubles.bad_agents import First


class Peeks(First):
    """Plays the first legal action; each line of its file is its own card, and the other player's."""

    def __init__(self, path, name="peeks"):
        super().__init__(name)
        self.path = Path(path)

    def act(self, env):
        raw = env.unwrapped
        seat = raw.possible_agents.index(raw.agent_selection)
        hands = [player.hand.get_index() for player in raw.env.game.players]
        with self.path.open("a") as file:
            print(json.dumps([hands[seat], hands[1 - seat]]), file=file)
        return super().act(env)
