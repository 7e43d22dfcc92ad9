"""A training loop as it was when its policy's games are over."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from zermelo.agents.learning.policies import is_module
from zermelo.evaluation.runners.serial import kept_globals, seed_globals


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
    module: Any = policy if is_module(policy) else getattr(policy, "policy", None)
    return list(module.modules()) if is_module(module) else []
