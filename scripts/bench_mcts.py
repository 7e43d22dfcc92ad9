"""Monte Carlo tree search: simulations a second beside OpenSpiel's C++, and matches against it and alpha-beta.

    python scripts/bench_mcts.py [PART...] [--only NAME] [--games 100] [--seconds 0.2]

where a part is ``speed`` (both from the start position, without a solver, in one thread), ``equal`` (matches
against OpenSpiel's search at equal simulations), ``solved`` (the same with solvers), ``weights`` (matches between
settings of exploration), ``playouts`` (matches against alpha-beta with playouts at equal time, without compiled
rules), ``openspiel`` (``auto`` against OpenSpiel's search at equal time), ``choice`` (Monte Carlo against
alpha-beta: writes ``agents/players/matches.json``, by which ``auto`` chooses) or ``environments`` (playouts a
second over copies of environments); all if none is given. Matches begin
with a few random moves, each opening from both seats. Games of strangers that pip installs (``gobblet-rl``,
``fanorona-aec``) are left out where they are not there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pettingzoo.utils
import pyspiel
from pettingzoo.utils.agent_selector import AgentSelector

from zermelo.agents import AlphaBetaAgent, AutoAgent, MCTSAgent
from zermelo.agents.compiled.monte_carlo.search import CompiledMonteCarlo
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.monte_carlo import Start
from zermelo.agents.players.matches import MATCHES
from zermelo.agents.search.monte_carlo.search import PlainMonteCarlo
from zermelo.envs import as_game
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
from zermelo.evaluation import elo

SPEED = {
    "tic_tac_toe": (MNK(m=3, n=3, k=3), 300_000),
    "connect_four": (ConnectFour(), 200_000),
    "othello": (Othello(), 40_000),
    "breakthrough": (Breakthrough(), 40_000),
    "mancala": (Kalah(), 100_000),
}
EQUAL = ("tic_tac_toe", "connect_four", "breakthrough(rows=6,columns=6)", "hex(board_size=5)", "clobber")
PLAYOUTS = ("hex(board_size=5)", "hex(board_size=7)", "clobber", "oware", "quoridor(board_size=5)", "breakthrough")
ENVIRONMENTS = {
    "tictactoe": "pettingzoo.classic.tictactoe_v3:env",
    "connect_four": "pettingzoo.classic.connect_four_v3:env",
    "go(board_size=5)": "pettingzoo.classic.go_v5:env",
    "chess": "pettingzoo.classic.chess_v6:env",
    "gobblet": "gobblet_rl.gobblet_v1:env",
    "fanorona": "env.fanorona_env:env",
}
SETTINGS: dict[str, dict[str, Any]] = {"go(board_size=5)": {"board_size": 5}}
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
SIMULATIONS = 300
OPENING = 4
LONGEST = 400
"""Games of more moves are drawn."""


def their_bot(game: Any, simulations: int, seed: int, *, solve: bool = False, seconds: float | None = None) -> Any:
    """OpenSpiel's search."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    clock = {} if seconds is None else {"max_wall_clock_time": seconds}
    return pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 1000, solve, seed, False, **clock)


