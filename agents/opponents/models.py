"""Models of opponents: in a state in which one is to move, a probability for every legal action."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from zermelo.agents.base.playouts import after
from zermelo.agents.base.requirements import no_legal_action
from zermelo.agents.base.settings import check_number, check_spec, import_name, setting_text
from zermelo.agents.baselines import NoisyAgent, RandomAgent
from zermelo.agents.evaluators.protocol import Evaluator, expected_totals
from zermelo.agents.evaluators.registry import default_evaluator, make_evaluator
from zermelo.agents.specs import copied_agent, list_agents
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.envs.game import Game
from zermelo.envs.support.spec_text import Spec, format_spec, parse_spec, unknown_name

Probabilities: TypeAlias = Mapping[int, float] | Sequence[float]
"""By action (those left out are never played); or in the order of the legal actions; or of all actions."""


OpponentModel: TypeAlias = Callable[[Any, Any], Probabilities]  # of game and state


@dataclass(frozen=True, kw_only=True)
class SoftmaxOpponent:
    """Better actions are likelier: in proportion to exp(value / temperature), one move ahead.

    Attributes:
        evaluator: Says what a state is worth, as for the searches; None takes what they would take.
        temperature: In the unit of utility: near 0 the best action is certain, far above it all are alike.
    """

    evaluator: Evaluator | str | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        check_number("temperature", self.temperature, lower=0, above=True)
        if self.evaluator is not None:
            object.__setattr__(self, "evaluator", make_evaluator(self.evaluator))

    def spec(self) -> str:
        settings = {}
        if self.evaluator is not None:
            settings["evaluator"] = setting_text(self.evaluator)
        if self.temperature != 1.0:
            settings["temperature"] = self.temperature
        return format_spec("softmax", settings)

    def __call__(self, game: Game[Any], state: Any) -> Probabilities:
        seat = game.to_move(state)
        given = self.evaluator
        assert not isinstance(given, str), "names become evaluators when the model is made"
        evaluator = given if given is not None else default_evaluator(game, state)
        # Where chance can only be simulated, one draw from a fixed seed.
        drawn = (after(game, state, action, np.random.default_rng(0)) for action in game.legal_actions(state))
        values = [expected_totals(evaluator, game, child)[seat] for child in drawn]
        best = max(values)
        weights = [math.exp((value - best) / self.temperature) for value in values]
        total = math.fsum(weights)
        return [weight / total for weight in weights]


class AgentOpponent:
    """Plays as an agent does; a ``NoisyAgent`` now and then plays any legal action.

    An agent that searches is asked for its best actions; if it draws among them, they are equally likely. Any
    other agent is asked to act in the environment that the state is a copy of.
    """

    def __init__(self, agent: Any) -> None:
        self.agent = copied_agent(agent)

    def spec(self) -> str:
        return str(getattr(self.agent, "spec", lambda: self.agent.name)())

    def __call__(self, game: Game[Any], state: Any) -> Probabilities:
        return _policy(self.agent, game, state)


def _policy(agent: Any, game: Game[Any], state: Any) -> Mapping[int, float]:
    actions = game.legal_actions(state)
    if isinstance(agent, NoisyAgent):
        chosen, share = _policy(agent.agent, game, state), agent.epsilon / len(actions)
        return {action: share + (1 - agent.epsilon) * chosen.get(action, 0.0) for action in actions}
    if isinstance(agent, RandomAgent) or hasattr(agent, "search_state"):
        return searched_policy(agent, game, state)
    agent.reset(getattr(agent, "seed", 0))
    return {acted_in(agent, game, state): 1.0}


def acted_in(agent: Any, game: Game[Any], state: Any) -> int:
    """The action of an agent that acts in environments only, in the one that the state is a copy of."""
    env = getattr(state, "env", None)
    if env is None:
        raise InvalidSettingError(
            f"{agent.name} acts in environments only, and the states of {game.traits.name} are none: use "
            "backend='clone', or an agent that searches"
        )
    played = agent.act(env)
    for action in game.legal_actions(state):
        if np.array_equal(game.to_env_action(state, action), played):
            return int(action)
    raise InvalidSettingError(f"{agent.name}, the opponent, played {played!r}, which is not legal")


def searched_policy(agent: Any, game: Game[Any], state: Any) -> Mapping[int, float]:
    """How likely an agent that searches, or plays at random, plays each action of a state.

    It begins with its own seed, so that it always answers the same; actions that it draws among are as likely.
    """
    if isinstance(agent, RandomAgent):
        best: Sequence[int] = game.legal_actions(state)
    else:
        agent.reset(getattr(agent, "seed", 0))
        result = agent.search_state(game, state)
        if result.policy:
            policy: Mapping[int, float] = result.policy
            return policy
        best = result.best_actions if getattr(agent, "ties", "") == "random" else (result.action,)
    return dict.fromkeys(best, 1 / len(best))


def make_opponent(given: Any) -> OpponentModel:
    """The model that is meant.

    ``given`` is ``"random"``; ``"softmax(evaluator=..., temperature=...)"``; an agent or the name of one, also
    with noise, ``"noisy(agent=greedy, epsilon=0.1)"``; or a function of game and state that returns probabilities,
    or its ``"module:name"``.

    Raises:
        UnknownNameError: Nothing has that name.
        InvalidSettingError: It is none of these, or a setting is wrong.
    """
    if isinstance(given, str | Spec):
        spec = parse_spec(given) if isinstance(given, str) else given
        if spec.name == "softmax":
            check_spec(spec, ("evaluator", "temperature"))
            return SoftmaxOpponent(**spec.arguments)
        if ":" in spec.name:
            imported = import_name(spec.name)
            if not isinstance(imported, type) and not spec.arguments:
                return make_opponent(imported)
        try:
            return AgentOpponent(spec)
        except UnknownNameError:
            if ":" in spec.name:
                raise
            names = ["softmax", "noisy", *(entry.name for entry in list_agents())]
            raise unknown_name("opponent", spec.name, names) from None
    if hasattr(given, "act") and hasattr(given, "reset"):
        return AgentOpponent(given)
    if not callable(given):
        raise InvalidSettingError(
            "opponent must be 'random', 'softmax', an agent, or a function of game and state that gives "
            f"probabilities, not {given!r}"
        )
    model: OpponentModel = given
    return model


def replies(model: OpponentModel, game: Game[Any], state: Any) -> list[tuple[int, float]]:
    """The actions that a model thinks possible, each with its probability; refuses what is no distribution."""
    actions = game.legal_actions(state)
    if not actions:
        raise no_legal_action(game)
    answered = model(game, state)
    name = getattr(model, "__name__", None) or type(model).__name__
    if isinstance(answered, Mapping):
        illegal = [action for action, p in answered.items() if p and action not in actions]
        if illegal:
            raise InvalidSettingError(
                f"the opponent {name} gave probability {answered[illegal[0]]} to {illegal[0]}, which is not one "
                f"of the legal actions {list(actions)}"
            )
        shares = [float(answered.get(action, 0.0)) for action in actions]
    else:
        shares = [float(p) for p in answered]
        if len(shares) != len(actions) and len(shares) == game.traits.num_actions:
            shares = [shares[action] for action in actions]
        if len(shares) != len(actions):
            raise InvalidSettingError(
                f"the opponent {name} gave {len(shares)} probabilities for the {len(actions)} legal actions "
                f"{list(actions)}: give one for each, or a mapping from actions to probabilities"
            )
    total = math.fsum(shares)
    if not all(0 <= p <= 1 + 1e-9 for p in shares) or not abs(total - 1) <= 1e-6:
        raise InvalidSettingError(
            f"the opponent {name} gave {shares} for the legal actions {list(actions)}: probabilities lie between "
            "0 and 1 and sum to 1"
        )
    return [(action, p / total) for action, p in zip(actions, shares, strict=True) if p > 0]
