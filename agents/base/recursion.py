"""Room for recursion: a search needs a few Python frames for every move it looks ahead, and games can be long.

Python's limit is raised only as far as a game turns out to need it, so that code which recurses without end by
mistake still meets the limit, and put back when the last search ends (it is the process's, not the thread's).

No lock is held while the limit changes, as Ctrl-C may come anywhere: each thread has an entry of its own in a
dictionary, and the limit is set anew from all of them after each change. A thread that Ctrl-C kept from removing
its entry removes it with its next search.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
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
_FRAMES_PER_PLY = 8
"""Python frames for one move and the chance event after it, at most: those of a search that is watched."""
_SPARE_FRAMES = 1000
"""Frames for the environment's own code."""
_STEP, _OURS = 1000, 537
"""Limits set here are so much more than a multiple of this number: any other limit was set by somebody else."""
_NOBODY = 0
"""No thread has this number."""
_began: dict[int, int] = {}
"""How many frames deep the outermost search of each thread began, by the thread's number."""
_limits: dict[int, int] = {_NOBODY: sys.getrecursionlimit()}
"""The limit that each searching thread needs; for ``_NOBODY``, the limit while nobody searches."""


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
    thread, depth = threading.get_ident(), _frames()
    outermost = depth <= _began.get(thread, depth)  # a search inside of another begins deeper
    if (limit := sys.getrecursionlimit()) % _STEP != _OURS:
        _limits[_NOBODY] = limit
    try:
        if outermost:
            _began[thread] = depth
        make_room()
        yield
    except (RecursionError, GameTooLongError) as error:
        raise GameTooLongError(game, getattr(error, "plies", MAX_PLIES), advice) from None
    finally:
        if outermost:
            _limits.pop(thread, None)
            _began.pop(thread, None)
            _set_limit()


def make_room() -> None:
    """Raises Python's recursion limit for the next ``PLIES_AT_ONCE`` moves of a search in ``deep_recursion``."""
    thread = threading.get_ident()
    if thread not in _began:
        return
    needed = _frames() + _FRAMES_PER_PLY * (PLIES_AT_ONCE + 1) + _SPARE_FRAMES
    _limits[thread] = max(_limits.get(thread, 0), needed + (_OURS - needed) % _STEP)
    _set_limit()


def _frames() -> int:
    """Returns how many frames the thread is deep."""
    frame, frames = sys._getframe(), 1
    while frame.f_back is not None:
        frame, frames = frame.f_back, frames + 1
    return frames


def _set_limit() -> None:
    """Sets the greatest of the limits, in one call: no other thread runs between their reading and the setting."""
    deque(map(sys.setrecursionlimit, map(max, [_limits.values()])), maxlen=0)
