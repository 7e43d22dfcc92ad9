"""Prints which traits play finds in ten known games of which nothing is told, beside the right ones.

Usage: python scripts/known_games.py [NAME ...]

PettingZoo's games are played in subclasses, the others in an environment of this file, all by copies. Behind each
trait stands whether it was seen or assumed. Ends with 1 if one is not as it should be.
"""

import argparse
import importlib
import sys

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv

from zermelo.envs import as_game

FIELDS = ("chance", "information", "reward_sum")
GAMES = {
    "tic-tac-toe": ("pettingzoo.classic.tictactoe.tictactoe:raw_env", "deterministic perfect zero_sum"),
    "connect four": ("pettingzoo.classic.connect_four.connect_four:raw_env", "deterministic perfect zero_sum"),
    "chess": ("pettingzoo.classic.chess.chess:raw_env", "deterministic perfect zero_sum"),
    "go": ("pettingzoo.classic.go.go:raw_env", "deterministic perfect zero_sum"),
    "twenty-one (a deck)": ("twenty_one", "sampled hidden zero_sum"),
    "pig (dice)": ("pig(winscore=20)", "sampled perfect zero_sum"),
    "tiny hanabi (cooperative)": ("tiny_hanabi", "deterministic hidden general_sum"),
    "leduc (hidden hands)": ("leduc_poker", "sampled hidden zero_sum"),
    "cliff walking (pays on the way)": ("cliff_walking", "deterministic perfect general_sum"),
    "morpion solitaire (a puzzle)": ("morpion_solitaire", "deterministic perfect general_sum"),
}
"""Where a game is, and its traits in the order of ``FIELDS``."""


class TwentyOne:
    """Two players draw from one shuffled deck, cards open; who comes nearer to 21 wins. As OpenSpiel's states."""

    def __init__(self, random):
        self.deck = [min(rank, 10) for rank in range(1, 14) for _ in range(4)]
        random.shuffle(self.deck)
        self.hands, self.mover = [0, 0], 0

    def is_chance_node(self):
        return False

    def is_terminal(self):
        return self.mover == 2

    def current_player(self):
        return self.mover

    def legal_actions(self):
        return [0, 1]

    def apply_action(self, action):
        if action == 1:
            self.hands[self.mover] += self.deck.pop()
        if action == 0 or self.hands[self.mover] > 21:
            self.mover += 1

    def rewards(self):
        first, second = (hand if hand <= 21 else 0 for hand in self.hands)
        sign = float(np.sign(first - second)) if self.is_terminal() else 0.0
        return [sign, -sign]

    def observation_string(self, seat):
        return f"{self.hands} {self.mover}"


class Somebody(AECEnv, EzPickle):
    """A game of OpenSpiel, or ``twenty_one``, as somebody may write it: dice are thrown when they are due."""

    metadata = {"name": "somebody", "is_parallelizable": False}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, name):
        import pyspiel

        EzPickle.__init__(self, name)
        self.game = None if name == "twenty_one" else pyspiel.load_game(name)
        self.count = 2 if self.game is None else self.game.num_distinct_actions()
        self.possible_agents = ["first", "second"][: 2 if self.game is None else self.game.num_players()]

    def action_space(self, agent):
        return Discrete(self.count)

    def observe(self, agent):
        actions = [] if self.state.is_terminal() else self.state.legal_actions()
        mask = np.isin(np.arange(self.count), actions if agent == self.agent_selection else [])
        seat = self.possible_agents.index(agent)
        return {"observation": self.state.observation_string(seat), "action_mask": mask.astype(np.int8)}

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.state = TwentyOne(self.random) if self.game is None else self.game.new_initial_state()
        self.agents = list(self.possible_agents)
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._go_on()

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.state.apply_action(action)
        self._go_on()
        self.rewards = dict(zip(self.agents, self.state.rewards(), strict=True))
        self._accumulate_rewards()

    def _go_on(self):
        while self.state.is_chance_node():
            actions, chances = zip(*self.state.chance_outcomes(), strict=True)
            self.state.apply_action(int(self.random.choice(actions, p=chances)))
        if self.state.is_terminal():
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self.possible_agents[self.state.current_player()]


def made(place):
    """A new environment of a game, of a class of which nothing is known, reset."""
    module, _, name = place.partition(":")
    if name:
        cls = getattr(importlib.import_module(module), name)
        env = type(f"Unknown{cls.__name__}", (cls,), {"__module__": __name__})()
    else:
        env = Somebody(place)
    env.reset(seed=0)
    return env


def found(name):
    """The traits that are found, each with its source, and whether they are right."""
    place, right = GAMES[name]
    traits = as_game(made(place), backend="clone").traits
    values = [str(getattr(traits, field)) for field in FIELDS]
    sources = [traits.source(field).name.lower() for field in FIELDS]
    return [f"{value} ({source})" for value, source in zip(values, sources, strict=True)], values == right.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of the games; all without")
    are_right = True
    for name in parser.parse_args().names or GAMES:
        shown, is_right = found(name)
        are_right &= is_right
        print(f"{name}: {', '.join(shown)}; right: {GAMES[name][1]}{'' if is_right else '  <- OTHER'}", flush=True)
    sys.exit(not are_right)


if __name__ == "__main__":
    main()
