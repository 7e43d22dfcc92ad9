"""The agents of a tournament: each under a name of its own, and made here or in a process of its own."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zermelo.agents import Agent
from zermelo.agents.specs import runs_own_code
from zermelo.envs import InvalidSettingError
from zermelo.evaluation.errors import AgentStartError
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.sources import AgentSource, build_agent
from zermelo.evaluation.sandbox.isolated import IsolatedAgent
from zermelo.evaluation.sandbox.settings import Isolation


@dataclass(frozen=True)
class Participant:
    """One agent of a tournament: its unique name in the tables, and what makes it.

    Attributes:
        name: In the tables.
        source: What makes it.
        isolation: The limits that it runs under in a process of its own; None for an agent inside the worker.
        fingerprint: What decides how it plays (``zermelo.evaluation.match.fingerprint``).
    """

    name: str
    source: AgentSource
    isolation: Isolation | None = None
    fingerprint: Mapping[str, str] = field(default_factory=dict)

    @property
    def may_be_made_here(self) -> bool:
        """Whether making it in this process runs none but this package's code."""
        return self.isolation is None or _is_builtin(self.source)

    def player(self, copies: int = 0) -> Agent:
        """The agent as matches need it: itself, or what speaks for it in a process of its own.

        Raises:
            AgentStartError: As ``build`` does.
        """
        if self.isolation is None:
            return self.build(copies)
        return IsolatedAgent(self.source, self.name, self.isolation)

    def build(self, copies: int = 0) -> Agent:
        """The agent; a live one is handed out itself at first and then in copies.

        Raises:
            AgentStartError: A live agent is needed in two seats and cannot be copied.
        """
        agent = build_agent(self.source)
        if agent is not self.source or not copies:
            return agent
        try:
            return copy.deepcopy(agent)
        except Exception as error:
            raise AgentStartError(
                f"{self.name} is needed in two seats of a game and cannot be copied ({error}): give a function "
                "that makes it instead"
            ) from error


def participants(
    agents: Sequence[AgentSource] | Mapping[str, AgentSource], isolation: Isolation | None = None
) -> tuple[Participant, ...]:
    """The agents of a tournament, each made once to see that it can be, under names that differ.

    Args:
        agents: Agents, or agents by the names that the tables should use. Equal names get ``#1``, ``#2``.
        isolation: Which of them get processes of their own, and are made there; None for none of them.

    Raises:
        ZermeloError: One of them cannot be made; no game should start.
    """
    if isinstance(agents, str) or not isinstance(agents, Sequence | Mapping):
        raise InvalidSettingError(f"agents must be a list of agents, not {agents!r}")
    sources = list(agents.values()) if isinstance(agents, Mapping) else list(agents)
    limits = [isolation if isolation and isolation.applies_to(source) else None for source in sources]
    made = _made(sources, limits)
    if isinstance(agents, Mapping):
        names = [str(name) for name in agents]
    else:
        names = [name or _called(source) for (name, _), source in zip(made, sources, strict=True)]
    counts, seen = Counter(names), Counter[str]()
    result = []
    for name, source, limit, (_, parts) in zip(names, sources, limits, made, strict=True):
        seen[name] += 1
        unique = f"{name}#{seen[name]}" if counts[name] > 1 and not isinstance(agents, Mapping) else name
        result.append(Participant(unique, source, limit, parts))
    return tuple(result)


def _made(
    sources: Sequence[AgentSource], limits: Sequence[Isolation | None]
) -> list[tuple[str | None, Mapping[str, str]]]:
    """The name and fingerprint of each agent, once it has been made."""
    found: list[tuple[str | None, Mapping[str, str]]] = []
    for source, limit in zip(sources, limits, strict=True):
        if limit is None:
            agent = build_agent(source)
            name = getattr(agent, "name", None)
            found.append((None if name is None else str(name), fingerprint(source, agent)))
            continue
        trial = IsolatedAgent(source, _called(source), limit)
        try:
            name = trial.start()
        finally:
            trial.close()
        # A name made of a function inside another one says less than the text that it was made from.
        nameless = name is not None and ("<locals>" in name or "<lambda>" in name)
        found.append((None if nameless and isinstance(source, str) else name, trial.fingerprint))
    return found


def _is_builtin(source: AgentSource) -> bool:
    if isinstance(source, str):
        return not runs_own_code(source)
    return type(source).__module__.startswith("zermelo.agents.") and not isinstance(source, type)


def _called(source: AgentSource) -> str:
    return source if isinstance(source, str) else getattr(source, "__qualname__", type(source).__name__)
