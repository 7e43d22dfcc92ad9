"""Settings of agents, each declared once with its default and what it may be; choices; and objects by name."""

from __future__ import annotations

import dataclasses
import enum
import math
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.envs.live.failures import place_of
from zermelo.envs.support.local_modules import import_module
from zermelo.envs.support.spec_text import Spec, parse_spec, unknown_choice, unknown_setting

Choice = TypeVar("Choice", bound=enum.StrEnum)


class Compile(enum.StrEnum):
    """When rules are compiled that are not yet: once for each machine."""

    WAIT = "wait"
    """Before the search, whose clock starts afterwards."""
    BACKGROUND = "background"
    """While searches run in plain Python."""
    NEVER = "never"
    """Not at all: searches run in plain Python."""


class Ties(enum.StrEnum):
    """Which of several best actions is played."""

    RANDOM = "random"
    """Any of them, drawn from the agent's seed."""
    FIRST = "first"
    """The one with the smallest number."""


class ChanceAtLimit(enum.StrEnum):
    """How a chance state at the depth limit gets its value."""

    AUTO = "auto"
    """The choice of the evaluation; by default the average."""
    EVALUATE = "evaluate"
    """The chance state is evaluated, say after a move and before the dice are thrown: so do most programs for
    backgammon (Hauk, Buro and Schaeffer, Computers and Games 2004), and OpenSpiel."""
    AVERAGE = "average"
    """Its outcomes are evaluated, and averaged: half a move more, at many times the cost."""


def check_whole(name: str, value: Any, *, lower: int = 0) -> None:
    """A whole number of at least ``lower``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < lower:
        raise InvalidSettingError(f"{name} must be a whole number of at least {lower}, not {value!r}")


def check_number(name: str, value: Any, *, lower: float = -math.inf, above: bool = False) -> None:
    """A finite number of at least (or, with ``above``, of more than) ``lower``."""
    wanted = "a finite number"
    if lower > -math.inf:
        wanted += f" greater than {lower}" if above else f" of at least {lower}"
    is_finite = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_finite or value < lower or (above and value == lower):
        raise InvalidSettingError(f"{name} must be {wanted}, not {value!r}")


def check_flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool):
        raise InvalidSettingError(f"{name} must be True or False, not {value!r}")


def check_choice(name: str, value: Any, kind: type[Choice]) -> Choice:
    """One of an enumeration's values; returns the member."""
    try:
        return kind(str(value))
    except ValueError:
        raise unknown_choice(name, str(value), kind) from None


def check_callable(name: str, value: Any, signature: str) -> None:
    """None or something to call."""
    if value is not None and not callable(value):
        raise InvalidSettingError(f"{name} must be a function {signature}, not {value!r}")


def inside_bounds(value: float, bounds: tuple[float, float], *, strictly: bool) -> bool:
    """True if a value lies inside the bounds; where there is no room inside, on them will do."""
    if strictly and bounds[0] < bounds[1]:
        return bounds[0] < value < bounds[1]
    return bounds[0] <= value <= bounds[1]


Config = TypeVar("Config")


def setting_fields(owner: Any) -> list[dataclasses.Field[Any]]:
    """The fields of an agent, or a class of agents, that are settings."""
    return [field for field in dataclasses.fields(owner) if field.init]


def check_settings(owner: Any) -> None:
    """Checks all settings of a frozen dataclass that were declared here, and gives text its meaning."""
    for field in dataclasses.fields(owner):
        check, value = field.metadata.get("check"), getattr(owner, field.name)
        if check is not None and (value is not None or field.default is not None):
            found = check(field.name, value)
            object.__setattr__(owner, field.name, value if found is None else found)


def part_of(owner: Any, kind: type[Config], **fixed: Any) -> Config:
    """One of a class of settings: what an object has of it, what is ``fixed``, and defaults for the rest."""
    own = {field.name for field in dataclasses.fields(owner)}
    shared = [field.name for field in dataclasses.fields(cast("Any", kind)) if field.name in own]
    return kind(**{name: getattr(owner, name) for name in shared} | fixed)


