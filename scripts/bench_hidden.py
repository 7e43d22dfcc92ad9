#!/usr/bin/env python
"""Games of hidden cards: how strong the agents are, and what duplicate deals are worth.

    python scripts/bench_hidden.py [PART...] [--games N] [--simulations 200] [--seed 0]

where a part is

- ``openspiel``: ``ismcts`` against OpenSpiel's ``ISMCTSBot`` on its Leduc poker, at equal simulations (400 games),
- ``leduc``: ``ismcts``, ``determinized`` and ``cfr`` against ``random`` and RLCard's rule agents (400 games each),
- ``texas``: ``ismcts`` against the same on limit Texas hold'em (100 games each),
- ``hanabi``: the mean score of teams of ``ismcts``, with playouts and without, and ``random`` for 2 to 5 players
  (10 games each),
- ``tricks``: ``ismcts`` in one seat of OpenSpiel's euchre and oh hell, against random players (100 games each),
- ``exploitability``: of ``random``, ``ismcts`` and ``cfr`` on Leduc hold'em, exactly,
- ``duplicate``: by how much duplicate deals cut the variance of a mean of Leduc hold'em (1,000 games each);

all if none is given. ``--games`` takes the place of the number in brackets. Rewards are in the environment's
units (in PettingZoo's hold'em half the chips that changed hands, in OpenSpiel's chips), for the agent named
first, with 95 % confidence intervals over deals: every deal is played with the seats exchanged.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pyspiel

from zermelo.agents import ISMCTSAgent
from zermelo.evaluation import GameRecord, Standings, gauntlet, round_robin
from zermelo.evaluation.analysis.exploitability import agents_exploited
from zermelo.evaluation.stats.interval import student_interval

LEDUC, TEXAS, HANABI = "classic/leduc_holdem-v4", "classic/texas_holdem-v4", "classic/hanabi-v5"


class RuleAgent:
    """An agent of RLCard that plays by rules, in PettingZoo's environments.

    Args:
        model: RLCard's name of it, such as ``leduc-holdem-rule-v1``.
    """

    def __init__(self, model: str) -> None:
        from rlcard import models

        self.name = model
        self._agent = models.load(model).agents[0]

    def reset(self, seed: int | None = None) -> None:
        """Draws nothing that could be seeded."""

    def act(self, env: Any) -> int:
        """What the rules say of RLCard's own state for the player to move."""
        inner = env.unwrapped.env
        action, _ = self._agent.eval_step(inner.get_state(inner.get_player_id()))
        return int(inner.actions.index(action))


def said(mean: float, low: float, high: float) -> str:
    """A mean and its interval in a column."""
    return f"{mean:+8.3f}  {low:+8.3f} .. {high:+.3f}"


def against(standings: Standings, title: str, started: float) -> None:
    """Prints what the first agent earned against each other."""
    first = title.partition(" ")[0]
    for row in standings.rows:
        met = standings.rewards.get((first, row.agent))
        if met is not None and row.agent != first:
            print(f"  {first:28}{row.agent:26}{said(met.mean, *met.interval)}  {met.deals:5} deals", flush=True)
    print(f"  {'':28}({time.perf_counter() - started:.0f} s)", flush=True)


# -- strength -----------------------------------------------------------------------------------------------------


