"""Warnings about environments, each once for all environments of a class, as the command line shows them."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Hashable
from pathlib import Path
from typing import Final

_SOURCES: Final = tuple(
    str(Path(__file__).parents[2] / folder / "") for folder in ("envs", "agents", "evaluation")
)
_said: Final[weakref.WeakKeyDictionary[type, set[Hashable]]] = weakref.WeakKeyDictionary()
"""What was said of each class: a class that is defined again, as in a notebook's cell, is another one."""


def warn_once(about: type, text: str, category: type[Warning], subject: Hashable = "") -> None:
    """Warns at the line of the caller's program, once for a class, of the same text or the same subject."""
    said = _said.setdefault(about, set())
    if (subject or text) in said:
        return
    said.add(subject or text)
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(_SOURCES):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)  # Python 3.12 has skip_file_prefixes for that


def forget_warnings() -> None:
    """Has everything be said again."""
    _said.clear()
