"""Classes that are copied in a way of their own, registered by the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from zermelo.envs.clone.clone_env import forget_shapes
from zermelo.envs.clone.kinds import Kind, UncopyableError, Walk, full_name
from zermelo.envs.clone.traversal import copied_by, kind_of, register_kind
from zermelo.envs.errors import InvalidSettingError

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
    if clone is not None and flatten is None and unflatten is None:
        _clone_with(cls, clone)
    elif clone is None and flatten is not None and unflatten is not None:
        take, make = flatten, unflatten
        register_kind(cls, Kind(copy=lambda obj, walk: make(walk.copy_all(take(obj))), parts=take))
    else:
        raise InvalidSettingError("register_clone needs either clone, or flatten and unflatten")
    forget_shapes()


def _clone_with(cls: type, clone: Callable[[Any], Any]) -> None:
    def copy_own_way(obj: Any, walk: Walk) -> Any:
        try:
            return clone(obj)
        except (UncopyableError, RecursionError):
            raise
        except Exception as error:
            raise UncopyableError(
                obj, f"is a {full_name(cls)}, whose registered clone raised {type(error).__name__}: {error}"
            ) from error

    register_kind(cls, copied_by(kind_of(cls), copy_own_way))
