"""Traits that an environment declares itself: the mapping ``zermelo_traits``, on itself or in its metadata.

Its chance, with three names (the guide "Dice of your own"): ``chance_outcomes()``, pairs of an outcome and its
probability, none unless the next event is chance; ``apply_chance(outcome)``, which makes it happen and adds to
``rewards``; and ``defer_chance``, False, which a search sets to True on its copies: ``step`` and ``reset`` then
stop at the chance event. What its agents know, with the methods ``information_state_key`` and ``resample``.

All is asked of the environment itself, below its wrappers: ``defer_chance`` set on one would not be seen inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from zermelo.envs.errors import EnvFailedError
from zermelo.envs.live.wrappers import layers
from zermelo.envs.traits.merging import checked_traits


def declared_traits(env: Any) -> dict[str, Any]:
    """The fields that the environment declares on itself or in its metadata; the innermost layer counts least."""
    declared: dict[str, Any] = {}
    for layer in reversed(layers(env)):
        kind, own = type(layer), getattr(layer, "__dict__", {})
        metadata = own.get("metadata", getattr(kind, "metadata", None))
        of_metadata = metadata.get("zermelo_traits") if isinstance(metadata, Mapping) else None
        of_layer = own.get("zermelo_traits", getattr(kind, "zermelo_traits", None))
        for mapping, where in ((of_metadata, "metadata['zermelo_traits']"), (of_layer, "zermelo_traits")):
            if mapping is not None:
                declared |= checked_traits(mapping, f"{where} of {kind.__name__}")
    return declared


def checked_outcomes(outcomes: tuple[tuple[Any, float], ...], name: str) -> tuple[tuple[Any, float], ...]:
    """Declared outcomes that can happen; raises ``EnvFailedError`` where probabilities do not sum to 1."""
    total = math.fsum(p for _, p in outcomes)
    if any(p < 0 for _, p in outcomes) or not math.isclose(total, 1.0, abs_tol=1e-9):
        raise EnvFailedError(
            f"chance_outcomes() of {name} must be probabilities that sum to 1, but sum to {total!r}"
        )
    return tuple((outcome, float(p)) for outcome, p in outcomes if p > 0)


def declares_chance(env: Any) -> bool:
    """Returns whether the environment tells its chance outcomes."""
    names = ("chance_outcomes", "apply_chance", "defer_chance")
    return _has_own(env, *names) and callable(env.chance_outcomes) and callable(env.apply_chance)


def declares_information(env: Any) -> bool:
    """Returns whether the environment tells what its agents know."""
    return _has_own(env, "information_state_key", "resample")


def _has_own(env: Any, *names: str) -> bool:
    own = getattr(env, "__dict__", {})
    return all(name in own or hasattr(type(env), name) for name in names)
