"""Opponents of a learner, drawn for each game: by weights, up a ladder, or its own earlier selves."""

from __future__ import annotations

import copy
import inspect
import io
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from zermelo.agents.agent import Agent
from zermelo.agents.base.settings import check_whole
from zermelo.agents.policies.models import Sb3Agent, TorchAgent
from zermelo.agents.policies.policy import PolicyAgent
from zermelo.agents.specs import make_agent
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call

_FORGET: Final = 0.05  # weight of each new result of self-play in the mean: old ones fade


@checked_call
def agent_of(policy: Any, name: str = "policy") -> Agent:
    """The agent that plays a policy: a spec, a function of observation and mask, a model, an agent or its class.

    ``name`` is that of functions and models (of Stable-Baselines3, or PyTorch modules).

    Raises:
        InvalidSettingError: It is none of these.
    """
    if isinstance(policy, str):
        return make_agent(policy)
    if is_baselines(policy):
        return Sb3Agent(model=policy, name=name)
    if is_module(policy):
        first = next(iter(policy.parameters()), None)
        device = "cpu" if first is None else str(first.device)
        return TorchAgent(module=policy, mask_input=_wants_mask(policy.forward), device=device, name=name)
    if isinstance(policy, type):
        policy = policy()
    if is_agent(policy):
        agent: Agent = policy
        return agent
    if callable(policy):
        return PolicyAgent(policy, name=name)
    raise InvalidSettingError(
        "policy must be a function of (observation, action_mask), a model of Stable-Baselines3, a PyTorch module "
        f"or an agent, not {policy!r}"
    )


def is_agent(value: Any) -> bool:
    """True for agents."""
    return callable(getattr(value, "act", None)) and callable(getattr(value, "reset", None))


def is_module(value: Any) -> bool:
    """True for PyTorch modules."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def is_baselines(value: Any) -> bool:
    """True for models of Stable-Baselines3 and sb3-contrib."""
    homes = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return bool(homes & {"stable_baselines3", "sb3_contrib"}) and callable(getattr(value, "predict", None))


def _wants_mask(forward: Callable[..., Any]) -> bool:
    """True if a module's second input is required, or called a mask."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    inputs = [entry for entry in inspect.signature(forward).parameters.values() if entry.kind in kinds]
    return len(inputs) > 1 and (inputs[1].default is inspect.Parameter.empty or "mask" in inputs[1].name)


@runtime_checkable
class OpponentSchedule(Protocol):
    """Draws an opponent for each game, and hears how the game ended."""

    def draw(self, generator: np.random.Generator) -> tuple[str, Any]:
        """The next opponent's name, and the opponent: an agent, or what ``agent_of`` makes one of."""
        ...

    def record(self, name: str, score: float) -> None:
        """Takes the learner's score against an opponent: 1 for a win, 0.5 for a draw, 0 for a loss."""
        ...


@checked_call
class Mix:
    """Opponents, one or more of what ``agent_of`` takes, drawn with equal probability."""

    def __init__(self, opponents: Sequence[Any]) -> None:
        self.opponents = named(opponents)

    def draw(self, generator: np.random.Generator) -> tuple[str, Any]:
        return self.opponents[int(generator.integers(len(self.opponents)))]

    def record(self, name: str, score: float) -> None:
        """Nothing: results do not matter."""


