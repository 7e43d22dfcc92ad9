"""Agents for games in which players move at the same time: they mix, as a move that is known can be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_simultaneous
from zermelo.agents.base.result import SearchResult, drawn_action
from zermelo.agents.base.settings import choice, number
from zermelo.agents.monte_carlo.simulating import SimulatingAgent
from zermelo.agents.monte_carlo.simultaneous.plain import JointSelection, SimultaneousSearch
from zermelo.envs.game import Game
from zermelo.envs.support.calls import checked_call

_EXPLORATION: Final = {JointSelection.DUCT: 0.7, JointSelection.REGRET: 0.1, JointSelection.EXP3: 0.2}
"""By exploitability in Goofspiel of four cards after 300 simulations (a random player's is 0.75): regret matching
0.11, 0.11 and 0.09 with 0.05, 0.2 and 0.4; Exp3 0.64, 0.39 and 0.33. After 1,000: 0.03 with 0.1, 0.23 with 0.1;
decoupled UCT 0.50."""


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SimultaneousMCTSAgent(SimulatingAgent):
    """Monte Carlo tree search for simultaneous moves: it learns a mixed strategy and draws its move from it.

    At each state of the tree, each player learns by itself from the returns of its actions; where two players are
    opposed, ``regret`` and ``exp3`` come near an equilibrium, while ``duct`` may go in circles. Any number of
    players, whatever they play for; they see all but each other's moves of the moment. Tak, Lanctot and Winands,
    "Monte Carlo tree search variants for simultaneous move games", IEEE CIG (2014).

    ``policy`` of the result is the mixture, from which ``action`` is drawn; values are means over all simulations.

    Attributes:
        selection: ``"regret"`` (regret matching), ``"exp3"`` or ``"duct"`` (decoupled UCT).
        exploration: For ``"duct"`` the weight of exploration, for utilities scaled to 0 to 1; else the share of
            simulations in which a player tries any action. None is 0.7 for ``"duct"``, 0.2 for ``"exp3"`` and 0.1
            for ``"regret"``.
    """

    kind: ClassVar[str] = "simultaneous_mcts"

    selection: JointSelection = choice(JointSelection.REGRET)
    exploration: float | None = number(None, "weight or share", lower=0)

    def check_game(self, game: Game[Any]) -> None:
        require_simultaneous(game, self.kind)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        exploration = _EXPLORATION[self.selection] if self.exploration is None else self.exploration
        if self.selection is not JointSelection.DUCT:
            exploration = min(exploration, 1.0)
        seed, draw = int(self.generator.integers(2**62)), float(self.generator.random())
        search = SimultaneousSearch(
            game, state, budget, selection=self.selection, exploration=exploration, seed=seed
        )
        seat = request.deciding_seat()
        found = self.simulate(request, search, lambda why: _found(search, seat, why, draw))
        return request.result(budget, **found)


def _found(search: SimultaneousSearch, seat: int, stopped_by: StoppedBy, draw: float) -> dict[str, Any]:
    learner, values = search.learner(seat), search.values()
    policy = dict(zip(learner.actions, learner.policy(), strict=True))
    visits = dict(zip(learner.actions, learner.visits, strict=True))
    totals = zip(learner.actions, learner.totals, strict=True)
    return {
        "action": drawn_action(policy, draw),
        "value": values[seat],
        "values_by_seat": values,
        "action_values": {action: total / visits[action] for action, total in totals if visits[action]},
        "stopped_by": stopped_by,
        "is_estimate": True,
        "visits": visits,
        "policy": policy,
        "simulations": search.simulations,
        "actions_tried": sum(count > 0 for count in visits.values()),
        "actions_legal": len(visits),
        "evaluator": "playouts",
        "stats": {"simulations": search.simulations, "tree_nodes": search.tree_nodes},
    }