def openspiel(games: int, simulations: int, seed: int) -> None:
    """Chips won from OpenSpiel's search at equal simulations, from each seat with the same cards."""
    game, deals = pyspiel.load_game("leduc_poker"), []
    dealer = random.Random(seed)
    ours = ISMCTSAgent(simulations=simulations)
    for number in range(games // 2):
        cards = dealer.sample(range(6), 6)
        won = 0.0
        for seat in (0, 1):
            ours.reset(2 * number + seat)
            evaluator = pyspiel.RandomRolloutEvaluator(1, 2 * number + seat)
            # 2 is OpenSpiel's usual constant; the final policy plays what was visited most, as ours does.
            theirs = pyspiel.ISMCTSBot(
                2 * number + seat, evaluator, 2.0, simulations, -1, pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
            )
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    left = {action for action, _ in state.chance_outcomes()}
                    state.apply_action(next(card for card in cards if card in left))
                elif state.current_player() == seat:
                    state.apply_action(int(ours.act(state)))
                else:
                    state.apply_action(theirs.step(state))
            won += state.returns()[seat]
        deals.append(won / 2)
    print(f"  {'ismcts':28}{'ISMCTSBot':26}{said(statistics.mean(deals), *student_interval(deals))}")


def leduc(games: int, simulations: int, seed: int) -> None:
    """Rewards won from random and from RLCard's rules on Leduc hold'em."""
    rules = {name: RuleAgent(name) for name in ("leduc-holdem-rule-v1", "leduc-holdem-rule-v2")}
    for name, agent in {
        "ismcts": f"ismcts(simulations={simulations})",
        "determinized": "determinized(agent=mcts(simulations=50))",
        "cfr": "cfr",
    }.items():
        started = time.perf_counter()
        met = gauntlet(LEDUC, {name: agent, "random": "random", **rules}, games=games, seed=seed)
        against(met, name, started)
    started = time.perf_counter()
    against(
        round_robin(LEDUC, {"cfr": "cfr", "ismcts": f"ismcts(simulations={simulations})"}, games=games),
        "cfr",
        started,
    )


def texas(games: int, simulations: int, seed: int) -> None:
    """The same on limit Texas hold'em."""
    agents = {
        "ismcts": f"ismcts(simulations={simulations})",
        "random": "random",
        "limit-holdem-rule-v1": RuleAgent("limit-holdem-rule-v1"),
    }
    started = time.perf_counter()
    against(gauntlet(TEXAS, agents, games=games, seed=seed), "ismcts", started)


def hanabi(games: int, simulations: int, seed: int) -> None:
    """Mean scores of teams."""
    from pettingzoo.classic import hanabi_v5

    for players in (2, 3, 4, 5):
        teams = {
            "ismcts": f"ismcts(simulations={simulations})",
            "ismcts, no playouts": f"ismcts(simulations={simulations}, playout_moves=0)",
            "random": "random",
        }
        for name, agent in teams.items():
            started = time.perf_counter()
            found = round_robin(_hanabi(hanabi_v5, players), {name: agent}, games=games, seed=seed, score="team")
            alone = found.alone(name)
            if alone is not None:
                taken = f"({time.perf_counter() - started:.0f} s)"
                print(f"  {players} players  {name:20}{said(alone.mean, *alone.interval)}  {taken}", flush=True)


def _hanabi(module: Any, players: int) -> Callable[[], Any]:
    return lambda: module.env(players=players, hand_size=5 if players < 4 else 4)


def tricks(games: int, simulations: int, seed: int) -> None:
    """Points a game of one seat, each in turn, all other players being random."""
    for name in ("euchre", "oh_hell"):
        game = pyspiel.load_game(name)
        for agent in (ISMCTSAgent(simulations=simulations), ISMCTSAgent(simulations=10 * simulations), None):
            started, points = time.perf_counter(), []
            for number in range(games):
                dealer, seat = random.Random(1_000 * seed + number), number % game.num_players()
                if agent is not None:
                    agent.reset(number)
                state = game.new_initial_state()
                while not state.is_terminal():
                    if agent is not None and state.current_player() == seat:
                        state.apply_action(int(agent.search_state(game, state).action))
                        continue
                    shares = dict(state.chance_outcomes()) if state.is_chance_node() else {}
                    choices = [*shares] or state.legal_actions()
                    state.apply_action(dealer.choices(choices, [*shares.values()] or None)[0])
                points.append(state.returns()[seat])
            title = "random" if agent is None else str(agent.name)
            taken = f"({time.perf_counter() - started:.0f} s)"
            print(
                f"  {name:10}{title:28}{said(statistics.mean(points), *student_interval(points))}  {taken}",
                flush=True,
            )


def exploitability(games: int, simulations: int, seed: int) -> None:
    """How much could be gained by who knows the agents."""
    agents = ["random", f"ismcts(simulations={simulations})", "cfr"]
    print(agents_exploited(LEDUC, agents))


# -- duplicate deals ----------------------------------------------------------------------------------------------


def duplicate(games: int, simulations: int, seed: int) -> None:
    """The variance of a mean over deals that are played with seats exchanged, and over pairs of different deals.

    The latter are the first games of one tournament's deals and the second ones of another's.
    """
    rules = {name: RuleAgent(name) for name in ("leduc-holdem-rule-v1", "leduc-holdem-rule-v2")}
    pairs: dict[str, dict[str, Any]] = {
        "rule-v1 against random": {"leduc-holdem-rule-v1": rules["leduc-holdem-rule-v1"], "random": "random"},
        "rule-v1 against rule-v2": rules,
        "cfr against random": {"cfr": "cfr", "random": "random"},
        "cfr against rule-v1": {"cfr": "cfr", "leduc-holdem-rule-v1": rules["leduc-holdem-rule-v1"]},
        "ismcts against random": {"ismcts": f"ismcts(simulations={simulations})", "random": "random"},
    }
    counted = f"of {games:,} games"
    print(f"  {counted:28}{'duplicate deals':>32}{'different deals':>32}{'variance':>12}")
    for title, agents in pairs.items():
        first = next(iter(agents))
        one, two = (round_robin(LEDUC, agents, games=games, seed=seed + more) for more in (0, 1))
        same, other = (
            [(_reward(a, first) + _reward(b, first)) / 2 for a, b in zip(one.records[::2], second, strict=True)]
            for second in (one.records[1::2], two.records[1::2])
        )
        share = statistics.variance(same) / statistics.variance(other) if len(set(other)) > 1 else math.nan
        cells = (f"{said(statistics.mean(deals), *student_interval(deals)):>32}" for deals in (same, other))
        print(f"  {title:28}{''.join(cells)}{share:12.2f}", flush=True)
    print("  variance: over duplicate deals, as a share of that over different ones")


def _reward(record: GameRecord, agent: str) -> float:
    return record.rewards[record.agents.index(agent)]


PARTS: dict[str, tuple[Callable[[int, int, int], None], int]] = {
    "openspiel": (openspiel, 400),
    "leduc": (leduc, 400),
    "texas": (texas, 100),
    "hanabi": (hanabi, 10),
    "tricks": (tricks, 100),
    "exploitability": (exploitability, 0),
    "duplicate": (duplicate, 1_000),
}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--games", type=int)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(words)
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"no part is called {unknown.pop()!r}: choose of {', '.join(PARTS)}")
    warnings.simplefilter("ignore")
    for name in given.parts or PARTS:
        part, games = PARTS[name]
        print(f"{name}: {(part.__doc__ or '').splitlines()[0]}", flush=True)
        part(given.games or games, given.simulations, given.seed)
        print()


if __name__ == "__main__":
    main()
