"""Requests for a search, and the one place where results are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zermelo.agents.base.budget import Budget, StopFlag
from zermelo.agents.base.clock import TimeShare
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.memory import NO_LIMITS
from zermelo.agents.base.requirements import trusted_traits
from zermelo.agents.base.result import SearchResult, renumbered
from zermelo.agents.base.settings import Compile
from zermelo.envs.capabilities import copy_facts
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.position import Position


@dataclass(frozen=True, slots=True)
class Request:
    """A request for one search.

    Attributes:
        position: The game and the state, and how the caller numbers actions.
        limits: Those of the agent.
        legal: The legal actions of the state; none where several are to move.
        seat: Whose action is asked for, where several are to move and the state does not say it.
        share: The share of a game's clock that the search may take.
        compile: What the search may wait for.
        ponders: True on the opponent's time: only a stop flag ends the search then, and its depth.
        method: The result's ``method``, where the agent that searches was chosen by another.
    """

    position: Position
    limits: Limits
    legal: Sequence[int]
    seat: int | None = None
    share: TimeShare | None = None
    compile: Compile = Compile.WAIT
    ponders: bool = False
    method: str = ""

    @property
    def game(self) -> Any:
        return self.position.game

    @property
    def state(self) -> Any:
        return self.position.state

    @property
    def ends_by(self) -> Limits:
        """The limits that end the search."""
        return NO_LIMITS if self.ponders else self.limits

    def part(self, limits: Limits) -> Request:
        """The request for a search within this one."""
        return replace(self, limits=limits, share=None)

    def budget(
        self, started: float | None = None, stop: StopFlag | None = None, within: Budget | None = None
    ) -> Budget:
        """The nodes and the time that the search may take, from ``started`` or now on."""
        budget = Budget(self.limits, started, stop, self.compile, within, endless=self.ponders)
        budget.compiling = self.position.preparing
        if self.share is not None:
            budget.end_within(self.share.usual)
        return budget

    def deciding_seat(self) -> int:
        """The seat whose action is asked for: the one the environment asks, or the first of those that move."""
        movers: Sequence[int] = self.game.movers(self.state)
        if self.seat is not None and self.seat in movers:
            return self.seat
        try:
            asked: int = self.game.to_move(self.state)
        except UnsupportedGameError:  # OpenSpiel asks all at once
            return movers[0]
        return asked

    def should_continue(self, on_iteration: Callable[[SearchResult], object] | None, found: SearchResult) -> bool:
        """Shows a callback, if there is one, what was found so far, and asks it whether to go on."""
        return on_iteration is None or self.ponders or on_iteration(found) is not False

    def result(
        self,
        budget: Budget,
        *,
        action: int,
        proven: bool = False,
        principal_variation: Sequence[int] = (),
        nodes: int = 0,
        failures: int = 0,
        method: str = "",
        **found: Any,
    ) -> SearchResult:
        """The result of the search: of what it has found in the game's own numbers, what its caller reads.

        Nothing is proven where a trait is a guess, or a line of play was left out.
        """
        game, state, traits = self.position.game, self.position.state, self.position.game.traits
        failures = max(failures, copy_facts(game).failures)
        if failures or traits.guessed:
            proven, found["plies"], found["proven_actions"] = False, None, ()
        if self.legal:
            found["actions_legal"] = len(self.legal)
        made = SearchResult(
            action=action,
            env_action=game.to_env_action(state, action),
            proven=proven,
            principal_variation=tuple(principal_variation) or (action,),
            nodes=nodes or budget.nodes,
            seconds=budget.seconds,
            compiling=budget.compiling,
            assumed=trusted_traits(traits),
            failures=failures,
            method=self.method or method,
            **found,
        )
        return renumbered(made, game, state) if self.position.renumbers else made
