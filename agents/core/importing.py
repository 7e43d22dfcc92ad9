"""Objects by name, ``mypackage.module:thing``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zermelo.envs import InvalidSettingError, UnknownNameError
from zermelo.envs.local_modules import import_module
from zermelo.envs.spec_text import Spec, unknown_setting


def import_name(name: str) -> Any:
    """The object that ``module:attribute`` names; modules in the current folder are found too.

    Raises:
        UnknownNameError: There is no such module, or nothing of that name in it.
        InvalidSettingError: The module cannot be imported, or the text has no colon.
    """
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        raise InvalidSettingError(f"write module:name, such as 'mypackage.agents:MyAgent', not {name!r}")
    module = _import(module_name, name)
    found: Any = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UnknownNameError(f"cannot find {name!r}: {module_name} has nothing called {path!r}") from None
    return found


def _import(module_name: str, name: str) -> Any:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        # Not found itself (or a package that it is in), rather than something that it imports.
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise UnknownNameError(f"cannot find {name!r}: there is no module called {error.name!r}") from None
        raise InvalidSettingError(f"cannot import {name!r}: {error}") from error
    except Exception as error:
        raise InvalidSettingError(f"cannot import {name!r}: {type(error).__name__}: {error}") from error


def check_spec(spec: Spec, known: Iterable[str]) -> None:
    """Refuses settings that what is named does not have."""
    for name in spec.arguments:
        if name not in known:
            raise unknown_setting(spec.name, name, known)


def name_of(thing: Any) -> str:
    """The ``module:name`` of a function or class; for other objects, of their class."""
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}:{named.__qualname__}"
