"""Additions to messages of errors that an environment's own code raised: the place, and a known cause."""

from __future__ import annotations

import functools
import re
import sysconfig
import traceback
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[2]
_OURS: Final = tuple(_ROOT / package for package in ("envs", "agents", "evaluation"))
_LIBRARIES: Final = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))


def place_of(error: BaseException) -> str:
    """The file and line that raised an error, or called the library that did, in brackets; and a known cause."""
    walked = traceback.walk_tb(error.__traceback__)
    frames = list(traceback.StackSummary.extract(walked, lookup_lines=False))  # searches may meet many errors
    frames = [one for one in frames if "importlib" not in one.filename and not _is_below(one.filename, _OURS)]
    if not frames:
        return _known_cause(error, "")
    last = ([one for one in frames if not _is_below(one.filename, _LIBRARIES)] or frames)[-1]
    return f" ({last.filename}, line {last.lineno}){_known_cause(error, frames[-1].line or '')}"


@functools.lru_cache(maxsize=1024)
def _is_below(file: str, folders: tuple[Path, ...]) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders)


def _known_cause(error: BaseException, line: str) -> str:
    try:
        text = str(error)
    except Exception:  # an exception's own __str__ may raise anything
        return ""
    if "reset() got an unexpected keyword argument 'seed'" in text:
        return (
            "; give it a reset(self, seed=None, options=None), which returns an observation and an info in "
            "Gymnasium, and nothing in an AEC environment"
        )
    for gone, when, remedy in _GONE:
        if re.search(gone, f"{text} {line}"):
            return f"; it was written for {when}: before importing it, {remedy}"
    return ""


GYM_REPLACED: Final = (
    "import sys, gymnasium; sys.modules['gym'] = gymnasium; sys.modules['gym.spaces'] = gymnasium.spaces"
)
_SELECTOR: Final = "PettingZoo before 1.27, where agent_selector was a class"
_GONE: Final = (
    (
        r"name 'agent_selector' from 'pettingzoo\.utils\.agent_selector'",
        _SELECTOR,
        "put that back: from pettingzoo.utils import agent_selector as m; m.agent_selector = m.AgentSelector",
    ),
    (
        r"module.* agent_selector\(|agent_selector.*module|cannot import name 'agent_selector'",
        _SELECTOR,
        "put that back: import pettingzoo.utils; pettingzoo.utils.agent_selector = pettingzoo.utils.AgentSelector",
    ),
    (
        r"pettingzoo\.mpe",
        "PettingZoo before 1.27, which had these environments inside",
        "pip install mpe2 and put that in their place: import sys, mpe2; sys.modules['pettingzoo.mpe'] = mpe2",
    ),
    (
        r"`?np\.(float_|bool8|unicode_|product|Inf|infty|NaN|in1d|cumproduct)\b|'numpy' has no attribute",
        "NumPy before 2.0",
        "put back the name that it says is gone, such as import numpy; numpy.float_ = numpy.float64",
    ),
    (
        r"No module named 'gym'",
        "Gym, which Gymnasium follows",
        f"put that in its place: {GYM_REPLACED}",
    ),
)
"""Things that newer versions lack: how an error shows one, what had it, and the line that mends it."""
