"""Classes that are copied in a way of their own: a registered one, or an environment's own ``__deepcopy__``.

Nothing else is called on the user's objects: a method ``clone`` or ``save_state`` may mean anything, such as to
write a file. An environment's ``__deepcopy__`` is tried before it is trusted, as it may leave something out.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from zermelo.envs.clone.clone_env import EXAMINERS, forget_shapes
from zermelo.envs.clone.kinds import Kind, UncopyableError
from zermelo.envs.clone.outside_state import OutsideState
from zermelo.envs.clone.player import Player
from zermelo.envs.clone.random_state import global_random_guard
from zermelo.envs.clone.traversal import (
    CopyWalk,
    copied_by,
    defines_own,
    kind_by_attributes,
    kind_of,
    reachable,
    register_kind,
)
from zermelo.envs.clone.verify import Trace, Trial, Where, play_alone, repeats
from zermelo.envs.errors import CloneError, InvalidSettingError

__all__ = ["register_clone"]

T = TypeVar("T")
_GAMES: Final = 2
_STEPS: Final = 40
_examined: set[type] = set()


def register_clone(
    cls: type[T],
    clone: Callable[[T], T] | None = None,
    *,
    flatten: Callable[[T], Sequence[Any]] | None = None,
    unflatten: Callable[[Sequence[Any]], T] | None = None,
) -> None:
    """Says how objects of exactly this class are copied when an environment is cloned.

    Give ``clone``, which is called with an object and returns an independent copy, or a pair: ``flatten`` returns
    all that decides what the object will do, and ``unflatten`` makes an object of copies of that. With the pair
    objects can also be compared, so that a search may use a table of positions::

        register_clone(Deck, flatten=lambda deck: (deck.cards, deck.place), unflatten=lambda parts: Deck(*parts))
        register_clone(MyEnv, lambda env: MyEnv.restored(env.save_state()))

    Args:
        cls: The class of an environment, or of something that it holds. It counts for no subclass.
        clone: What copies an object whole.
        flatten: What the object is made of: the parts themselves, not copies of them, since a search gives the
            random generators among them another state.
        unflatten: What makes an object of the parts again.

    Raises:
        InvalidSettingError: Not a class, or neither ``clone`` nor both of the pair.
    """
    if not isinstance(cls, type):
        raise InvalidSettingError(f"register_clone needs a class, not {cls!r}")
    if clone is not None and flatten is None and unflatten is None:
        _clone_with(cls, clone)
    elif clone is None and flatten is not None and unflatten is not None:
        take, make = flatten, unflatten
        register_kind(cls, Kind(copy=lambda obj, walk: make(walk.copy_all(take(obj))), parts=take))
    else:
        raise InvalidSettingError("register_clone needs either clone, or flatten and unflatten")
    forget_shapes()


def _clone_with(cls: type, clone: Callable[[Any], Any]) -> None:
    """Clones objects of exactly this class by ``clone`` from now on, without a trial."""
    by_attributes = kind_by_attributes(cls)

    def copy_own_way(obj: Any, walk: CopyWalk) -> Any:
        if by_attributes.plain and not _is_under_way(obj):
            return by_attributes.copy(obj, walk)
        return clone(obj)

    _examined.add(cls)
    register_kind(cls, copied_by(kind_of(cls), copy_own_way))


def _adopt_deepcopy(env: Any) -> bool:
    """Copies an environment by its own ``__deepcopy__`` from now on, if it has one and it works.

    Short games are played on its copies and compared with the same games on general copies, or, where the
    environment cannot be copied generally or its general copies disturb each other, among themselves. It is done
    once a class.

    Returns:
        Whether the question is settled for this class; it is not while there is no game to try a clone on.
    """
    raw = getattr(env, "unwrapped", env)
    cls = type(raw)
    if cls in _examined:
        return True
    has_own = defines_own(cls, "__deepcopy__")
    if has_own and not _is_under_way(raw):
        return False
    _examined.add(cls)
    if has_own:
        by_attributes = kind_by_attributes(cls)
        if _plays_like(raw, copy.deepcopy):
            _clone_with(cls, copy.deepcopy)
        elif by_attributes.plain:
            register_kind(cls, by_attributes)
    return True


EXAMINERS.append(_adopt_deepcopy)


def _is_under_way(raw: Any) -> bool:
    """Whether there is a game to try a clone on: an AEC environment has agents once it is reset."""
    return not hasattr(raw, "possible_agents") or bool(getattr(raw, "agents", None) and hasattr(raw, "rewards"))


# --- the trial


def _plays_like(env: Any, way: Callable[[Any], Any]) -> bool:
    """Whether copies made by ``way`` play as ``env`` would, judged on copies of it."""
    with global_random_guard():
        try:
            return all(_plays_one(env, way, Where(0, game)) for game in range(_GAMES))
        except Exception:  # a difference, or whatever a method that means something else raises
            return False


def _plays_one(env: Any, way: Callable[[Any], Any], where: Where) -> bool:
    base = way(env)
    if type(base) is not type(env):
        return False
    if _shares_with(base, env):  # perhaps only what never changes; but playing it might change the environment
        base = way(_by_attributes(env))
    # A few moves on, so that what a copy leaves out is not what a new game starts with.
    play_alone(Player.at(base, where.game), where.generator(4), where.game * 3)
    original, alone = way(base), way(base)  # now, as playing general copies may disturb the base
    if type(original) is not type(env) or original is base:
        return False
    trace = _general_trace(base, where) or _trace(alone, where)
    Trial(Player.at(original, where.game), where, way, _STEPS, OutsideState(original)).play(trace)
    return True


def _shares_with(copied: Any, env: Any) -> bool:
    """Whether a copy holds objects of the environment's that may change."""
    if copied is env:
        return True
    walk = CopyWalk(env)
    walk.memo[id(env)] = env
    try:
        kind_by_attributes(type(env)).copy(env, walk)
    except UncopyableError:
        return False
    mutable = {number for number, new in walk.memo.items() if id(new) != number}
    return any(id(obj) in mutable for obj in reachable(copied))


def _general_trace(base: Any, where: Where) -> Trace | None:
    """The game that a general copy plays; None if general copies are no measure, as they disturb each other."""
    try:
        first, second = _by_attributes(base), _by_attributes(base)
        trace = _trace(first, where)
    except (CloneError, UncopyableError):
        return None
    return trace if repeats(Player.at(second, where.game), trace) else None


def _by_attributes(env: Any) -> Any:
    kind = kind_by_attributes(type(env))
    if not kind.plain:
        raise CloneError("partly C code")
    return kind.copy(env, CopyWalk(env))


def _trace(env: Any, where: Where) -> Trace:
    return play_alone(Player.at(env, where.game), where.generator(1), _STEPS)
