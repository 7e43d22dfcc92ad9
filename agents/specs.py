"""Agents by name: ``alphabeta(depth=6)``, ``random``, ``mypackage.module:MyAgent(x=1)``."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from zermelo.agents.agent import Agent
from zermelo.agents.base.experts import by_name, class_at
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.settings import check_spec, import_name, setting_fields, setting_text
from zermelo.envs.errors import InvalidSettingError, UnknownNameError, ZermeloError
from zermelo.envs.live.failures import place_of
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import TRUTH, Spec, is_truth, parse_spec, unknown_name

_AGENTS: Final = {
    "random": "baselines:RandomAgent",
    "greedy": "baselines:GreedyAgent",
    "noisy": "baselines:NoisyAgent",
    "minimax": "tree_search.alpha_beta.agents:MinimaxAgent",
    "alphabeta": "tree_search.alpha_beta.agents:AlphaBetaAgent",
    "expectiminimax": "tree_search.chance.agents:ExpectiminimaxAgent",
    "expectimax": "tree_search.chance.agents:ExpectimaxAgent",
    "maxn": "tree_search.many_players.agents:MaxNAgent",
    "paranoid": "tree_search.many_players.agents:ParanoidAgent",
    "bestreply": "tree_search.many_players.agents:BestReplyAgent",
    "mcts": "monte_carlo.agent:MCTSAgent",
    "openspiel_mcts": "monte_carlo.openspiel:OpenSpielMCTSAgent",
    "ismcts": "monte_carlo.information_sets.agent:ISMCTSAgent",
    "simultaneous_mcts": "monte_carlo.simultaneous.agent:SimultaneousMCTSAgent",
    "auto": "auto:AutoAgent",
    "level": "level:LevelAgent",
    "best_response": "best_response.agent:BestResponseAgent",
    "best_first": "solving.agents:BestFirstAgent",
    "value_iteration": "solving.agents:ValueIterationAgent",
    "backward_induction": "equilibrium.agents:BackwardInductionAgent",
    "cfr": "equilibrium.agents:CFRAgent",
    "policytable": "equilibrium.agents:PolicyTableAgent",
    "policy": "policies.policy:PolicyAgent",
    "sb3": "policies.models:Sb3Agent",
    "torch": "policies.models:TorchAgent",
    "onnx": "policies.models:OnnxAgent",
    "uci": "policies.uci:UciAgent",
    "gtp": "policies.gtp:GtpAgent",
}
"""Where the class of each agent is, whose module is imported when one is asked for; experts add theirs."""
_NEED_MORE: Final = frozenset(
    {
        "best_response",
        "gtp",
        "level",
        "noisy",
        "onnx",
        "openspiel_mcts",
        "policy",
        "policytable",
        "sb3",
        "torch",
        "uci",
    }
)
"""Agents that cannot be made from the name alone; nor can the experts' programs."""
_ENGINES: Final = {
    "stockfish": "uci(path='stockfish')",
    "lc0": "uci(path='lc0')",
    "gnugo": "gtp(path='gnugo --mode gtp')",
    "gnubackgammon": "gnubg",
}
"""Programs that are asked for by their own names, as agents."""
MODEL_FILES: Final = {".zip": "sb3", ".onnx": "onnx", ".pt": "torch", ".pt2": "torch", ".pth": "torch"}
"""Suffixes of model files, each with the agent that plays such a model."""


@functools.cache  # without a key: the package's names stay the same
def _agents() -> dict[str, str]:
    return {**_AGENTS, **by_name("agents"), **by_name("programs")}


@functools.cache  # without a key: the package's names stay the same
def _by_name() -> frozenset[str]:
    return frozenset(_AGENTS.keys() - _NEED_MORE | by_name("agents").keys())


def agent_names() -> list[str]:
    """The names of all agents in specs, those included that need a policy or a file."""
    return sorted(_agents())


def agent_class(name: str) -> type[Any]:
    """The class of the agents of a name."""
    if name not in _agents():
        if (engine := _ENGINES.get(name.lower())) is not None:
            raise UnknownNameError(f"no agent is called {name!r}: that engine is {engine}")
        raise unknown_name("agent", name, _agents())
    cls: type[Any] = class_at(_agents()[name])
    return cls


