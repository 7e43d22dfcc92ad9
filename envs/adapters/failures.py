"""What a message adds to an error that an environment's own code raised: the place, and a known cause."""

from __future__ import annotations

import traceback
from pathlib import Path

__all__ = ["place_of"]

_OURS = Path(__file__).resolve().parents[1]


def place_of(error: BaseException) -> str:
    """The file and line that raised an error, in brackets, and what is known of its cause."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not Path(frame.filename).is_relative_to(_OURS) and "importlib" not in frame.filename
    ]
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return place + _known_cause(error, (frames[-1].line if frames else None) or "")


def _known_cause(error: BaseException, line: str) -> str:
    """What PettingZoo 1.27 and Gymnasium took away from environments that were written for older versions."""
    if "reset() got an unexpected keyword argument 'seed'" in str(error):
        return (
            "; it was written for Gym before 0.26: give it a reset(self, seed=None, options=None) that returns an "
            "observation and an info"
        )
    if "agent_selector" not in f"{error} {line}" or "module" not in str(error):
        return ""
    return (
        "; it was written for PettingZoo before 1.27, where agent_selector was a class. Before importing it, put "
        "that back: import pettingzoo.utils; pettingzoo.utils.agent_selector = pettingzoo.utils.AgentSelector"
    )
