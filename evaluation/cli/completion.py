"""What the Tab key completes: environments, agents and the settings of an agent inside of its brackets."""

from __future__ import annotations

import re
from typing import Any, Final

from zermelo.agents.specs import agent_names, describe_settings
from zermelo.envs.registration.registry import list_envs

EXAMPLES: Final = {"elo": "800", "depth": "4", "simulations": "1000", "samples": "20", "seconds": "1"}
"""Values of limits as examples."""
_OPEN: Final = re.compile(r"(?P<before>.*[(,]\s*|)(?P<word>[^(),\s=]*)(?:=(?P<value>[^(),]*))?", re.DOTALL)
"""A spec that is not finished: what is complete, and the name or the setting that is being typed."""
_OF_AGENTS: Final = ("agent", "opponent", "blueprint")  # settings whose values are agents


def environments(incomplete: str) -> list[str]:
    return [entry.name for entry in list_envs() if entry.name.startswith(incomplete) and "<" not in entry.name]


def agents(incomplete: str) -> list[str]:
    """Agents that begin so; after ``alphabeta(`` its settings, after ``ties=`` what they may be."""
    match = _OPEN.fullmatch(incomplete)
    if match is None:
        return []
    before, word, value = match["before"], match["word"], match["value"]
    names, done = agent_names(), f"{before}{word}="
    if not before:
        return [name for name in names if name.startswith(word)]
    if value is not None and word in _OF_AGENTS:
        return [done + name for name in names if name.startswith(value)]
    owner = _owner(before)
    settings = {one.name: _allowed(one) for one in describe_settings(owner)} if owner in names else {}
    if value is not None:
        return [done + one for one in settings.get(word, ()) if one.startswith(value)]
    fitting = [name for name in settings if name.startswith(word) and f"{name}=" not in before]
    offered = [f"{before}{name}=" for name in fitting]
    if len(fitting) == 1:  # a second one that begins alike keeps the shell from closing the word
        offered += [f"{before}{fitting[0]}={one}" for one in settings[fitting[0]]]
    return offered


def _owner(before: str) -> str:
    """The name before the bracket that is open at the end of a text; empty if there is none."""
    depth = 0
    for place in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[place], 0)
        if depth < 0:
            return re.split(r"[(,=\s]", before[:place])[-1]
    return ""


def _allowed(setting: Any) -> list[str]:
    """The values that a setting may have, or else an example."""
    values: list[str] = setting.allowed.split(" or ")
    if len(values) > 1 and all(" " not in value for value in values):
        return values
    example = EXAMPLES.get(setting.name, setting.default)
    return [] if example is None else [str(example)]