@dataclass(frozen=True)
class AgentEntry:
    """One line of ``zermelo agents``: a name in specs, a sentence, and each setting with its default."""

    name: str
    summary: str
    settings: Mapping[str, Any]


@checked_call
def list_agents(*, learned: bool = False) -> list[AgentEntry]:
    """The agents that have a name, in order of name; with ``learned`` those too that need a policy or a file."""
    entries = []
    for name in sorted(_agents() if learned else _by_name()):
        cls = agent_class(name)
        summary = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
        settings = {field.name: setting_text(field.default) for field in setting_fields(cls)}
        entries.append(AgentEntry(name, summary, settings))
    return entries


def check_env(agent: Any, env: Any) -> None:
    """Has the class of the agent that a spec names refuse an environment that it does not play."""
    name = agent_spec(agent).name if isinstance(agent, str) else ""
    if name in _agents():
        agent_class(name).check_env(env)


def describe_agent(name: str) -> str:
    """The paragraphs about an agent, without its settings."""
    return inspect.cleandoc(agent_class(name).__doc__ or "").partition("\nAttributes:\n")[0].strip()


class Setting(NamedTuple):
    """A setting of an agent, for help."""

    name: str  # the name in a spec
    default: Any  # the value if it is not given, as a spec shows it
    text: str  # A sentence on what it does, from its declaration
    more: str  # the sentences after it
    allowed: str  # the values that it may have
    unit: str  # what a number counts or measures; empty if it is none, and for a seed
    is_common: bool  # all searches have it, and it is no limit


_LIMITS: Final = ("depth", "nodes", "simulations", "samples", "seconds")


def describe_settings(name: str) -> list[Setting]:
    """The settings of an agent: its limits, then its own, then those that all agents have."""
    sentences: dict[str, list[str]] = {}
    agent = agent_class(name)
    declared = {field.name: field.metadata for field in dataclasses.fields(Limits)}
    for cls in reversed(agent.__mro__):
        fields = vars(cls).get("__dataclass_fields__", {})
        declared.update({key: field.metadata for key, field in fields.items() if field.metadata})
        _, _, attributes = inspect.cleandoc(cls.__doc__ or "").partition("\nAttributes:\n")
        for setting, text in re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE):
            sentences[setting] = re.split(r"(?<=\.)\s+(?=[A-Z0-9])", re.sub(r"\s+", " ", text), maxsplit=1)
    common = {field.name for field in setting_fields(agent)} & {"seed", "name", "backend", "traits", "compile"}
    settings = [
        Setting(
            field.name,
            setting_text(field.default),
            sentences[field.name][0],
            " ".join(sentences[field.name][1:]),
            declared[field.name]["allowed"],
            declared[field.name].get("unit", ""),
            field.name in common,
        )
        for field in setting_fields(agent)
    ]
    return sorted(settings, key=lambda setting: (setting.name not in _LIMITS, setting.is_common))


_OTHERS: Final = {
    "agent": {"openspiel_mcts", "noisy", "level"},
    "blueprint": {"openspiel_mcts"},
    "opponent": {"openspiel_mcts", "noisy", "softmax"},
    "belief": {"openspiel_mcts", "noisy", "softmax", "uniform"},
}
_EVALUATORS: Final = frozenset({"game", "playout", "rewards"})


@functools.cache  # without a key: the package's names stay the same
def _harmless() -> Mapping[str, frozenset[str]]:
    """Settings that are specs, each with the names that run no code but this package's, and read no file."""
    agents = {setting: frozenset({*_by_name(), *others}) for setting, others in _OTHERS.items()}
    return {**agents, "evaluator": _EVALUATORS | by_name("evaluators").keys()}


_SHIPPED: Final = {"policy": "equity"}  # settings that are files, with the name of the one of this package
_LABELS: Final = frozenset({"backend", "name", "traits"})  # settings that name nothing outside of this package


