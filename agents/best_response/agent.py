"""A best response by search, as an agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.clock import GameClock, SupportsClock
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.playouts import random_game
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_turns
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import converted, integer
from zermelo.agents.best_response.asking import AskedPolicy, own_agent
from zermelo.agents.best_response.game import ResponseGame
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.specs import copied_agent
from zermelo.envs.capabilities import SupportsPast, offers
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Game, Information
from zermelo.envs.position import Position, position
from zermelo.envs.support.calls import checked_call
from zermelo.envs.traits.merging import PATIENCE

_SLOW: Final = 0.02  # seconds for an answer that are worth a note
_ON_THE_WAY: Final = 100
"""Moves of a random game after which it is given up to find one of the policy's, before the first search."""


def _policy(given: Any) -> Any:
    if given == "":
        raise InvalidSettingError("best_response needs the policy that it answers, as in opponent=greedy")
    return own_agent(given)


def _searching(given: Any) -> Any:
    agent = copied_agent(given)
    if not isinstance(agent, SearchAgent):
        raise InvalidSettingError(f"agent must be one that searches ('mcts'), not {agent.name!r}")
    return agent


class _Against(TransientState):
    """The game against the policy, which keeps its answers from move to move."""

    def __init__(self) -> None:
        self.game: ResponseGame | None = None


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BestResponseAgent(SearchAgent):
    """Best response to a known policy: another agent searches the game in which the policy's moves are chance.

    The policy is asked what it plays at the nodes of the search, by what its player sees there; the live game
    shows it nothing, and shows this agent no more than any other. Where something is hidden, it is dealt again, as
    likely as the policy's past moves make it, if the game says what was played (``moves_so_far``). The policy sits
    in all other seats. It is asked without its memory of the game, and those that draw their moves are estimated.
    Timbers et al., "Approximate exploitability: learning a best response", IJCAI (2022).

    Attributes:
        agent: The agent that searches, or its spec, such as ``mcts(seconds=1)``.
        opponent: The policy, as an agent or its spec: ``greedy``, ``ppo.zip``,
            ``"policy(policy='mymodule:play')"``.
        asks: How often a policy that draws its moves is asked in a position, with a seed each.
    """

    kind: ClassVar[str] = "best_response"

    agent: Any = converted("auto", _searching, "a search agent, or its spec")
    opponent: Any = converted("", _policy, "an agent, or its spec")
    asks: int = integer(4, "questions", lower=1)

    _against: _Against = field(init=False, default_factory=_Against)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self.agent.reset(None if seed is None else int(self.generator.integers(2**31)))

    def tell_clock(self, clock: GameClock) -> None:
        if isinstance(self.agent, SupportsClock):
            self.agent.tell_clock(clock)

    def check_game(self, game: Game[Any]) -> None:
        traits = game.traits
        if traits.seats < 2:
            raise UnsupportedGameError(
                f"{self.kind} needs an opponent, but {traits.name} has one seat: use 'auto'"
            )
        if not offers(game, SupportsPast):
            require_turns(traits, self.kind)
        self.agent.check_game(self._response(game, 0))

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        super().prepare(env, seconds)
        root = position(env, backend=self.backend, traits=self.traits, patience=seconds)
        self._ask_once(root.game, root.state)

    def _ask_once(self, game: Any, state: Any) -> None:
        """Has the policy load and compile what it needs, by a move that it would make later in a random game."""
        mover = game.to_move(state)
        for here in random_game(game, state, np.random.default_rng(0), _ON_THE_WAY):
            if game.to_move(here) != mover:
                self._response(game, mover).policy.replies(here)
                return

    def _response(self, game: Game[Any], seat: int) -> ResponseGame:
        last = self._against
        is_same = last.game is not None and (last.game.inside is game or last.game.inside == game)
        if last.game is None or not is_same or last.game.seat != seat:
            policy = last.game.policy if last.game and is_same else AskedPolicy(game, self.opponent, self.asks)
            last.game = ResponseGame(game, seat, policy)
        return last.game

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        seat = request.deciding_seat() if game.traits.simultaneous else game.to_move(state)
        against = self._response(game, seat)
        policy = against.policy
        if not policy.asked:
            with budget.off_the_clock():
                self._ask_once(game, state)
        asked, taken = policy.asked, policy.seconds
        self.agent.stop_by(budget.stop)
        found: SearchResult = self.agent.search_position(
            Position(against, state, None, renumbers=False), budget.now()
        )
        stats = {
            "asked": policy.asked - asked,
            "asking_seconds": policy.seconds - taken,
            "policy_failures": policy.failed,
        }
        notes = [found.note, self._note(game, policy)]
        return request.result(
            budget,
            action=found.action,
            value=found.value,
            values_by_seat=game.traits.values_by_seat(seat, found.value),
            action_values=found.action_values,
            depth=found.depth,
            nodes=found.nodes,
            stopped_by=found.stopped_by,
            proven=found.proven and policy.is_known and not policy.failed,
            is_estimate=found.is_estimate or policy.varies,
            standard_error=found.standard_error,
            visits=found.visits,
            policy=found.policy,
            method=found.method,
            evaluator=found.evaluator,
            simulations=found.simulations,
            actions_tried=found.actions_tried,
            note="; ".join(filter(None, notes)),
            failures=found.failures,
            stats={**found.stats, **stats},
        )

    def caveats(self, game: Game[Any], *, probe: float = 0.0) -> list[str]:
        """Sentences on what a search cannot know of the policy in this game.

        With a ``probe`` it is asked for so many seconds at most, in a random game.
        """
        against, found = self._response(game, 0), []
        policy, ends = against.policy, Budget.now() + probe
        for state in (
            random_game(game, game.initial_state(), np.random.default_rng(0), _ON_THE_WAY) if probe else ()
        ):
            if game.to_move(state) and not policy.varies and Budget.now() < ends:
                policy.replies(state)
        if policy.varies:
            found.append(f"the policy's probabilities are estimates from {self.asks} answers in each position")
        if policy.asked and policy.seconds > _SLOW * policy.asked:
            found.append(
                f"the policy takes {policy.seconds / policy.asked:.2g} s to answer, which leaves little to ask"
            )
        if game.traits.information is Information.HIDDEN and not against.weighs_deals:
            found.append(
                "what is dealt again does not depend on what the policy did, as the game does not say what was "
                "played (moves_so_far): a best response may win more"
            )
        return found

    def _note(self, game: Game[Any], policy: AskedPolicy) -> str:
        failed = f"the policy failed in {policy.failed} positions ({policy.failure}), where it counts as random"
        return "; ".join([*([failed] if policy.failed else []), *self.caveats(game)])