def declared(default: Any, check: Callable[[str, Any], Any] | None, allowed: str, unit: str = "") -> Any:
    """A setting with its allowed values and its unit, which the reference shows.

    ``check`` is called with its name and value, and what it returns takes the value's place; None for a setting
    that is checked elsewhere.
    """
    return dataclasses.field(default=default, metadata={"check": check, "allowed": allowed, "unit": unit})


def flag(default: bool | None) -> Any:
    """True or False; None too, where that is the default, as for all below."""
    return declared(default, check_flag, "true or false")


def integer(default: int | None, unit: str, *, lower: int = 0) -> Any:
    """A whole number of at least ``lower``."""
    allowed = f"a whole number of at least {lower}"
    return declared(default, lambda name, value: check_whole(name, value, lower=lower), allowed, unit)


def number(default: float | None, unit: str, *, lower: float = -math.inf, upper: float = math.inf) -> Any:
    """A finite number from ``lower`` to ``upper``."""

    def check(name: str, value: Any) -> None:
        check_number(name, value, lower=lower)
        if value > upper:
            raise InvalidSettingError(f"{name} must be at most {upper}, not {value!r}")

    bounds = [f"from {lower:g}"] * math.isfinite(lower) + [f"up to {upper:g}"] * math.isfinite(upper)
    return declared(default, check, " ".join(["a number", *bounds]), unit)


def choice(default: enum.StrEnum) -> Any:
    """One of an enumeration's values."""
    allowed = " or ".join(member.value for member in type(default))
    return declared(default, lambda name, value: check_choice(name, value, type(default)), allowed)


def function(signature: str) -> Any:
    """A function, or the ``"module:name"`` of one; ``signature`` says of what."""

    def check(name: str, value: Any) -> Any:
        if isinstance(value, str) and ":" in value:
            value = import_name(value)
        check_callable(name, value, signature)
        return value

    return declared(None, check, f"a function {signature}, or its module:name")


def path(default: str | None = None) -> Any:
    """The name of a file, or None where that is the default."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str | os.PathLike) or not os.fspath(value):
            raise InvalidSettingError(f"{name} must be the name of a file, not {value!r}")
        return os.fspath(value)

    return declared(default, check, "the name of a file")


def converted(default: Any, make: Callable[[Any], Any], allowed: str, unit: str = "") -> Any:
    """A value that ``make`` turns into another."""
    return declared(default, lambda name, value: make(value), allowed, unit)


def setting_text(value: Any) -> Any:
    """The value as a spec shows it: evaluators of ours as their own spec, other functions as ``'module:name'``."""
    if isinstance(value, enum.Enum):
        return value.value
    spec = getattr(value, "spec", None)
    if callable(spec):
        return parse_spec(spec())
    if callable(value):
        return name_of(value)
    return value


def import_name(name: str) -> Any:
    """The object that ``module:attribute`` names; modules in the current folder are found too.

    Raises:
        UnknownNameError: There is no such module, or nothing of that name in it.
        InvalidSettingError: The module cannot be imported, or the text has no colon.
    """
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        raise InvalidSettingError(f"write module:name, such as 'mypackage.agents:MyAgent', not {name!r}")
    found = _import(module_name, name)
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
        reason = f"{type(error).__name__}: {error}{place_of(error)}"
        raise InvalidSettingError(f"cannot import {name!r}: {reason}") from error


def check_spec(spec: Spec, known: Iterable[str]) -> None:
    """Refuses settings that what is named does not have."""
    for name in spec.arguments:
        if name not in known:
            raise unknown_setting(spec.name, name, known)


def name_of(thing: Any) -> str:
    """The ``module:name`` of a function or class; for other objects, of their class."""
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}:{named.__qualname__}"
