"""What an environment declares of itself: the mapping ``zermelo_traits``, on itself or in its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zermelo.envs.adapters.wrappers import layers
from zermelo.envs.traits import checked_traits

__all__ = ["declared_traits"]


def declared_traits(env: Any) -> dict[str, Any]:
    """The fields that the environment declares on itself or in its metadata; the innermost layer counts least.

    Raises:
        InvalidSettingError: What it declares is not a mapping of fields of ``Traits``.
    """
    declared: dict[str, Any] = {}
    for layer in reversed(layers(env)):
        metadata = getattr(type(layer), "metadata", None)
        own = getattr(layer, "__dict__", {})
        metadata = own.get("metadata", metadata)
        if isinstance(metadata, Mapping) and metadata.get("zermelo_traits") is not None:
            declared |= checked_traits(
                metadata["zermelo_traits"], f"metadata['zermelo_traits'] of {type(layer).__name__}"
            )
        mapping = own.get("zermelo_traits", getattr(type(layer), "zermelo_traits", None))
        if mapping is not None:
            declared |= checked_traits(mapping, f"zermelo_traits of {type(layer).__name__}")
    return declared
