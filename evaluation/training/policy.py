"""What a training loop has in hand, as an agent; and the loop as it was when the games are over."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from zermelo.agents import Agent, PolicyAgent, Sb3Agent, TorchAgent
from zermelo.envs import InvalidSettingError
from zermelo.evaluation.match.sources import build_agent
from zermelo.evaluation.runners.serial import kept_globals, seed_globals

__all__ = ["agent_of", "undisturbed"]


def agent_of(policy: Any, name: str) -> Agent:
    """The agent that plays a policy.

    Args:
        policy: A function, a model of Stable-Baselines3, a PyTorch module, an agent, or what makes one.
        name: What to call it; an agent keeps its own name.

    Raises:
        InvalidSettingError: It is none of these.
    """
    if _is_baselines(policy):
        return Sb3Agent(model=policy, name=name)
    if _is_module(policy):
        first = next(iter(policy.parameters()), None)
        device = "cpu" if first is None else str(first.device)
        return TorchAgent(module=policy, mask_input=_wants_mask(policy.forward), device=device, name=name)
    is_agent = callable(getattr(policy, "act", None)) and callable(getattr(policy, "reset", None))
    if is_agent or isinstance(policy, type | str):
        return build_agent(policy)
    if callable(policy):
        return PolicyAgent(policy, name=name)
    raise InvalidSettingError(
        "policy must be a function of (observation, action_mask), a model of Stable-Baselines3, a PyTorch module "
        f"or an agent, not {policy!r}"
    )


@contextlib.contextmanager
def undisturbed(policy: Any, seed: int) -> Iterator[None]:
    """Starts the global random numbers from the seed; at the end they and the modules' modes are as they were."""
    torch = sys.modules.get("torch")
    with contextlib.ExitStack() as stack:
        stack.enter_context(kept_globals())
        seed_globals(seed)  # policies written by hand draw from the global generators
        if torch is not None:
            cuda = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
            stack.enter_context(torch.random.fork_rng(devices=list(cuda)))
            torch.manual_seed(seed)
            for part in _parts(policy):
                stack.callback(setattr, part, "training", part.training)
        yield


def _parts(policy: Any) -> list[Any]:
    """The modules whose mode playing may change."""
    module: Any = policy if _is_module(policy) else getattr(policy, "policy", None)
    return list(module.modules()) if _is_module(module) else []


def _is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _is_baselines(value: Any) -> bool:
    """Whether this is a model or a policy of Stable-Baselines3 or sb3-contrib, which know how to predict."""
    homes = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return bool(homes & {"stable_baselines3", "sb3_contrib"}) and callable(getattr(value, "predict", None))


def _wants_mask(forward: Callable[..., Any]) -> bool:
    """Whether a module's second input is needed, or called a mask."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    inputs = [entry for entry in inspect.signature(forward).parameters.values() if entry.kind in kinds]
    return len(inputs) > 1 and (inputs[1].default is inspect.Parameter.empty or "mask" in inputs[1].name)
