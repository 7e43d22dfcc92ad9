"""The copier that clones an environment: specialised to its class where that is safe, general where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Imported for what they register with the walk.
from zermelo.envs.copy_walk import CopyWalk, UncopyableError, register_copier
from zermelo.envs.errors import CloneError
from zermelo.envs.object_graph import path_to

__all__ = ["copier_for", "copy_generally", "register_copier"]


def copy_generally(obj: Any, memo: dict[int, Any] | None = None) -> Any:
    """A copy by the general walk; ``memo`` may already hold copies, by the ``id`` of their originals.

    Raises:
        CloneError: Something in the object cannot be copied; the message names where it is.
    """
    walk = CopyWalk(obj, memo)
    try:
        return walk.copy(obj)
    except UncopyableError as error:
        where = path_to(obj, error.obj)
        if error.final:
            raise CloneError(f"cannot clone {_name(obj)}: {where} {error.reason}") from None
        raise CloneError(
            f"cannot clone {_name(obj)}: {where} {error.reason}; keep it out of the environment's attributes, "
            "or give its class a __deepcopy__ method that copies it right"
        ) from error
    except RecursionError:
        raise CloneError(
            f"cannot clone {_name(obj)}: its attributes are nested deeper than Python's recursion limit; "
            "raise it with sys.setrecursionlimit, or give the environment's class a __deepcopy__ method"
        ) from None


def _name(obj: Any) -> str:
    return type(obj).__qualname__ if type(obj).__module__ == "builtins" else f"this {type(obj).__qualname__}"


def copier_for(obj: Any) -> Callable[[Any], Any]:
    """What clones objects of the same class as ``obj`` fastest; call it with the object to clone."""
    return copy_generally