def speed(names: Sequence[str], games: int, seconds: float) -> None:
    """Simulations a second of processor time: the best of five turns each, and the median of the turns' ratios."""
    print(f"  {'game':32}{'ours':>14}{'theirs':>14}{'ratio':>8}")
    policy = MCTSAgent(solver=False).policy
    for name in names:
        rules, count = SPEED[name]
        game, limits = RulesGame(rules), Limits(simulations=count)
        state, theirs = game.initial_state(), pyspiel.load_game(name)
        turns = []
        for seed in range(5):
            start = Start(game, state, policy, seed)
            search = CompiledMonteCarlo(game, None, Budget(limits), limits=limits, start=start)
            started = time.process_time()
            search.run(limits, count)
            rate = count / (time.process_time() - started)
            bot = their_bot(theirs, count // 10, seed)
            started = time.process_time()
            bot.mcts_search(theirs.new_initial_state())
            turns.append((rate, count // 10 / (time.process_time() - started)))
        best, their_best = (max(rates) for rates in zip(*turns, strict=True))
        ratio = statistics.median(rate / their_rate for rate, their_rate in turns)
        print(f"  {name:32}{best:14,.0f}{their_best:14,.0f}{ratio:8.1f}", flush=True)


Player = Callable[[Any, Any], int]
"""Chooses an action for a state of a game."""


def match(
    game: Any,
    starts: Sequence[Any],
    first: Callable[[int], Player],
    second: Callable[[int], Player],
    totals: list[int] | None = None,
) -> str:
    """Wins, draws and losses of the first from each start and seat, and the difference in Elo.

    They are added to ``totals``.
    """
    counts = {1: 0, 0: 0, -1: 0}
    for number, start in enumerate(starts):
        for seat in (0, 1):
            players, state, moves = [first(number), second(number)], start, 0
            while not game.is_terminal(state) and (moves := moves + 1) <= LONGEST:
                player = players[game.to_move(state) != seat]
                state = game.result(state, player(game, state))
            values = game.utility(state)
            counts[(values[seat] > values[1 - seat]) - (values[seat] < values[1 - seat])] += 1
            if sys.stderr.isatty():
                print(f"    {2 * number + seat + 1} of {2 * len(starts)}: {counts}", end="\r", file=sys.stderr)
    wins, draws, losses = counts[1], counts[0], counts[-1]
    if totals is not None:
        totals[:] = (old + new for old, new in zip(totals, (wins, draws, losses), strict=True))
    share = 100 * (wins + draws / 2) / max(sum(counts.values()), 1)
    return f"{wins:5}-{draws}-{losses:<5}{share:6.1f} %   {elo(wins, draws, losses)}"


def openings(game: Any, initial: Any, count: int, moves: int = OPENING) -> list[Any]:
    """States after a few random moves."""
    generator, found = random.Random(1), []
    while len(found) < count:
        state = initial
        for _ in range(moves):
            if not game.is_terminal(state):
                state = game.result(state, generator.choice(game.legal_actions(state)))
        if not game.is_terminal(state):
            found.append(state)
    return found


def searching(kind: Any, *, rules: bool = False, **settings: Any) -> Callable[[int], Player]:
    """An agent of ours as a player; with rules, if there are any, of OpenSpiel's states."""

    def make(seed: int) -> Player:
        agent = kind(seed=seed, **settings)
        if rules:
            return lambda game, state: int(agent.search(state).env_action)
        return lambda game, state: int(agent.search_state(game, state).action)

    return make


def equal(names: Sequence[str], games: int, seconds: float, *, solve: bool = False) -> None:
    """Against OpenSpiel's search at equal simulations, both without a solver.

    Ours plays by compiled rules where there are any: the same search bit by bit, only faster.
    Both choose by mean + c * sqrt(log(visits of the node) / visits of the action), try each action once before,
    expand a node at its second visit, play out once at random and play the most visited action: c is 2 for
    utilities from -1 to 1 there, which is 1 for values from 0 to 1 here. One thing is not alike: an action that
    ends the game has no bonus there once it was tried (``UCTValue`` returns its outcome), so a win at hand is
    visited less often than the formula says. Their solver makes up for that: ``solved``.
    """
    for name in names:
        source = pyspiel.load_game(name)
        game = OpenSpielGame(source, {})

        def theirs(seed: int, source: Any = source) -> Player:
            bot = their_bot(source, SIMULATIONS, seed, solve=solve)
            return lambda game, state: int(bot.step(state))

        starts = openings(game, source.new_initial_state(), games // 2)
        settings = {"simulations": SIMULATIONS, "solver": solve, "exploration": 1.0, "keep_tree": False}
        ours = searching(MCTSAgent, rules=True, **settings)
        print(f"  {name:34}{match(game, starts, ours, theirs)}", flush=True)


def openspiel(names: Sequence[str], games: int, seconds: float) -> None:
    """``auto`` against OpenSpiel's search as it comes (with its solver, ``uct_c`` 2), at equal time."""
    totals = [0, 0, 0]
    for name in names:
        source = pyspiel.load_game(name)
        game = OpenSpielGame(source, {})

        def theirs(seed: int, source: Any = source) -> Player:
            bot = their_bot(source, 1 << 30, seed, solve=True, seconds=seconds)
            return lambda game, state: int(bot.step(state))

        starts = openings(game, source.new_initial_state(), games // 2, 2)
        agent = AutoAgent(seconds=seconds)
        chosen = agent.search(starts[0]).method
        line = match(game, starts, searching(AutoAgent, rules=True, seconds=seconds), theirs, totals)
        print(f"  {name:26}{line}  {chosen}", flush=True)
    wins, draws, losses = totals
    print(f"  {'all':26}{wins:5}-{draws}-{losses:<5}{100 * (wins + draws / 2) / max(sum(totals), 1):6.1f} %")


def choice(names: Sequence[str], games: int, seconds: float) -> None:
    """Monte Carlo against alpha-beta at equal time, both as ``auto`` sets them; writes the table it chooses by."""
    table = json.loads(MATCHES.read_text())
    for rules in CHOICE:
        if str(rules) in names:
            game, totals = RulesGame(rules), [0, 0, 0]
            starts = openings(game, game.initial_state(), games // 2, 2)
            alpha_beta = searching(AlphaBetaAgent, seconds=seconds, selective="game", keep_table=True)
            line = match(game, starts, searching(MCTSAgent, seconds=seconds), alpha_beta, totals)
            print(f"  {rules!s:52}{line}", flush=True)
            table[str(rules)] = round((totals[0] + totals[1] / 2) / max(sum(totals), 1), 3)
            MATCHES.write_text(json.dumps(table, indent=2, sort_keys=True) + "\n")


def solved(names: Sequence[str], games: int, seconds: float) -> None:
    """The same, both with their solvers."""
    equal(names, games, seconds, solve=True)


def weights(names: Sequence[str], games: int, seconds: float) -> None:
    """Exploration of 0.5 against one of 1, at equal simulations."""
    for name in names:
        game = RulesGame(WEIGHTS[name])
        starts = openings(game, game.initial_state(), games // 2)
        for simulations in (SIMULATIONS, 10 * SIMULATIONS):
            ours, others = (
                searching(MCTSAgent, simulations=simulations, exploration=weight, keep_tree=False)
                for weight in (0.5, 1.0)
            )
            print(f"  {name:28}{simulations:6}{match(game, starts, ours, others)}", flush=True)


def strangers_game(name: str) -> tuple[Any, Any] | None:
    """The game of copies of an environment, and its first state; None where it is not installed."""
    module, _, make = ENVIRONMENTS[name].partition(":")
    pettingzoo.utils.agent_selector = AgentSelector  # as environments for older versions look for it
    try:
        env = getattr(importlib.import_module(module), make)(**SETTINGS.get(name, {}))
    except ImportError as error:
        print(f"  {name:34}left out: {error}")
        return None
    env.reset(seed=1)
    game = as_game(env, backend="clone", traits={"information": "perfect"})
    return game, game.snapshot(env)


def playouts(names: Sequence[str], games: int, seconds: float) -> None:
    """Against alpha-beta with playouts, at equal time, over OpenSpiel's states and copies of environments."""
    for name in names:
        found: Any = None
        if name in ENVIRONMENTS:
            found = strangers_game(name)
        else:
            source = pyspiel.load_game(name)
            found = OpenSpielGame(source, {}), source.new_initial_state()
        if found is not None:
            starts = openings(*found, games // 2, 2)
            alpha_beta = searching(AlphaBetaAgent, seconds=seconds, evaluator="playout")
            ours = searching(MCTSAgent, seconds=seconds)
            print(f"  {name:34}{match(found[0], starts, ours, alpha_beta)}", flush=True)


def microseconds(call: Callable[..., Any], *arguments: Any) -> float:
    """Of processor time, on average of twenty calls."""
    started = time.process_time()
    for _ in range(20):
        call(*arguments)
    return 1e6 * (time.process_time() - started) / 20


def simulations(game: Any, state: Any, seconds: float, *, copies: bool) -> tuple[float, float]:
    """How many a second, and how many moves each; with a copy for every move of a playout, or one for all."""
    search = PlainMonteCarlo(Start(game, state, MCTSAgent(solver=False).policy, 1), Budget(Limits()))
    if copies:
        search.playouts.own_state, search.playouts.after = None, search.playouts.result
    started = time.process_time()
    while time.process_time() - started < seconds:
        search.simulate(1)
    return search.simulations / (time.process_time() - started), search.budget.nodes / search.simulations


def environments(names: Sequence[str], games: int, seconds: float) -> None:
    """Simulations a second from the start, each with a copy for every move, or one for the whole playout."""
    print(f"  {'environment':20}{'a copy us':>10}{'a step us':>11}{'moves':>7}{'every move':>12}{'once':>8}")
    for name in names:
        found = strangers_game(name)
        if found is not None:
            game, state = found
            copy = microseconds(game.playout_state, state)
            step = microseconds(game.result, state, game.legal_actions(state)[0]) - copy
            before, moves = simulations(game, state, 10 * seconds, copies=True)
            after, _ = simulations(game, state, 10 * seconds, copies=False)
            print(f"  {name:20}{copy:10.0f}{step:11.0f}{moves:7.0f}{before:12.1f}{after:8.1f}", flush=True)


PARTS: dict[str, tuple[Callable[[Sequence[str], int, float], None], Sequence[str]]] = {
    "speed": (speed, tuple(SPEED)),
    "equal": (equal, EQUAL),
    "solved": (solved, EQUAL),
    "weights": (weights, tuple(WEIGHTS)),
    "openspiel": (openspiel, OPENSPIEL),
    "choice": (choice, tuple(map(str, CHOICE))),
    "playouts": (playouts, (*PLAYOUTS, *ENVIRONMENTS)),
    "environments": (environments, tuple(ENVIRONMENTS)),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--only", metavar="NAME", help="one line of a part, such as clobber")
    parser.add_argument("--games", type=int, default=100, help="games a match (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.2, help="a move, in playouts (default: %(default)s)")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    warnings.simplefilter("ignore")  # what strangers' environments say while they are made
    for part in given.parts or PARTS:
        run, names = PARTS[part]
        chosen = [name for name in names if given.only in (None, name)]
        if not chosen:
            parser.error(f"{part} has no line {given.only!r}; it has {', '.join(names)}")
        print(f"{part}: {(run.__doc__ or '').splitlines()[0]}")
        run(chosen, given.games, given.seconds)
