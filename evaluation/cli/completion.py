"""What the Tab key completes: environments, agents and the settings of an agent inside of its brackets.

Where nothing is offered, shells complete the names of files. Little is imported: a shell asks at every key.
"""

from __future__ import annotations

import re
from typing import Any, Final

EXAMPLES: Final = {"elo": "800", "depth": "4", "simulations": "1000", "samples": "20", "seconds": "1"}
"""Values of limits as examples."""
_OPEN: Final = re.compile(r"(?P<before>.*[(,]\s*|)(?P<word>[^(),\s=]*)(?:=(?P<value>[^(),]*))?", re.DOTALL)
"""A spec that is not finished: what is complete, and the name or the setting that is being typed."""
_OF_AGENTS: Final = ("agent", "opponent", "blueprint")
"""Settings whose values are agents."""


def environments(incomplete: str) -> list[str]:
    from zermelo.envs.registration.registry import list_envs

    return [entry.name for entry in list_envs() if entry.name.startswith(incomplete) and "<" not in entry.name]


def agents(incomplete: str) -> list[str]:
    """Agents that begin so; after ``alphabeta(`` its settings, after ``ties=`` what they may be."""
    match = _OPEN.fullmatch(incomplete)
    if match is None:
        return []
    before, word, value = match["before"], match["word"], match["value"]
    if not before:
        return _names(word)
    owner = _owner(before)
    if value is None:
        return _settings(before, word, owner) if owner else []
    done = f"{before}{word}="
    if word in _OF_AGENTS:
        return [done + name for name in _names(value)]
    return [done + one for one in _values(owner, word) if one.startswith(value)] if owner else []


def _names(start: str) -> list[str]:
    from zermelo.agents.specs import agent_names

    return [name for name in agent_names() if name.startswith(start)]


def _owner(before: str) -> str:
    from zermelo.agents.specs import agent_names

    depth = 0
    for place in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[place], 0)
        if depth < 0:
            name = re.split(r"[(,=\s]", before[:place])[-1]
            return name if name in agent_names() else ""
    return ""


def _settings(before: str, start: str, owner: str) -> list[str]:
    names = [name for name, _ in _described(owner) if name.startswith(start) and f"{name}=" not in before]
    offered = [f"{before}{name}=" for name in names]
    if len(names) == 1:  # a second one that begins alike keeps the shell from closing the word
        offered += [f"{before}{names[0]}={value}" for value in _values(owner, names[0])]
    return offered


def _values(owner: str, setting: str) -> list[str]:
    return next((values for name, values in _described(owner) if name == setting), [])


def _described(owner: str) -> list[tuple[str, list[str]]]:
    """The settings of an agent, each with the values that it may have, or else an example."""
    from zermelo.agents.specs import describe_settings

    return [(one.name, _allowed(one)) for one in describe_settings(owner)]


def _allowed(setting: Any) -> list[str]:
    values: list[str] = setting.allowed.split(" or ")
    if len(values) > 1 and all(" " not in value for value in values):
        return values
    example = EXAMPLES.get(setting.name, setting.default)
    return [] if example is None else [str(example)]
