"""Checkpoints of a training: files, or agents, each with the step at which it was saved."""

from __future__ import annotations

import glob
import itertools
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final, TypeAlias

from zermelo.agents.base.settings import check_whole
from zermelo.agents.specs import MODEL_FILES, names_agent
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.evaluation.match.sources import AgentSource, policy_source

CheckpointSource: TypeAlias = str | os.PathLike[str] | Sequence[Any] | Mapping[int, Any]
"""A folder, a pattern such as ``runs/*.zip``, files or policies, several of these, or policies by their steps."""
StepSource: TypeAlias = Sequence[int] | str | None
BY_TIME: Final = "time"
_WORDS: Final = tuple(  # in order of trial
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"(?<![a-z])step[-_= ]?(\d+)", r"(\d+)[-_ ]?steps?(?![a-z])", r"steps[-_= ]?(\d+)")
)
_BEFORE_STEP: Final = re.compile(r"(?:(?:^|[\W_]+)steps?)?[\W_]*\d*$", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(\d+)([kM](?![A-Za-z]))?")
_UNITS: Final = {"": 1, "k": 1_000, "M": 1_000_000}


@dataclass(frozen=True)
class Checkpoint:
    """A policy as it was at a step of its training; ``name`` is that in tables."""

    step: int
    name: str
    source: AgentSource


def find_checkpoints(given: CheckpointSource, steps: StepSource = None, agent: str = "") -> list[Checkpoint]:
    """The checkpoints in order of their steps; nothing is loaded.

    Args:
        given: What was asked for. Of a folder, the files of models.
        steps: The step of each, ``"time"`` to number them by the times of their files, or None to read each from
            its name: the number beside ``step`` or ``steps``, else the last number by which the names differ.
        agent: The text of an agent, in which ``{}`` stands for the file, for files of your own.

    Raises:
        InvalidSettingError: There are fewer than two, a step is missing, or two have the same one.
    """
    if agent and "{}" not in agent:
        raise InvalidSettingError(
            f"agent has {{}} where the file is named, as in 'mymodule:load({{}})', not {agent!r}"
        )
    if isinstance(given, Mapping):
        for step in given:
            check_whole("a checkpoint's step", step, lower=0)
        named = ((step, _name(policy, f"step {step}"), policy) for step, policy in given.items())
        return _in_order([Checkpoint(step, name, policy_source(policy, name)) for step, name, policy in named])
    listed = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(listed, Sequence):
        raise InvalidSettingError(f"checkpoints are a folder, a list or a mapping of steps, not {given!r}")
    texts: list[Any] = []
    for one in listed:
        texts += _files(os.fspath(one), every=bool(agent)) if isinstance(one, str | os.PathLike) else [one]
    texts = [*dict.fromkeys(texts)]
    if len(texts) < 2:
        there = f"only one checkpoint ({texts[0]})" if texts else f"no checkpoint in {_shown(listed)}"
        raise InvalidSettingError(
            f"there is {there}, and a curve needs two: `zermelo evaluate` rates a single policy"
        )
    names = [PurePath(text).stem if _is_file(text) else _name(text, "") for text in texts]
    if len(set(names)) < len(names):
        names = [str(text) for text in texts]
    sources = [
        agent.replace("{}", repr(text)) if agent and _is_file(text) else policy_source(text, name)
        for text, name in zip(texts, names, strict=True)
    ]
    by_step = zip(_steps(texts, steps), names, sources, strict=True)
    return _in_order([Checkpoint(step, name, source) for step, name, source in by_step])


def name_of(checkpoints: Sequence[str]) -> str:
    """The name of a training: what its checkpoints' names have in common, without the step; else the two ends."""
    columns = itertools.takewhile(lambda column: len({*column}) == 1, zip(*checkpoints, strict=False))
    common = _BEFORE_STEP.sub("", "".join(column[0] for column in columns))
    return common if re.fullmatch(r"[\w./\\ -]+", common) else f"{checkpoints[0]} to {checkpoints[-1]}"


def _is_file(text: Any) -> bool:
    return isinstance(text, str) and os.path.isfile(text)


def _name(source: Any, default: str) -> str:
    return source if isinstance(source, str) else str(getattr(source, "name", None) or default)


def _shown(listed: Sequence[Any]) -> str:
    return ", ".join(map(str, listed)) or "an empty list"


def _files(text: str, every: bool) -> list[str]:
    """The files that a text names, or the text of an agent."""
    path = Path(text)
    if path.is_dir():
        inside = sorted(path.iterdir(), key=lambda one: _natural(one.name))
        return [str(one) for one in inside if one.is_file() and (every or one.suffix.lower() in MODEL_FILES)]
    if path.exists():
        return [text]
    if re.search(r"[*?\[]", text) and (found := glob.glob(text, recursive=True)):
        return sorted(found, key=_natural)
    if names_agent(text) and PurePath(text).suffix.lower() not in MODEL_FILES:
        return [text]
    raise UnknownNameError(f"{text!r} is neither a folder nor a file, nor does it name an agent: check the path")


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _steps(texts: Sequence[Any], wanted: StepSource) -> list[int]:
    if wanted == BY_TIME:
        if strange := next((text for text in texts if not _is_file(text)), None):
            raise InvalidSettingError(f"{strange} is no file, so it has no time: give the steps themselves")
        times = {text: os.stat(text).st_mtime_ns for text in texts}
        ranks = {text: rank for rank, text in enumerate(sorted(texts, key=times.__getitem__), start=1)}
        return [ranks[text] for text in texts]
    if isinstance(wanted, str):
        raise InvalidSettingError(
            f"steps are whole numbers, or {BY_TIME!r} for the order of the files, not {wanted!r}"
        )
    if wanted is not None:
        if len(wanted) != len(texts):
            raise InvalidSettingError(
                f"there are {len(wanted)} steps for {len(texts)} checkpoints: give one for each"
            )
        for step in wanted:
            check_whole("a checkpoint's step", step, lower=0)
        return [*wanted]
    named = [PurePath(text).stem if _is_file(text) else _name(text, "") for text in texts]
    if len(set(named)) == 1:
        named = [
            PurePath(text).parent.name if _is_file(text) else one for text, one in zip(texts, named, strict=True)
        ]
    words = [next(filter(None, (word.search(name) for word in _WORDS)), None) for name in named]
    if all(words):
        return [int(word[1]) for word in words if word]
    numbers = [[int(digits) * _UNITS[unit] for digits, unit in _NUMBER.findall(name)] for name in named]
    without = next((text for text, found in zip(texts, numbers, strict=True) if not found), None)
    if without is not None:
        raise InvalidSettingError(
            f"no step in the name of {_name(without, repr(without))}: rename it, leave it out by a pattern such "
            "as 'runs/*_steps.zip', or give the steps (--steps 1000,2000 or --steps time)"
        )
    if len({*map(len, numbers)}) > 1:
        return [found[-1] for found in numbers]
    columns = [*zip(*numbers, strict=True)]
    return [*next((column for column in reversed(columns) if len(set(column)) > 1), columns[-1])]


def _in_order(found: Sequence[Checkpoint]) -> list[Checkpoint]:
    if len(found) < 2:
        raise InvalidSettingError(
            f"a curve needs two checkpoints, not {len(found)}: `evaluate_policy` rates one policy"
        )
    twice = [step for step, count in Counter(one.step for one in found).items() if count > 1]
    if twice:
        same = " and ".join(one.name for one in found if one.step == twice[0])
        raise InvalidSettingError(
            f"{same} have the same step, {twice[0]:,}: rate one training at a time, or give the steps (--steps)"
        )
    return sorted(found, key=lambda one: one.step)
