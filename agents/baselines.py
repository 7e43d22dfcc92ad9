"""The random agent, which everybody should beat, and agents that now and then play like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.base.branches import no_action_works
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.clock import GameClock, SupportsClock
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.recursion import GameTooLongError
from zermelo.agents.base.request import Request
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import Ties, choice, converted, integer, number
from zermelo.agents.evaluators.one_ply import totals_after
from zermelo.agents.evaluators.registry import default_evaluator, evaluator_name, make_evaluator
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.specs import copied_agent
from zermelo.envs.capabilities import copy_facts
from zermelo.envs.errors import GameOverError
from zermelo.envs.game import Chance
from zermelo.envs.support.calls import checked_call


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RandomAgent(ConfiguredAgent):
    """Plays legal actions uniformly at random.

    It looks at nothing but the action mask of the agent to move, so it is fair in every game, also with hidden
    cards, with chance, and with any number of players.
    """

    kind: ClassVar[str] = "random"

    def decide(self, env: Any) -> Any:
        from zermelo.envs.adapters.actions import legal_actions

        actions = legal_actions(env)
        if not actions:
            raise GameOverError(
                f"the agent to move in {env} has no legal action: the game is over, or it is time for "
                "env.step(None)"
            )
        return actions[int(self.generator.integers(len(actions)))]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NoisyAgent(ConfiguredAgent):
    """Plays as another agent does, but a share of all moves at random.

    Attributes:
        agent: The other agent, or its spec, such as ``alphabeta(depth=2)``.
        epsilon: The probability that a move is drawn from all legal ones.
    """

    kind: ClassVar[str] = "noisy"

    agent: Any = converted("greedy", copied_agent, "an agent, or its spec")
    epsilon: float = number(0.1, "probability", lower=0, upper=1)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self.agent.reset(None if seed is None else int(self.generator.integers(2**31)))

    def tell_clock(self, clock: GameClock) -> None:
        if isinstance(self.agent, SupportsClock):
            self.agent.tell_clock(clock)

    def check_fit(self, env: Any, view: Any = None) -> None:
        super().check_fit(env, view)
        if isinstance(self.agent, ConfiguredAgent):
            self.agent.check_fit(env, view)

    def decide(self, env: Any) -> Any:
        if self.generator.random() >= self.epsilon:
            return self.agent.act(env)
        return RandomAgent(seed=int(self.generator.integers(2**31))).decide(env)


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GreedyAgent(SearchAgent):
    """Tries each action once and plays the one whose reward and evaluation afterwards are best for itself.

    For any number of players and any rewards, as long as nothing is hidden. Chance that follows an action is
    averaged over, or sampled; evaluations for states before chance, as those of backgammon and 2048 are, count
    there.

    Attributes:
        evaluator: What the state after the action is worth: an ``Evaluator``, the name of one, ``"rewards"`` for
            nothing but what has been paid; None takes the game's own evaluation or known features, else rewards.
        samples: Draws to average over, where chance can only be simulated.
        ties: Which of several best actions to play: ``"random"`` (drawn from the seed) or ``"first"``.
        seconds: Time for a move, from the call on; an action that is not tried by then is not played. None: no
            limit.
    """

    kind: ClassVar[str] = "greedy"

    evaluator: Any = converted(None, make_evaluator, "an evaluator, or its name")
    samples: int = integer(8, "draws", lower=1)
    ties: Ties = choice(Ties.RANDOM)
    seconds: float | None = 1.0

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        evaluator = self.evaluator or default_evaluator(game, state)
        budget.nodes += 1  # whatever the limits: there must be an answer
        seat, seed = game.to_move(state), int(self.generator.integers(2**62))
        totals, stopped_by = totals_after(
            game, state, budget, seed=seed, evaluator=evaluator, samples=self.samples
        )
        if not totals and stopped_by is StoppedBy.DEPTH:
            raise no_action_works(game) if copy_facts(game).failures else GameTooLongError(game)
        actions = list(totals) or list(request.legal)
        so_far = tuple(map(float, game.utility(state)))
        best = max(totals.get(action, so_far)[seat] for action in actions)
        tied = [action for action in actions if totals.get(action, so_far)[seat] == best]
        action = tied[0] if self.ties is Ties.FIRST else tied[int(self.generator.integers(len(tied)))]
        values = totals.get(action, so_far)
        return request.result(
            budget,
            action=action,
            value=values[seat],
            values_by_seat=values,
            action_values={tried: total[seat] for tried, total in totals.items()},
            depth=1,
            stopped_by=stopped_by,
            is_estimate=game.traits.chance is Chance.SAMPLED,
            evaluator=evaluator_name(evaluator),
            actions_tried=len(totals),
        )
