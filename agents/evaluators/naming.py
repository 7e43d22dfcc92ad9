"""Settings as text: what a spec shows of a value that is not a plain literal."""

from __future__ import annotations

import enum
from typing import Any

from zermelo.agents.core.importing import name_of
from zermelo.envs.spec_text import parse_spec

__all__ = ["setting_text"]


def setting_text(value: Any) -> Any:
    """The value as a spec shows it.

    Evaluators of ours show as their own spec, functions and objects of others as ``'module:name'``.
    """
    if isinstance(value, enum.Enum):
        return value.value
    spec = getattr(value, "spec", None)
    if callable(spec):
        return parse_spec(spec())
    if callable(value):
        return name_of(value)
    return value
