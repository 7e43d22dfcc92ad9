"""Monte Carlo tree search beside OpenSpiel's in C++, and matches against it and alpha-beta.

Matches begin with a few random moves, each opening from both seats.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pyspiel

from benchmarks.common import Player, match, openings, result_of, searching, taken
from zermelo.agents import AlphaBetaAgent, AutoAgent, MCTSAgent
from zermelo.agents.compiled.monte_carlo.search import CompiledMonteCarlo
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.monte_carlo import Start
from zermelo.agents.players.matches import MATCHES
from zermelo.envs.adapters.openspiel.game import OpenSpielGame
from zermelo.envs.games import (
    MNK,
    Amazons,
    Breakthrough,
    Chess,
    ConnectFour,
    Domineering,
    DotsAndBoxes,
    Hex,
    Hexapawn,
    Isolation,
    Kalah,
    Othello,
    Oware,
)
from zermelo.envs.rules import RulesGame

SPEED = {
    "tic_tac_toe": (MNK(m=3, n=3, k=3), 300_000),
    "connect_four": (ConnectFour(), 200_000),
    "othello": (Othello(), 40_000),
    "breakthrough": (Breakthrough(), 40_000),
    "mancala": (Kalah(), 100_000),
}
EQUAL = ("tic_tac_toe", "connect_four", "breakthrough(rows=6,columns=6)", "hex(board_size=5)", "clobber")
PLAYOUTS = ("hex(board_size=5)", "hex(board_size=7)", "clobber", "oware", "quoridor(board_size=5)", "breakthrough")
WEIGHTS = {
    "connect_four": ConnectFour(),
    "othello 6x6": Othello(6, 6),
    "oware": Oware(),
    "hex 7x7": Hex(7, 7),
    "breakthrough 6x6": Breakthrough(6, 6),
    "kalah": Kalah(),
}
OPENSPIEL = (
    "y(board_size=9)", "havannah", "nine_mens_morris", "checkers", "quoridor", "amazons", "lines_of_action",
    "pentago", "ultimate_tic_tac_toe", "twixt", "gomoku", "antichess", "crazyhouse", "shogi", "chinese_checkers",
    "hex(board_size=7)", "clobber", "breakthrough", "othello", "connect_four",
)  # fmt: skip
"""Twenty games of OpenSpiel for two players with everything seen; there are rules of ours for the last five and
amazons."""
CHOICE = (
    Amazons(), Amazons(6), Breakthrough(), Chess(), ConnectFour(), Domineering(), DotsAndBoxes(), Hexapawn(),
    Isolation(), Kalah(), MNK(), Othello(), Oware(),
)  # fmt: skip
"""Rules with an evaluation, for two players without chance."""

Rows = Iterator[dict[str, Any]]


def their_bot(game: Any, simulations: int, seed: int, *, solve: bool = False, seconds: float | None = None) -> Any:
    """OpenSpiel's search."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    clock = {} if seconds is None else {"max_wall_clock_time": seconds}
    return pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 1000, solve, seed, False, **clock)


def their_player(source: Any, simulations: int, **settings: Any) -> Callable[[int], Player]:
    """OpenSpiel's search as a player."""

    def make(seed: int) -> Player:
        bot = their_bot(source, simulations, seed, **settings)
        return lambda game, state: int(bot.step(state))

    return make


def by_rules(kind: Any, **settings: Any) -> Callable[[int], Player]:
    """An agent of ours as a player of OpenSpiel's states, by our rules where there are any."""

    def make(seed: int) -> Player:
        agent = kind(seed=seed, **settings)
        return lambda game, state: int(agent.search(state).env_action)

    return make


