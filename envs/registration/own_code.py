"""Names of environments that may be anybody's, such as those in records of games."""

from __future__ import annotations

from typing import Any

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.registry import OWN_ENVS
from zermelo.envs.support.spec_text import Spec, parse_spec

_TEXT_ALLOWED = frozenset({"FrozenLake", "FrozenLake8x8"})
"""Environments besides ours of which a setting may be text: it names nothing outside of them."""


def env_runs_own_code(text: str) -> bool:
    """Whether making this environment may run code of a module or agent that the text names, or read a file.

    It may unless the name is an id and the settings are numbers, or in environments of ours plain values.
    """
    try:
        spec = parse_spec(text)
    except InvalidSettingError:
        return True
    base = spec.name.partition("-v")[0]
    takes_text = base in _TEXT_ALLOWED or f"{base}-v0" in OWN_ENVS
    return ":" in spec.name or not all(_is_harmless(value, takes_text) for value in spec.arguments.values())


def _is_harmless(value: Any, takes_text: bool) -> bool:
    if isinstance(value, Spec):  # another game of OpenSpiel's
        return all(_is_harmless(part, takes_text) for part in value.arguments.values())
    if isinstance(value, str):
        return takes_text and value != "human"
    if isinstance(value, list | tuple):
        return all(_is_harmless(part, takes_text) for part in value)
    return value is None or isinstance(value, bool | int | float)
