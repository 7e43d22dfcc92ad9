"""Sentences for command lines that cannot be read: an unknown option, a wrong value, an argument too many."""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import typer

from zermelo.envs.errors import InvalidSettingError, UnknownNameError, ZermeloError
from zermelo.envs.support.spec_text import did_you_mean, unknown_choice, unknown_setting

USAGE: Final[type[Any]] = typer.BadParameter.__mro__[1]
"""The parent of all errors of the parser."""
_WORDS: Final = {int: "a whole number", float: "a number", Path: "the name of a file or folder"}


def no_command(name: str, names: Sequence[str]) -> UnknownNameError:
    hint = did_you_mean(name, names) or f"there are {', '.join(names)}"
    return UnknownNameError(f"no command is called {name!r}: {hint}")


def mistake(error: Any, command: Any, context: Any, typed: Sequence[str]) -> ZermeloError:
    """What the parser refuses of a command and its arguments as they were typed, as a sentence."""
    name, param = command.name, getattr(error, "param", None)
    usage = " ".join(["zermelo", *[name] * (context.parent is not None), "--help"])
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        options = [option for each in command.get_params(context) for option in each.opts if option[:2] == "--"]
        return unknown_setting(name, error.option_name, options, "has no option", "its options are")
    if hasattr(error, "param_type"):  # it is missing
        return InvalidSettingError(f"{name} needs {_called(param)}: `{usage}` says more")
    if param is not None:
        return _wrong_value(command, context, param, typed)
    message = str(error.message).rstrip(".")
    return InvalidSettingError(f"{name}: {message[:1].lower()}{message[1:]}; `{usage}` says more")


def _wrong_value(command: Any, context: Any, param: Any, typed: Sequence[str]) -> InvalidSettingError:
    values = command.make_parser(context).parse_args(args=list(typed))[0].get(param.name)
    value = values if isinstance(values, str) or not values else values[-1]
    hint = get_type_hints(inspect.unwrap(command.callback), include_extras=True)[param.name]
    kind = next(_plain_types(hint), str)
    if issubclass(kind, enum.Enum):
        return unknown_choice(_called(param), value, [member.value for member in kind])
    wanted = _WORDS.get(kind, "text")
    for about in getattr(hint, "__metadata__", ()):
        lower, upper = getattr(about, "min", None), getattr(about, "max", None)
        if lower is not None and upper is not None:
            wanted += f" from {lower:g} to {upper:g}"
        elif lower is not None or upper is not None:
            wanted += f" of at least {lower:g}" if upper is None else f" of at most {upper:g}"
    return InvalidSettingError(f"{_called(param)} is {wanted}, not {value!r}")


def _called(param: Any) -> str:
    """A parameter as it is typed: ``--games``, ``ENV``."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper()).strip("[].")
    return str(max(param.opts, key=len))


def _plain_types(hint: Any) -> Iterator[type]:
    """The classes of an annotation such as ``Annotated[list[int] | None, ...]``, but for None."""
    if get_origin(hint) in (types.UnionType, Union, list) or hasattr(hint, "__metadata__"):
        for part in get_args(hint)[: 1 if hasattr(hint, "__metadata__") else None]:
            yield from _plain_types(part)
    elif isinstance(hint, type) and hint is not type(None):
        yield hint