@checked_call
class Ladder:
    """Opponents from weak to strong: the learner climbs once it scores enough against the present one.

    Args:
        opponents: The rungs, the weakest first.
        mark: The mean score that leads to the next rung, 0 to 1.
        games: The last games on a rung that count, and the fewest played there.
        back: The probability of a game on one of the rungs below, so that they are not forgotten.
    """

    def __init__(
        self, opponents: Sequence[Any], *, mark: float = 0.6, games: int = 100, back: float = 0.2
    ) -> None:
        self.opponents = named(opponents)
        check_whole("games", games, lower=1)
        for setting, value in (("mark", mark), ("back", back)):
            if not 0 <= value <= 1:
                raise InvalidSettingError(f"{setting} must be a number from 0 to 1, not {value!r}")
        self.mark, self.games, self.back = mark, games, back
        self.rung = 0
        self._scores: list[float] = []

    def draw(self, generator: np.random.Generator) -> tuple[str, Any]:
        """The present rung's opponent, or now and then one from below."""
        if self.rung and generator.random() < self.back:
            return self.opponents[int(generator.integers(self.rung))]
        return self.opponents[self.rung]

    def record(self, name: str, score: float) -> None:
        if name != self.opponents[self.rung][0] or self.rung + 1 == len(self.opponents):
            return
        self._scores = [*self._scores, score][-self.games :]
        if len(self._scores) == self.games and sum(self._scores) / self.games >= self.mark:
            self.rung += 1
            self._scores = []


@checked_call
class SelfPlay:
    """Prioritised fictitious self-play: earlier selves, met by the square of what the learner fails to score.

    Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning", Nature 575
    (2019). An opponent that has not been met counts as even. ``opponents`` are there from the start.
    """

    def __init__(self, opponents: Sequence[Any] = ("random",)) -> None:
        self._pool: dict[str, Any] = dict(named(opponents))
        self._scores: dict[str, float] = {}

    @property
    def scores(self) -> dict[str, float]:
        """The learner's mean score against each opponent it has met, new games counting most."""
        return dict(self._scores)

    @property
    def opponents(self) -> list[tuple[str, Any]]:
        return list(self._pool.items())

    def add(self, opponent: Any, name: str) -> None:
        """Adds an opponent, such as a copy of the policy as it is now."""
        if name in self._pool:
            raise InvalidSettingError(f"there is an opponent called {name!r} already")
        self._pool[name] = opponent

    def add_copy(self, policy: Any, name: str) -> None:
        """Adds a copy of a policy that learns, as it is now: a model of Stable-Baselines3 or a PyTorch module.

        Raises:
            InvalidSettingError: It is neither, so that nobody knows what of it learns.
        """
        if is_baselines(policy):
            file = io.BytesIO()
            policy.save(file)
            file.seek(0)
            self.add(type(policy).load(file, device=policy.device), name)
        elif is_module(policy):
            self.add(copy.deepcopy(policy).eval(), name)
        else:
            raise InvalidSettingError(
                f"a copy is made of a model of Stable-Baselines3 or a PyTorch module, not of {policy!r}: add a "
                "copy of your own by add(policy, name)"
            )

    def draw(self, generator: np.random.Generator) -> tuple[str, Any]:
        names = list(self._pool)
        weights = np.array([(1 - self._scores.get(name, 0.5)) ** 2 for name in names]) + 1e-3
        name = names[int(generator.choice(len(names), p=weights / weights.sum()))]
        return name, self._pool[name]

    def record(self, name: str, score: float) -> None:
        before = self._scores.get(name, 0.5)
        self._scores[name] = before + _FORGET * (score - before)


def named(opponents: Any) -> list[tuple[str, Any]]:
    """Opponents with a name each: a spec is its own, agents have one, others are numbered."""
    if isinstance(opponents, str) or is_agent(opponents) or callable(opponents):
        opponents = [opponents]
    try:
        listed = list(opponents)
    except TypeError:
        listed = []
    if not listed:
        raise InvalidSettingError(
            f"opponents must be one or more agents, such as ['random', 'alphabeta(depth=2)'], not {opponents!r}"
        )
    names: dict[str, Any] = {}
    for number, opponent in enumerate(listed):
        agent = agent_of(opponent, "opponent")
        is_spec = isinstance(opponent, str)
        name = opponent if is_spec else str(getattr(agent, "name", f"opponent {number}"))
        # Each seat can have an agent of its own, made of the spec.
        names[f"{name} #{number}" if name in names else name] = opponent if is_spec else agent
    return list(names.items())
