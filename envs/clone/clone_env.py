"""An independent copy of a live environment, at its current position.

``copy.deepcopy`` cannot do this: PettingZoo's environments inherit ``EzPickle``, so that a deep copy is built anew
from constructor arguments and has lost the game.
"""

from __future__ import annotations

from typing import TypeVar

from zermelo.envs.clone.copier import RUNS, copier_for
from zermelo.envs.errors import CloneError

__all__ = ["clone_env"]

Env = TypeVar("Env")


def clone_env(env: Env) -> Env:
    """An independent copy of an environment at the current position; stepping one never changes the other.

    Args:
        env: Any PettingZoo environment, raw or wrapped, or any Gymnasium environment; also one not yet reset.

    Returns:
        A new environment of the same class. What cannot change is shared with ``env`` (spaces without a random
        generator of their own, pygame surfaces, fonts and clocks); everything else is copied, and objects that
        ``env`` reaches by two paths are one object in the copy as well. Random generators are copied with their
        state, so the copy draws the same numbers: a search replaces them first (``replace_generators``).

    Raises:
        CloneError: Something in the environment cannot be copied right, such as an open file or a thread; the
            message names it by its path.
    """
    run = RUNS.get(type(env))
    if run is None:
        if env is None or isinstance(env, type) or not hasattr(env, "step"):
            shown = repr(env) if not isinstance(env, type) else f"the class {env.__qualname__}"
            raise CloneError(f"clone_env needs a live environment, with a step method, not {shown[:100]}")
        run = copier_for(env)
    copied: Env = run(env)
    return copied
