"""Games of hidden cards: how strong the agents are.

Rewards are in the environment's units (in PettingZoo's hold'em half the chips that changed hands, in OpenSpiel's
chips), for the agent named first, with 95 % confidence intervals over deals: every deal is played with the seats
exchanged.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from typing import Any

from zermelo.agents import ISMCTSAgent
from zermelo.evaluation import gauntlet
from zermelo.evaluation.analysis.exploitability import agents_exploited
from zermelo.evaluation.stats.interval import student_interval

LEDUC, TEXAS = "classic/leduc_holdem-v4", "classic/texas_holdem-v4"
RULES = {LEDUC: ("leduc-holdem-rule-v1", "leduc-holdem-rule-v2"), TEXAS: ("limit-holdem-rule-v1",)}


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


def interval(low: float, high: float) -> str:
    """An interval as text."""
    return f"{low:+.3f} to {high:+.3f}"


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
    row = {"agent": "ismcts", "against": "ISMCTSBot", "chips a game": f"{statistics.mean(deals):+.3f}"}
    yield {**row, "95 % interval": interval(*student_interval(deals)), "deals": len(deals)}


def rules(
    envs: tuple[str, ...] = (LEDUC, TEXAS), games: int = 400, simulations: int = 200, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Rewards won from random and from RLCard's rules on Leduc and limit Texas hold'em."""
    agents = {
        "ismcts": f"ismcts(simulations={simulations})",
        "determinized": "determinized(agent=mcts(simulations=50))",
        "cfr": "cfr",
    }
    for env in envs:
        others: dict[str, Any] = {"random": "random", **{name: RuleAgent(name) for name in RULES[env]}}
        for name, agent in agents.items():
            if env == LEDUC or name != "cfr":  # Texas hold'em is too large for it
                standings = gauntlet(env, {name: agent, **others}, games=games, seed=seed)
                for other in others:
                    met = standings.rewards[name, other]
                    row = {"environment": env, "agent": name, "against": other, "reward": f"{met.mean:+.3f}"}
                    yield {**row, "95 % interval": interval(*met.interval), "deals": met.deals}


def exploitability(simulations: int = 200) -> Iterator[dict[str, Any]]:
    """What a player could gain on Leduc hold'em that knew exactly what the agent plays: 0 is an equilibrium."""
    table = agents_exploited(LEDUC, ["random", f"ismcts(simulations={simulations})", "cfr"])
    for found in table.agents:
        answers = zip(table.seat_names, found.best_responses, strict=True)
        row = {"agent": f"`{found.agent}`", "exploitability": f"{found.exploitability:.4g}"}
        yield row | {f"best answer as {seat}": f"{reward:.4g}" for seat, reward in answers}
