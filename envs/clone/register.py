"""How users say in what way objects of their own classes are copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from zermelo.envs.clone.copier import forget_shapes
from zermelo.envs.clone.object_kinds import FLATTEN
from zermelo.envs.clone.own_clone import clone_with
from zermelo.envs.clone.walk import CopyWalk, register_copier
from zermelo.envs.errors import InvalidSettingError

__all__ = ["register_clone"]

T = TypeVar("T")


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
    if (clone is None) == (flatten is None) or (flatten is None) != (unflatten is None):
        raise InvalidSettingError("register_clone needs either clone, or flatten and unflatten")
    if clone is not None:
        clone_with(cls, clone)
    else:
        assert flatten is not None, "checked above"
        assert unflatten is not None, "checked above"
        take, make = flatten, unflatten

        def copy_parts(obj: Any, walk: CopyWalk) -> Any:
            return make([walk.copy(part) for part in take(obj)])

        register_copier(cls, copy_parts)
        FLATTEN[cls] = take
    forget_shapes()
