"""Whether a way of cloning copies a whole environment: short games, compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zermelo.envs.clone.object_graph import reachable
from zermelo.envs.clone.outside_state import OutsideState
from zermelo.envs.clone.player import Player
from zermelo.envs.clone.random_state import global_random_guard
from zermelo.envs.clone.verify import Trace, Trial, UnlikeAloneError, Where, play_alone, repeats
from zermelo.envs.clone.walk import CopyWalk, UncopyableError, attribute_handler
from zermelo.envs.errors import CloneError

__all__ = ["plays_like"]

_GAMES = 2
_STEPS = 40


def plays_like(env: Any, way: Callable[[Any], Any]) -> bool:
    """Whether copies made by ``way`` play as ``env`` would, judged on copies of it."""
    with global_random_guard():
        try:
            return all(_plays_one(env, way, Where(0, game)) for game in range(_GAMES))
        except Exception:  # a method of that name that means something else may raise anything
            return False


def _plays_one(env: Any, way: Callable[[Any], Any], where: Where) -> bool:
    base = way(env)
    if type(base) is not type(env):
        return False
    if _shares_with(base, env):  # perhaps only what never changes; but playing it might change the environment
        base = way(_by_attributes(env))
    # A few moves on, so that what a copy leaves out is not what a new game starts with.
    play_alone(Player.at(base, where.game), where.generator(4), where.game * 3)
    original, alone = way(base), way(base)
    if type(original) is not type(env) or original is base:
        return False
    trace = _general_trace(base, where) or _trace(alone, where)
    trial = Trial(Player.at(original, where.game), where, way, _STEPS, OutsideState(original))
    try:
        trial.play(trace)
    except (CloneError, UnlikeAloneError):
        return False
    return True


def _shares_with(copied: Any, env: Any) -> bool:
    """Whether a copy holds objects of the environment's that may change."""
    walk = CopyWalk(env)
    try:
        walk.memo[id(env)] = env
        handler = attribute_handler(type(env))
        if handler is None:
            return copied is env
        handler(env, walk)
    except UncopyableError:
        return copied is env
    mutable = {number for number, new in walk.memo.items() if id(new) != number}
    return copied is env or any(id(obj) in mutable for _, obj in reachable(copied))


def _general_trace(base: Any, where: Where) -> Trace | None:
    """The game that a general copy plays; None if general copies are no measure, as they disturb each other."""
    try:
        first, second = _by_attributes(base), _by_attributes(base)
        trace = _trace(first, where)
    except (CloneError, UncopyableError):
        return None
    return trace if repeats(Player.at(second, where.game), trace) else None


def _by_attributes(env: Any) -> Any:
    handler = attribute_handler(type(env))
    if handler is None:
        raise CloneError("partly C code")
    return handler(env, CopyWalk(env))


def _trace(env: Any, where: Where) -> Trace:
    return play_alone(Player.at(env, where.game), where.generator(1), _STEPS)