def runs_own_code(spec: str) -> bool:
    """True unless everything in a spec is known to run no code or program of others and to read no file."""
    return not _is_harmless("agent", spec, frozenset())


_COSTLY: Final = frozenset({"workers", "threads", "memory_mb"})  # they start processes, or take more of a machine


def is_plain_agent(spec: str) -> bool:
    """True if a data file may name this agent: one of this package that runs and reads nothing of others."""
    return not runs_own_code(spec) and _COSTLY.isdisjoint(_setting_names(spec))


def require_plain_agent(spec: str) -> None:
    """Refuses an agent that a data file names, unless ``is_plain_agent`` and it can be made."""
    if not is_plain_agent(spec):
        raise InvalidSettingError(
            f"it names the agent {spec!r}, and a file may name only agents of this package, without code, "
            f"programs, files, {', '.join(sorted(_COSTLY))}: name that one yourself, if you trust it"
        )
    make_agent(spec)


def _setting_names(value: Any) -> Iterator[str]:
    spec = parse_spec(value) if isinstance(value, str) else value
    for name, part in spec.arguments.items() if isinstance(spec, Spec) else ():
        yield name
        if name in _harmless():
            yield from _setting_names(part)


def _is_harmless(setting: str, value: Any, words: Collection[str]) -> bool:
    """True if the value of a setting is known to name nothing outside; ``words`` are settings that take text."""
    if value is None or isinstance(value, bool | int | float):
        return True
    if setting in _harmless():
        return _is_harmless_spec(setting, value)
    if isinstance(value, str | Spec):
        if str(value) == _SHIPPED.get(setting):
            return True
        has_arguments = isinstance(value, Spec) and bool(value.arguments)
        return (setting in words and not has_arguments) or is_truth(value)
    if isinstance(value, Mapping):
        return all(_is_harmless(setting, part, words) for pair in value.items() for part in pair)
    return isinstance(value, list | tuple) and all(_is_harmless(setting, part, words) for part in value)


def _is_harmless_spec(setting: str, value: Any) -> bool:
    try:
        spec = parse_spec(value) if isinstance(value, str) else value
    except InvalidSettingError:
        return False
    if not isinstance(spec, Spec) or spec.name not in _harmless()[setting]:
        return False
    words: Collection[str] = ()
    if spec.name in _agents():
        fields = setting_fields(agent_class(spec.name))
        words = _LABELS | {field.name for field in fields if isinstance(field.default, enum.Enum)}
    return all(_is_harmless(key, part, words) for key, part in spec.arguments.items())


def agent_spec(text: str) -> Spec:
    """The spec that an agent's text means: the file of a model, ``ppo.zip``, is ``sb3(path='ppo.zip')``."""
    if isinstance(text, str) and (kind := MODEL_FILES.get(PurePath(text.strip()).suffix.lower())):
        return Spec(kind, {"path": text.strip()})
    spec = parse_spec(text)
    file = MODEL_FILES.get(PurePath(spec.name).suffix.lower())
    return spec if file is None else Spec(file, {"path": spec.name, **spec.arguments})


def is_same_agent(first: str, second: str) -> bool:
    """True if two texts mean the same agent: in any order, with or without defaults. No agent is made."""
    return first == second or _normal("agent", first) == _normal("agent", second)


def _normal(setting: str, value: Any) -> Any:
    if isinstance(value, str) and setting in _harmless():
        try:
            value = agent_spec(value) if setting == "agent" else parse_spec(value)
        except InvalidSettingError:
            return value
    if is_truth(value):
        return TRUTH[value.name]
    if not isinstance(value, Spec):
        return value
    fields = setting_fields(agent_class(value.name)) if value.name in _agents() else ()
    defaults = {field.name: _normal(field.name, field.default) for field in fields}
    given = {key: _normal(key, part) for key, part in value.arguments.items()}
    others = {key: part for key, part in given.items() if key not in defaults or part != defaults[key]}
    return (value.name, others) if others else value.name


