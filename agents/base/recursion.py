"""Room for recursion: a search needs a few Python frames for every move it looks ahead, and games can be long.

Python's limit is raised only as far as a game turns out to need it, so that code which recurses without end by
mistake still meets the limit, and put back when the last search ends (it is the process's, not the thread's).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Game

MAX_PLIES = 5000
"""No search, plain or compiled, looks further ahead than this many moves."""
PLIES_AT_ONCE = 50
"""How often, in moves, a search that goes deeper asks for more room."""
SHALLOWER = "limit the search with depth="
UNSOLVED = "it cannot be solved by searching to the end"
_FRAMES_PER_PLY = 4
"""Python frames for one move and the chance event after it, at most."""
_SPARE_FRAMES = 1000
"""Frames for the environment's own code."""
_lock = threading.Lock()
_limits_before: list[int] = []


class GameTooLongError(UnsupportedGameError):
    """A game went on for more moves (``plies``) than a search can follow; ``advice`` says what to do then."""

    def __init__(self, game: Game[Any], plies: int = MAX_PLIES, advice: str = SHALLOWER) -> None:
        super().__init__(
            f"{game.traits.name} goes on for more than {plies} moves from here, if it ends at all: {advice}"
        )
        self.plies = plies


@contextmanager
def deep_recursion(game: Game[Any], advice: str = SHALLOWER) -> Iterator[None]:
    """Lets a search recurse ``MAX_PLIES`` deep, and says in words if that is not enough, with ``advice``.

    Raises:
        GameTooLongError: The game went deeper.
    """
    with _lock:
        _limits_before.append(_limits_before[0] if _limits_before else sys.getrecursionlimit())
    try:
        make_room()
        yield
    except (RecursionError, GameTooLongError) as error:
        raise GameTooLongError(game, getattr(error, "plies", MAX_PLIES), advice) from None
    finally:
        with _lock:
            before = _limits_before.pop()
            if not _limits_before:
                sys.setrecursionlimit(before)


def make_room() -> None:
    """Raises Python's recursion limit for the next ``PLIES_AT_ONCE`` moves of a search in ``deep_recursion``."""
    with _lock:
        if not _limits_before:
            return
        frame, frames = sys._getframe(), 1
        while frame.f_back is not None:
            frame, frames = frame.f_back, frames + 1
        needed = frames + _FRAMES_PER_PLY * (PLIES_AT_ONCE + 1) + _SPARE_FRAMES
        if needed > sys.getrecursionlimit():
            sys.setrecursionlimit(needed)