def mcts(only: tuple[str, ...] = tuple(SPEED), rounds: int = 5, share: float = 1.0) -> Rows:
    """Simulations a second of processor time from the start position, without a solver, in one thread.

    The best of the rounds, in which both searches take turns, and the median of the rounds' ratios; ``share`` is
    the part of the usual simulations.
    """
    policy = MCTSAgent(solver=False).policy
    for name in only:
        rules, count = SPEED[name][0], int(SPEED[name][1] * share)
        game, limits = RulesGame(rules), Limits(simulations=count)
        state, theirs = game.initial_state(), pyspiel.load_game(name)
        searches = [
            CompiledMonteCarlo(game, None, Budget(limits), limits=limits, start=Start(game, state, policy, seed))
            for seed in range(rounds)
        ]
        bots = [their_bot(theirs, count // 10, seed) for seed in range(rounds)]
        ours, others = taken(
            rounds,
            lambda searches=searches, limits=limits, count=count: searches.pop().run(limits, count),
            lambda bots=bots, theirs=theirs: bots.pop().mcts_search(theirs.new_initial_state()),
        )
        ratio = statistics.median(10 * other / own for own, other in zip(ours, others, strict=True))
        yield {"game": name, "ours": count / min(ours), "theirs": count // 10 / min(others), "ratio": ratio}


def mcts_equal(
    only: tuple[str, ...] = EQUAL, games: int = 100, simulations: int = 300, solver: bool = False
) -> Rows:
    """Matches against OpenSpiel's search at equal simulations, both without a solver or both with theirs.

    Ours plays by compiled rules where there are any: the same search bit by bit, only faster.
    Both choose by mean + c * sqrt(log(visits of the node) / visits of the action), try each action once before,
    expand a node at its second visit, play out once at random and play the most visited action: c is 2 for
    utilities from -1 to 1 there, which is 1 for values from 0 to 1 here. One thing is not alike: an action that
    ends the game has no bonus there once it was tried (UCTValue returns its outcome), so a win at hand is
    visited less often than the formula says. Their solver makes up for that.
    """
    ours = by_rules(MCTSAgent, simulations=simulations, solver=solver, exploration=1.0, keep_tree=False)
    for name in only:
        source = pyspiel.load_game(name)
        game = OpenSpielGame(source, {})
        starts = openings(game, games // 2, 4, source.new_initial_state())
        yield {"game": name, **match(game, starts, ours, their_player(source, simulations, solve=solver))}


def mcts_openspiel(only: tuple[str, ...] = OPENSPIEL, games: int = 100, seconds: float = 0.2) -> Rows:
    """Matches of auto against OpenSpiel's search as it comes (with its solver, uct_c 2), at equal time."""
    totals = [0, 0, 0]
    for name in only:
        source = pyspiel.load_game(name)
        game = OpenSpielGame(source, {})
        starts = openings(game, games // 2, 2, source.new_initial_state())
        chosen = AutoAgent(seconds=seconds).search(starts[0]).method
        theirs = their_player(source, 1 << 30, solve=True, seconds=seconds)
        cells = match(game, starts, by_rules(AutoAgent, seconds=seconds), theirs)
        totals = [sum(pair) for pair in zip(totals, (cells["won"], cells["drawn"], cells["lost"]), strict=True)]
        yield {"game": name, **cells, "auto chose": chosen}
    yield {"game": "all", **result_of(*totals), "auto chose": ""}


def mcts_choice(only: tuple[str, ...] = tuple(map(str, CHOICE)), games: int = 100, seconds: float = 0.2) -> Rows:
    """Matches of Monte Carlo against alpha-beta at equal time, both as auto sets them.

    Writes agents/players/matches.json, by which auto chooses.
    """
    shares = json.loads(MATCHES.read_text())
    alpha_beta = searching(AlphaBetaAgent, seconds=seconds, selective="game", keep_table=True)
    for rules in CHOICE:
        if str(rules) in only:
            game = RulesGame(rules)
            starts = openings(game, games // 2, 2)
            cells = match(game, starts, searching(MCTSAgent, seconds=seconds), alpha_beta)
            shares[str(rules)] = round((cells["won"] + cells["drawn"] / 2) / max(2 * len(starts), 1), 3)
            MATCHES.write_text(json.dumps(shares, indent=2, sort_keys=True) + "\n")
            yield {"rules": str(rules), **cells}


def mcts_playouts(only: tuple[str, ...] = PLAYOUTS, games: int = 100, seconds: float = 0.2) -> Rows:
    """Matches against alpha-beta with playouts at equal time, over OpenSpiel's states, without compiled rules."""
    alpha_beta = searching(AlphaBetaAgent, seconds=seconds, evaluator="playout")
    for name in only:
        source = pyspiel.load_game(name)
        game = OpenSpielGame(source, {})
        starts = openings(game, games // 2, 2, source.new_initial_state())
        yield {"game": name, **match(game, starts, searching(MCTSAgent, seconds=seconds), alpha_beta)}


def mcts_weights(only: tuple[str, ...] = tuple(WEIGHTS), games: int = 100, simulations: int = 300) -> Rows:
    """Matches of exploration 0.5 against exploration 1, at equal simulations, and at ten times as many."""
    for name in only:
        game = RulesGame(WEIGHTS[name])
        starts = openings(game, games // 2, 4)
        for count in (simulations, 10 * simulations):
            players = [
                searching(MCTSAgent, simulations=count, exploration=weight, keep_tree=False)
                for weight in (0.5, 1.0)
            ]
            yield {"game": name, "simulations": count, **match(game, starts, *players)}
