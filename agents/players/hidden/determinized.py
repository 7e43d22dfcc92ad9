"""Perfect-information Monte Carlo: any search, on deals that the player cannot tell from the real one."""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.gate import require_information_states
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.options import Ties
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice, made, whole
from zermelo.agents.players.hidden.beliefs import UNIFORM, dealer, make_belief
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.specs import make_agent
from zermelo.envs import Game, Information, InvalidSettingError, TraitSource
from zermelo.envs.spec_text import Spec


class Decides(enum.StrEnum):
    """Rules for the choice between actions over all deals."""

    VOTES = "votes"
    """The deals on which the search chose an action; of as many, the mean value."""
    VALUES = "values"
    """The mean value that the search gave an action."""


def _make_inner(given: Any) -> Any:
    agent: Any = copy.copy(make_agent(str(given) if isinstance(given, Spec) else given))
    if not hasattr(agent, "search_state") or isinstance(agent, DeterminizedAgent):
        raise InvalidSettingError(f"determinized needs an agent that searches, not {agent.name!r}")
    return agent


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DeterminizedAgent(SearchAgent):
    """Samples the hidden cards and lets any search play each deal as if all cards were open.

    Ginsberg, "GIB: imperfect information in a computationally challenging game", JAIR 14 (2001). It has two known
    faults: strategy fusion, so that it never values hiding or finding out (``ismcts`` has not), and non-locality,
    unless ``belief`` says what others do. Long, Sturtevant, Buro and Furtak, "Understanding the success of perfect
    information Monte Carlo sampling in game tree search", AAAI (2010).

    The value is the mean over all deals; ``values_by_seat`` that over the deals on which the action was chosen.

    Attributes:
        agent: The search, or its spec, such as ``mcts(simulations=100)``.
        samples: Deals to search.
        seconds: Time to take, from the call on.
        decides: ``"votes"`` or ``"values"``.
        belief: ``"uniform"``, or a model of the others, as ``opponent`` of ``expectimax``: deals in which they
            would have played as they did are likelier.
        ties: The choice among best actions: ``"random"`` (drawn from the seed) or ``"first"``.
    """

    kind: ClassVar[str] = "determinized"

    agent: Any = made("mcts(simulations=50)", _make_inner)
    samples: int = whole(20, lower=1)
    seconds: float | None = None
    decides: Decides = choice(Decides.VOTES)
    belief: Any = made(UNIFORM, make_belief)
    ties: Ties = choice(Ties.RANDOM)

    def prepare(self, env: Any) -> None:
        replace(self, samples=1).search(env)

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        inner: Any = self.agent
        seen: Any = _as_seen(game)
        seat, stopped_by = game.to_move(state), StoppedBy.COMPLETED
        deal = dealer(self.belief, game, state, seat)
        if isinstance(inner, SearchAgent):
            inner.search_within(budget)
        votes: Counter[int] = Counter()
        valued: dict[int, list[float]] = {}
        by_seat: dict[int, list[tuple[float, ...]]] = {}
        nodes = samples = 0
        for _ in range(self.samples):
            try:
                if samples:
                    budget.check_clock()
            except SearchStopped as stopped:
                stopped_by = stopped.reason
                break
            inner.reset(int(self.generator.integers(2**31)))
            found = inner.search_state(seen, deal(self.generator))
            samples, nodes = samples + 1, nodes + found.nodes
            votes[found.action] += 1
            by_seat.setdefault(found.action, []).append(found.values_by_seat)
            for action, value in (found.action_values or {found.action: found.value}).items():
                valued.setdefault(action, []).append(value)
        means = {action: sum(valued[action]) / len(valued[action]) for action in sorted(valued)}
        by_votes = self.decides is Decides.VOTES
        scores = {action: (votes[action] if by_votes else 0, mean) for action, mean in means.items()}
        tied = [action for action, score in scores.items() if score == max(scores.values())]
        draw = float(self.generator.random())
        action = tied[0] if self.ties is Ties.FIRST else tied[int(draw * len(tied))]
        chosen_on = by_seat.get(action) or [each for deals in by_seat.values() for each in deals]
        values = tuple(sum(seats) / len(chosen_on) for seats in zip(*chosen_on, strict=True))
        return SearchResult(
            action=action,
            value=means[action],
            values_by_seat=values,
            action_values=means,
            nodes=nodes,
            stopped_by=stopped_by,
            is_estimate=True,
            visits={action: votes[action] for action in game.legal_actions(state)},
            evaluator=found.evaluator,
            stats={"samples": samples},
        )


def _as_seen(game: Game[Any]) -> Game[Any]:
    traits = game.traits
    sources = {**traits.sources, "information": TraitSource.GIVEN}
    open_traits = dataclasses.replace(traits, information=Information.PERFECT, simultaneous=False, sources=sources)
    made = copy.copy(game)
    kind = type(game)
    made.__class__ = type(kind.__name__, (kind,), {"traits": property(lambda _: open_traits)})
    return made
