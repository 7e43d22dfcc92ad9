"""A solved game played from a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.result import SearchResult
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.solving.policy_table import PolicyTable, game_identity, stable_key
from zermelo.envs import Game, InvalidSettingError


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PolicyTableAgent(SearchAgent):
    """Plays a solved game from a file: one of the optimal actions, drawn from the seed.

    Attributes:
        path: A file that ``zermelo solve ENV --policy FILE`` wrote, or ``PolicyTable.save``.
    """

    kind: ClassVar[str] = "policytable"

    path: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike) or not str(self.path):
            raise InvalidSettingError(
                f"path must name a file that `zermelo solve ENV --policy FILE` wrote, not {self.path!r}"
            )
        self._set("path", os.fspath(self.path))
        self._set("_table", PolicyTable.load(self.path))
        super().__post_init__()

    @property
    def table(self) -> PolicyTable:
        """What the file says."""
        table: PolicyTable = self.__dict__["_table"]
        return table

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        """Looks a state up.

        Raises:
            InvalidSettingError: The table is of another game, or does not have the state.
        """
        table = self.table
        if game_identity(game) != table.game:
            raise InvalidSettingError(
                f"{self.path} holds a policy for {table.game}, not for {game_identity(game)}: solve this game"
            )
        found = table.entries.get(stable_key(game, state))
        seat = game.to_move(state)
        if found is None:
            owner = "" if table.seat is None else f" for seat {table.seat} (to move is seat {seat})"
            raise InvalidSettingError(
                f"{self.path} has no action for this position of {game.traits.name}: it covers the {len(table):,} "
                f"states of a {table.plan} plan{owner}; write one with --plan full, or from this position"
            )
        to_come, actions = found
        paid = game.utility(state)
        value = paid[seat] + to_come
        rest = game.traits.constant - value
        action = actions[int(self.generator.integers(len(actions)))]
        return SearchResult(
            action=action,
            env_action=game.to_env_action(state, action),
            value=value,
            values_by_seat=tuple(value if other == seat else rest for other in range(game.traits.seats)),
            action_values=dict.fromkeys(actions, value),
            proven_actions=() if table.tolerance else tuple(sorted(actions)),
            principal_variation=(action,),
            nodes=1,
            seconds=budget.seconds,
            proven=not table.tolerance,
        )
