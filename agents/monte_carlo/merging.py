"""Root parallelism: what several processes have found in trees of their own, as one search.

Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", Computers and Games (2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.scores import count_values
from zermelo.agents.monte_carlo.interface import BestPlayout, RootEdge, SimulationSearch
from zermelo.agents.workers.orders import WorkerAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationAnswer(WorkerAnswer):
    """The answer of one process that simulates.

    Attributes:
        moves, lines: The actions at the root, and the principal variation after each that was followed.
        one_ply_rewards: What each seat is paid after actions that were tried before the first simulation.
        refuted: What actions leave their player to which a reply ends the game below what was believed of them.
        paid: What each seat is paid after actions in the tree.
    """

    moves: Sequence[RootEdge]
    lines: Mapping[int, tuple[int, ...]]
    one_ply_rewards: Mapping[int, tuple[float, ...]]
    refuted: Mapping[int, float]
    paid: Mapping[int, tuple[float, ...]]
    best_line: BestPlayout
    simulations: int
    tree_nodes: int
    tree_depth: int
    leaves: int
    leaf_seconds: float
    compiled: bool
    why_plain: str


class MergedRoots(SimulationSearch):
    """Searches of one state as one: visits are added up, means weighted by them, and each proof counts."""

    config: Any = None

    def __init__(self, game: Any, state: Any, parts: Sequence[SimulationAnswer]) -> None:
        self.game, self.root_state = game, state
        self.seat: int = game.to_move(state)
        self.num_values = count_values(game.traits)
        self.parts = parts
        self.simulations = sum(part.simulations for part in parts)
        self.tree_nodes = sum(part.tree_nodes for part in parts)
        self.tree_depth = max(part.tree_depth for part in parts)
        self.leaves = sum(part.leaves for part in parts)
        self.leaf_seconds = sum(part.leaf_seconds for part in parts)
        self.compiled = all(part.compiled for part in parts)
        self.why_plain = next((part.why_plain for part in parts if part.why_plain), "")
        self.one_ply_rewards = {action: paid for part in parts for action, paid in part.one_ply_rewards.items()}
        self.refuted = {action: left for part in parts for action, left in part.refuted.items()}
        self.best_line = max((part.best_line for part in parts), key=lambda line: line.total)
        reasons = [part.stopped_by for part in parts]
        self.stopped_by = next((why for why in reasons if why is not StoppedBy.COMPLETED), StoppedBy.COMPLETED)

    def root_actions(self) -> list[RootEdge]:
        found: dict[int, list[RootEdge]] = {}
        for part in self.parts:
            for move in part.moves:
                found.setdefault(move.action, []).append(move)
        return [merged_action(found[action]) for action in sorted(found)]

    def root_totals(self) -> Mapping[int, tuple[float, ...]]:
        return {action: paid for part in self.parts for action, paid in part.paid.items()}

    def line_after(self, action: int) -> tuple[int, ...]:
        """The principal variation of the process in which the action was followed most."""
        visits = [next((move.visits for move in part.moves if move.action == action), 0) for part in self.parts]
        most = visits.index(max(visits))
        return self.parts[most].lines.get(action, ())


def merged_action(moves: Sequence[RootEdge]) -> RootEdge:
    """One action in several searches as one."""
    visits = sum(move.visits for move in moves)
    tried = [move for move in moves if move.visits]
    values: tuple[float, ...] = ()
    if tried:
        columns = zip(*(move.values for move in tried), strict=True)
        weights = [move.visits / visits for move in tried]
        values = tuple(sum(map(float.__mul__, weights, map(float, column))) for column in columns)
    lower, upper = max(move.lower for move in moves), min(move.upper for move in moves)
    return RootEdge(moves[0].action, visits, values, lower, upper)
