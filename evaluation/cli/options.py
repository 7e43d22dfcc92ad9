"""Options that are settings: name, type, default and help of each are written once, with its dataclass."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from typer.models import OptionInfo

Command = TypeVar("Command", bound=Callable[..., None])
Settings = TypeVar("Settings")


def described(document: str | None, section: str, name: str) -> str:
    """What a section of a docstring says of a name, up to what it says of Python."""
    _, _, entries = inspect.cleandoc(document or "").partition(f"\n{section}:\n")
    found = re.search(rf"^ {{4}}{name}: (.*(?:\n {{8}}.*)*)", entries, re.MULTILINE)
    text = re.sub(r"\s+", " ", found[1]).partition(" In Python")[0] if found else ""
    return re.sub(r"``(\w+)``", lambda other: f"--{other[1].replace('_', '-')}", text)


def explained(command: Callable[..., None]) -> str:
    """The text of a command's help; what its docstring says of its options goes to them."""
    signature, document = inspect.signature(command, eval_str=True), inspect.getdoc(command) or ""
    for one in signature.parameters.values():
        for about in getattr(one.annotation, "__metadata__", ()):
            about.help = about.help or described(document, "Options", one.name)
    vars(command)["__signature__"] = signature
    return document.partition("\n\nOptions:\n")[0]


def takes_settings(*kinds: type, left_out: Collection[str] = (), **options: Any) -> Callable[[Command], Command]:
    """Gives a command an option for each field of dataclasses, all of which it takes as keywords.

    ``options`` are for fields that need more than their name: typer's option, or that with another type
    (``Annotated``).
    """

    def decorate(command: Command) -> Command:
        own = [
            one
            for one in inspect.signature(command, eval_str=True).parameters.values()
            if one.kind != one.VAR_KEYWORD
        ]
        derived = [
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default,
                annotation=_annotation(kind, field, options.get(field.name)),
            )
            for kind in kinds
            for field in dataclasses.fields(kind)
            if field.name not in left_out
        ]  # fmt: skip
        arguments = [one for one in own if one.kind != one.KEYWORD_ONLY]
        parameters = [*arguments, *derived, *(one for one in own if one.kind == one.KEYWORD_ONLY)]
        vars(command)["__signature__"] = inspect.Signature(parameters)
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorate


def _annotation(settings: type, field: dataclasses.Field[Any], option: Any) -> Any:
    kind: Any
    if option is None or isinstance(option, OptionInfo):
        module = vars(sys.modules[settings.__module__])
        kind = get_type_hints(SimpleNamespace(__annotations__={field.name: field.type}), module)[field.name]
        # An enumeration, where its members may be given as text too.
        kind = next((one for one in get_args(kind) if isinstance(one, enum.EnumType)), kind)
        # A flag without a second one that denies it.
        option = option or (typer.Option(f"--{field.name.replace('_', '-')}") if kind is bool else typer.Option())
    else:
        kind, option = get_args(option)
    texts = (described(kind.__doc__, "Attributes", field.name) for kind in settings.__mro__)
    option.help = option.help or next(filter(None, texts), "")
    return Annotated[kind, option]


def settings_from(kind: type[Settings], options: Mapping[str, Any], **changed: Any) -> Settings:
    names = [field.name for field in dataclasses.fields(kind) if field.name in options]  # type: ignore[arg-type]
    return kind(**{name: options[name] for name in names} | changed)
