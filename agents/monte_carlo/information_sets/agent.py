"""Information set Monte Carlo tree search as an agent."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.experts import experts
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_information_states
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import Ties, choice, converted, integer, number
from zermelo.agents.monte_carlo.information_sets.plain import InformationSetSearch, Observers
from zermelo.agents.monte_carlo.merging import MergedRoots
from zermelo.agents.monte_carlo.simulating import SearchOutcome, SimulatingAgent
from zermelo.agents.opponents.beliefs import UNIFORM, blueprint_of, dealer, make_belief, make_blueprint_agent
from zermelo.agents.workers.agent import WorkerSettings
from zermelo.envs.errors import BlindSearchWarning, warn_once
from zermelo.envs.game import Game
from zermelo.envs.support.calls import checked_call

_FEWEST_VISITS: Final = 10
"""Simulations of an action before its value counts as seen."""


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ISMCTSAgent(WorkerSettings, SimulatingAgent):
    """Information set Monte Carlo tree search, for games with hidden cards.

    Each simulation deals again what the player to move has not seen, as chance would have dealt it, and statistics
    belong to what players can tell apart. Any number of players, whatever they play for. The action that most
    simulations followed is played; so it does not mix, and who knows it can exploit it. Cowling, Powley and
    Whitehouse, "Information set Monte Carlo tree search", IEEE Transactions on Computational Intelligence and AI
    in Games 4 (2012).

    Attributes:
        observers: What opponents know in the tree: what they see (``"multiple"``), or only what the searching
            player sees (``"single"``).
        exploration: Weight of exploration: the higher, the more often actions with few visits are tried. Utilities
            are scaled to 0 to 1 first.
        playout_moves: Moves after which a playout is cut off and rewards so far count, as for Hanabi, where random
            play soon loses all; None plays to the end.
        blueprint: The spec of an agent that plays the playouts; None for random ones.
        belief: ``"uniform"``, or a model of the others, as ``opponent`` of ``expectimax``: deals in which they
            would have played as they did are likelier.
        ties: The choice among best actions: ``"random"`` (drawn from the seed) or ``"first"``.
    """

    kind: ClassVar[str] = "ismcts"

    observers: Observers = choice(Observers.MULTIPLE)
    exploration: float = number(0.7, "weight", lower=0)
    playout_moves: int | None = integer(None, "plies", lower=0)
    blueprint: Any = converted(None, make_blueprint_agent, "the spec of an agent")
    belief: Any = converted(UNIFORM, make_belief, "uniform, or a model of opponents")
    ties: Ties = choice(Ties.RANDOM)

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        found = super().choose(request, budget)
        values = found.action_values.values()
        is_seen = len(values) > 1 and min(found.visits.values()) >= _FEWEST_VISITS
        if not is_seen or max(values) - min(values) > 1e-9 * max(1.0, *map(abs, values)):
            return found
        note = "; ".join(filter(None, (self._note(request.game, request.state), found.note)))
        return dataclasses.replace(found, note=note)

    def _note(self, game: Game[Any], state: Any) -> str:
        """That the simulations are blind here, which is also a warning where an agent is made for the game."""
        alike = f"all actions have the same value in the simulations of {self.kind}"
        for expert in experts():
            advice = expert.recommended(game, state, False)
            if advice is not None and not issubclass(advice.kind, ISMCTSAgent):
                agent = f"use '{advice.kind.kind}': {advice.reason}"
                note = f"{alike}, so it plays {game.traits.name} at random: {agent}"
                warn_once(type(game), note, BlindSearchWarning)
                return note
        return (
            f"{alike}, so one is drawn: if something depends on it, cut playouts off (playout_moves), or have an "
            "agent play them (blueprint)"
        )

    def searched(self, request: Request, budget: Budget) -> SearchOutcome:
        game, state = request.game, request.state
        guide = None if self.blueprint is None else blueprint_of(self.blueprint, game, budget).action
        seed, draw = int(self.generator.integers(2**62)), float(self.generator.random())
        search = InformationSetSearch(
            game,
            state,
            budget,
            observers=self.observers,
            exploration=self.exploration,
            seed=seed,
            guide=guide,
            playout_moves=self.playout_moves,
            deal=None if self.belief == UNIFORM else dealer(self.belief, game, state, game.to_move(state)),
        )
        return SearchOutcome(self.simulate(request, search, lambda why: self._found(search, why, draw)), search)

    def unseen_dealt(self, game: Any, state: Any, seed: int) -> Any:
        return game.resample(state, game.to_move(state), np.random.default_rng(seed))

    def found_of(self, merged: MergedRoots, draw: float) -> dict[str, Any]:
        return self._found(merged, merged.stopped_by, draw)

    def _found(
        self, search: InformationSetSearch | MergedRoots, stopped_by: StoppedBy, draw: float
    ) -> dict[str, Any]:
        game, actions = search.game, search.root_actions()
        most = max(each.visits for each in actions)
        tied = [each for each in actions if each.visits == most]
        chosen = tied[0] if self.ties is Ties.FIRST else tied[int(draw * len(tied))]
        values = chosen.values or tuple(map(float, game.utility(search.root_state)))
        return {
            "action": chosen.action,
            "value": values[search.seat],
            "values_by_seat": values,
            "action_values": {each.action: each.values[search.seat] for each in actions if each.visits},
            "stopped_by": stopped_by,
            "is_estimate": True,
            "visits": {each.action: each.visits for each in actions},
            "simulations": search.simulations,
            "actions_tried": sum(each.visits > 0 for each in actions),
            "actions_legal": len(actions),
            "evaluator": "playouts" if self.blueprint is None else self.blueprint.name,
            "stats": {"simulations": search.simulations, "information_sets": search.tree_nodes},
        }
