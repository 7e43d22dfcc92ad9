"""Games of hidden cards: how strong the agents are."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from typing import Any

from zermelo.agents import ISMCTSAgent
from zermelo.evaluation.analysis.exploitability import agents_exploited
from zermelo.evaluation.stats.score_interval import student_interval


def ismcts(games: int = 400, simulations: int = 200, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Chips won from OpenSpiel's search at equal simulations on its Leduc poker, each deal from both seats."""
    import pyspiel

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
    low, high = student_interval(deals)
    row = {"agent": "ismcts", "against": "ISMCTSBot", "chips a game": f"{statistics.mean(deals):+.3f}"}
    yield {**row, "95 % interval": f"{low:+.3f} to {high:+.3f}", "deals": len(deals)}


def exploitability(simulations: int = 200) -> Iterator[dict[str, Any]]:
    """What a player could gain on Leduc hold'em that knew exactly what the agent plays: 0 is an equilibrium."""
    table = agents_exploited("classic/leduc_holdem-v4", ["random", f"ismcts(simulations={simulations})", "cfr"])
    for found in table.agents:
        answers = zip(table.seat_names, found.best_responses, strict=True)
        row = {"agent": f"`{found.agent}`", "exploitability": f"{found.exploitability:.4g}"}
        yield row | {f"best answer as {seat}": f"{reward:.4g}" for seat, reward in answers}
