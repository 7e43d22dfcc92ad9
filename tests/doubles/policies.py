"""Policies as people write them: functions of what a player sees."""

import numpy as np

from zermelo.agents.evaluators.policy_value import Rated


def first_legal(observation, action_mask):
    """The first legal action."""
    return int(np.flatnonzero(action_mask)[0])


def legal_logits(observation, action_mask):
    """Equal logits for all actions, legal or not."""
    return np.zeros(len(action_mask), dtype=np.float32)


def last_is_best(observation, action_mask):
    """Numbers that grow with the action, as a list."""
    return [float(index) for index in range(len(action_mask))]


def blind(observation):
    """Does not even ask for the mask."""
    return 4


def nosy(observation, action_mask, agent):
    """Plays by the player's name."""
    return int(np.flatnonzero(action_mask)[0 if agent == "player_1" else -1])


def out_of_shape(observation, action_mask):
    """Three numbers, whatever the game."""
    return np.zeros(3)


class Recorder:
    """Remembers all that it was ever given."""

    def __init__(self):
        self.given = []
        self.seeds = []

    def reset(self, seed):
        self.seeds.append(seed)

    def __call__(self, observation, action_mask, agent):
        self.given.append((observation, action_mask, agent))
        return int(np.flatnonzero(action_mask)[0])


def only_bluffs(game, state):
    """In Kuhn poker bets a jack, and no other card: the probability of each action."""
    bluffs = game.information_state_key(state, game.to_move(state))[0] == 1
    return {0: float(not bluffs), 1: float(bluffs)}


class EvenNetwork:
    """A network that knows nothing: every action is as good as any, and every position is a draw."""

    def __call__(self, game, state):
        return 0.0, 0.0

    def evaluate_batch(self, game, states):
        counts = [len(game.legal_actions(state)) for state in states]
        return [Rated(np.full(count, 1 / count), (0.0, 0.0)) for count in counts]