def names_agent(text: str) -> bool:
    """Whether a text means an agent: one with a name, a model's file, or ``module:name`` where that is no file."""
    try:
        name = agent_spec(text).name
    except InvalidSettingError:
        return False
    return name in _agents() or (":" in name and not os.path.exists(text))


def require_env(env: Any) -> None:
    """Raises ``InvalidSettingError`` where an agent stands in the place of an environment."""
    is_text = isinstance(env, str) and ":" not in env and names_agent(env)
    if is_text or callable(getattr(env, "act", None)):
        raise InvalidSettingError(
            f"the environment is {env!r}, which is an agent: were environment and agent given the wrong way round?"
        )


@checked_call
def make_agent(agent: str | Agent) -> Agent:
    """The agent that a spec names; an agent is returned as it is.

    Args:
        agent: A name with settings, such as ``"alphabeta(depth=6)"``; the file of a model (``.zip`` of
            Stable-Baselines3, ``.onnx``, ``.pt``), also with settings; or ``"module:name(...)"`` of a class or a
            function that makes an agent, called with the settings.

    Raises:
        UnknownNameError: No agent has that name; the message says which was probably meant.
        InvalidSettingError: The text cannot be read, a setting is unknown or wrong, or what was made is no agent.
    """
    if not isinstance(agent, str):
        if isinstance(agent, type) or not isinstance(agent, Agent):
            raise InvalidSettingError(
                f"an agent is the text of one, such as 'alphabeta(depth=6)', or an object with a name and the "
                f"methods act(env) and reset(seed), not {agent!r}"
            )
        return agent
    spec = agent_spec(agent)
    if ":" in spec.name:
        return _foreign(spec)
    cls = agent_class(spec.name)
    check_spec(spec, [field.name for field in setting_fields(cls)])
    made: Agent = _called(cls, spec, {key: _plain(key, value) for key, value in spec.arguments.items()})
    return made


def copied_agent(given: Any) -> Any:
    """An agent of one's own: a copy of the one that is given, or made of its spec."""
    return copy.copy(make_agent(str(given) if isinstance(given, Spec) else given))


def _plain(name: str, value: Any) -> Any:
    """Bare words are text, but for truth, and for evaluators, opponents and agents, which may have settings."""
    if is_truth(value):
        return TRUTH[value.name]
    if isinstance(value, Spec) and name not in _harmless():
        if value.arguments:
            raise InvalidSettingError(f"{name} cannot be {value}: write a plain value")
        return value.name
    return value


def _foreign(spec: Spec) -> Agent:
    make = import_name(spec.name)
    if not callable(make):
        raise InvalidSettingError(f"{spec.name!r} is not a class or function that makes an agent, but {make!r}")
    try:
        accepted = inspect.signature(make).parameters
    except (TypeError, ValueError):  # made in C, without a signature
        accepted = None
    if accepted is not None:
        names = [p.name for p in accepted.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if not any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
            check_spec(spec, names)
    arguments = {
        key: value.name if isinstance(value, Spec) and not value.arguments else value
        for key, value in spec.arguments.items()
    }
    made = _called(make, spec, arguments)
    for method in ("act", "reset"):
        if isinstance(made, type) or not callable(getattr(made, method, None)):
            from zermelo.envs.live.wrappers import is_aec, is_gymnasium  # not for the completion of names

            is_env = is_aec(made) or is_gymnasium(made)
            wanted = "it needs the methods act(env) and reset(seed)"
            raise InvalidSettingError(
                f"{spec} made an environment where an agent belongs: were they given the wrong way round?"
                if is_env
                else f"{spec} made {made!r}, which is no agent: {wanted}"
            )
    if not isinstance(getattr(made, "name", None), str):
        made.name = str(spec)
    agent: Agent = made
    return agent


def _called(make: Callable[..., Any], spec: Spec, arguments: Mapping[str, Any]) -> Any:
    try:
        return make(**arguments)
    except ZermeloError as error:
        raise type(error)(f"cannot make {spec}: {error}") from error.__cause__
    except Exception as error:
        reason = f"{type(error).__name__}: {error}{place_of(error)}"
        raise InvalidSettingError(f"cannot make {spec}: {reason}") from error
