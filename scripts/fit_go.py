"""Learns how often good players answer the last move beside it, by the 3x3 points around: ``patterns.npz`` of Go.

    python scripts/fit_go.py [--games 250] [--level 3] [--size 9]

Counts in games of GNU Go (which Debian has) against itself, from a few random stones: of all chances to put a
stone at a pattern next to the last one, how many were taken. A pattern, its mirror images and its turns are one;
what was seen seldom is drawn towards the mean of all. About five seconds a game.
"""

from __future__ import annotations

import argparse
import random
import sys

import numpy as np

from zermelo.agents.players.engines.protocols import GtpAgent
from zermelo.envs import make_env
from zermelo.envs.games import Go
from zermelo.envs.games.go.board import NO_POINT, point_of
from zermelo.envs.games.go.patterns import CERTAIN, FILE, PATTERNS, pattern_at
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.words import contains

GNUGO = "gnugo --mode gtp --chinese-rules"
TURNED = (2, 4, 7, 1, 6, 0, 3, 5)
"""Where each of the eight points around goes by a quarter turn."""
MIRRORED = (2, 1, 0, 4, 3, 7, 6, 5)
DRAW = 8
"""So many chances at the mean are added to what was seen of a pattern."""


def moved(pattern: int, order: tuple[int, ...]) -> int:
    """A pattern turned or mirrored."""
    return sum(
        (pattern >> place & 1) << to | (pattern >> 8 + place & 1) << 8 + to for place, to in enumerate(order)
    )


def all_alike(pattern: int) -> set[int]:
    """A pattern, turned and mirrored in all ways."""
    found = set()
    for _ in range(4):
        pattern = moved(pattern, TURNED)
        found |= {pattern, moved(pattern, MIRRORED)}
    return found


def main() -> None:
    """Plays, counts and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=250)
    parser.add_argument("--level", type=int, default=3, help="GNU Go's (default: %(default)s)")
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    size, generator = given.size, random.Random(given.seed)
    game = RulesGame(Go(size, superko=0))
    engine = GtpAgent(path=GNUGO, level=given.level)
    chances, taken = np.zeros(PATTERNS, np.int64), np.zeros(PATTERNS, np.int64)
    for number in range(given.games):
        env = make_env(f"classic/go-v5(board_size={size})")
        env.reset(seed=number)
        engine.reset(number)
        state = game.initial_state()
        for ply in range(3 * size * size):
            action = generator.choice(game.legal_actions(state)[:-1]) if ply < 4 else engine.act(env)
            if ply >= 4 and state.last != NO_POINT:
                own, other = (state.white, state.black) if state.turn & 1 else (state.black, state.white)
                legal = set(game.legal_actions(state))
                for near in range(size * size):
                    place = point_of(near, size)
                    gap = abs(place - state.last)
                    if gap in (1, size, size + 1, size + 2) and contains(state.empty, place) and near in legal:
                        pattern = min(all_alike(pattern_at(place, own, other, state.empty, size)))
                        chances[pattern] += 1
                        taken[pattern] += near == action
            env.step(action)
            state = game.result(state, action)
            if game.is_terminal(state):
                break
        if (number + 1) % 10 == 0:
            share = taken.sum() / max(chances.sum(), 1)
            print(f"{number + 1} games: {chances.sum()} chances, {share:.3f} taken", file=sys.stderr, flush=True)
    mean = taken.sum() / chances.sum()
    answered = np.zeros(PATTERNS, np.uint8)
    for pattern in range(PATTERNS):
        first = min(all_alike(pattern))
        share = (taken[first] + DRAW * mean) / (chances[first] + DRAW)
        answered[pattern] = min(round(CERTAIN * share), CERTAIN - 1)
    np.savez_compressed(FILE, answered=answered)
    print(f"{FILE.name}: {(chances > 0).sum()} patterns seen, {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
