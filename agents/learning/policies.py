"""Agents made of the models and policies of training libraries."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from zermelo.agents.agent import Agent
from zermelo.agents.players.learned.models import Sb3Agent, TorchAgent
from zermelo.agents.players.learned.policy import PolicyAgent
from zermelo.agents.specs import make_agent
from zermelo.envs import InvalidSettingError


def agent_of(policy: Any, name: str = "policy") -> Agent:
    """The agent that plays a policy.

    Args:
        policy: A function of observation and action mask, a model of Stable-Baselines3, a PyTorch module, the spec
            of an agent such as ``"alphabeta(depth=2)"``, an agent, or a class or function that makes one.
        name: What to call it; specs and agents keep their own names.

    Raises:
        InvalidSettingError: It is none of these.
    """
    if isinstance(policy, str):
        return make_agent(policy)
    if _is_baselines(policy):
        return Sb3Agent(model=policy, name=name)
    if is_module(policy):
        first = next(iter(policy.parameters()), None)
        device = "cpu" if first is None else str(first.device)
        return TorchAgent(module=policy, mask_input=_wants_mask(policy.forward), device=device, name=name)
    if isinstance(policy, type):
        policy = policy()
    if is_agent(policy):
        found: Agent = policy
        return found
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


def _is_baselines(value: Any) -> bool:
    """True for models and policies of Stable-Baselines3 and sb3-contrib."""
    homes = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return bool(homes & {"stable_baselines3", "sb3_contrib"}) and callable(getattr(value, "predict", None))


def _wants_mask(forward: Callable[..., Any]) -> bool:
    """True if a module's second input is required, or called a mask."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    inputs = [entry for entry in inspect.signature(forward).parameters.values() if entry.kind in kinds]
    return len(inputs) > 1 and (inputs[1].default is inspect.Parameter.empty or "mask" in inputs[1].name)
