"""Wrong calls of public names, answered by a sentence in place of Python's words for its own machinery.

``checked_call`` decorates what users call. The error names the argument that was meant, or says what its
annotation says; text becomes the member of the enumeration that it names.
"""

from __future__ import annotations

import enum
import functools
import inspect
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, TypeVar, cast, is_typeddict

from zermelo.envs.errors import InvalidSettingError, ZermeloError
from zermelo.envs.support.spec_text import unknown_choice, unknown_setting

_CLASSES: Final[Mapping[str, type]] = {
    "bool": bool, "int": numbers.Integral, "float": numbers.Real, "str": str, "None": type(None),
}  # fmt: skip
"""Classes of values that annotations mean, besides those that they name."""
_WORDS: Final = {
    "bool": "True or False", "int": "a whole number", "float": "a number", "str": "text", "None": "None",
    "os.PathLike": "a path", "Callable": "a function", "Sequence": "a list", "Iterable": "a list",
    "Mapping": "a dictionary",
}  # fmt: skip
"""How messages call them."""
_EXAMPLES: Final = ("depth", "simulations", "seconds")  # settings that serve as the example before all others


Thing = TypeVar("Thing", bound=Callable[..., Any])


def checked_call(thing: Thing) -> Thing:
    """A function, a method or the constructors of a class, with an ``InvalidSettingError`` for a wrong call."""
    if not isinstance(thing, type):
        return cast("Thing", _explained(thing))
    kind: Any = thing
    advice = ""
    for name, method in [*vars(kind).items()]:
        if isinstance(method, classmethod) and method.__annotations__.get("return") == kind.__name__:
            setattr(kind, name, classmethod(_explained(method.__func__)))
            summary = (inspect.getdoc(kind) or "").splitlines()[0].replace("``", "").removesuffix(".")
            advice = f"{kind.__name__}.{name} makes one ({summary[:1].lower()}{summary[1:]})"
    kind.__init__ = _explained(kind.__init__, advice)
    return thing


def _explained(function: Callable[..., Any], advice: str = "") -> Callable[..., Any]:
    """The function that answers wrong calls; where an argument is missing by the advice, or else by the call."""

    @functools.wraps(function)
    def call(*given: Any, **settings: Any) -> Any:
        call_of = _form_of(function)
        if unknown := [one for one in settings if one not in call_of.named and not call_of.takes_all]:
            raise _unknown(_name(function, given), unknown[0], given, call_of)
        for one in call_of.early & settings.keys():
            settings[one] = call_of.allowed[one].checked(one, settings[one])
        try:
            return function(*given, **settings)
        except ZermeloError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            own = given[call_of.is_method :]
            if wrong := call_of.misfit(_name(function, given), own, settings, advice):
                raise wrong from None
            for one, value in {**dict(zip(call_of.named, own, strict=False)), **settings}.items():
                if one in call_of.allowed:
                    call_of.allowed[one].check(one, value, error)
            raise  # it went wrong inside

    return call


def _unknown(owner: str, setting: str, given: Sequence[Any], call_of: _Form) -> InvalidSettingError:
    """The error for a setting that a call does not take: which was meant, or the object that has it."""
    kind = type(given[0]) if given else None
    if is_dataclass(kind) and "." in owner and setting in {field.name for field in fields(kind)}:
        return InvalidSettingError(f"{owner} has no setting {setting!r}: write {kind.__name__}({setting}=...)")
    for argument, allowed in call_of.allowed.items():
        for kind in filter(is_dataclass, allowed.classes):
            if setting in {field.name for field in fields(kind) if field.init}:
                where = f"{argument}={kind.__name__}({setting}=...)"
                return InvalidSettingError(f"{owner} has no setting {setting!r}: write {where}")
    return unknown_setting(owner, setting, call_of.named)


def _name(function: Callable[..., Any], given: Sequence[Any]) -> str:
    """A function as messages call it; a method goes by its object's class, and ``__init__`` by that alone."""
    if not _form_of(function).is_method:
        return function.__name__
    owner = given[0] if isinstance(given[0], type) else type(given[0])
    return owner.__name__ if function.__name__ == "__init__" else f"{owner.__name__}.{function.__name__}"


@dataclass(frozen=True)
class _Allowed:
    """What an argument may be: instances of classes, or text that names a member of an enumeration."""

    classes: tuple[type, ...]
    words: str
    choices: type[enum.StrEnum] | None

    def checked(self, name: str, value: Any) -> Any:
        if self.choices is None or value is None:
            self.check(name, value)
            return value
        if not isinstance(value, str) or value not in list(self.choices):
            raise unknown_choice(name, value, self.choices)
        return self.choices(value)

    def check(self, name: str, value: Any, cause: Exception | None = None) -> None:
        is_flag = isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # NumPy's too
        is_right = bool in self.classes if is_flag else isinstance(value, self.classes)
        if not is_right and self.choices is None:
            raise InvalidSettingError(f"{name} must be {self.words}, not {value!r}") from cause


@dataclass(frozen=True)
class _Form:
    """The parameters of a function.

    Attributes:
        named: All that can be given by name, those that can be given by place as well first.
        places: How many these are.
        required: Those without a default.
        takes_all: Whether other settings are taken besides.
        early: Flags and enumerations, which are checked before the function begins.
        is_method: Whether its first argument is the object or the class.
    """

    named: Sequence[str]
    places: int
    required: Sequence[str]
    takes_all: bool
    allowed: Mapping[str, _Allowed]
    early: frozenset[str]
    is_method: bool

    def misfit(
        self, owner: str, given: Sequence[Any], settings: Mapping[str, Any], advice: str
    ) -> InvalidSettingError | None:
        by_name = self.named[self.places :]
        usage = f"{owner}({', '.join(f'{one}=...' if one in by_name else one for one in self.required)})"
        if len(given) > self.places:
            names = self.named[self.places :]
            example = next((one for one in (*_EXAMPLES, *names) if one in names), "")
            advice = f"give it by its name, as in {example}=..." if example else f"write {usage}"
            return InvalidSettingError(f"{owner} does not take {given[self.places]!r} without a name: {advice}")
        by_place = self.named[: len(given)]
        for one in by_place:
            if one in settings:
                return InvalidSettingError(f"{owner} is given {one!r} twice: leave out {one}={settings[one]!r}")
        if missing := [one for one in self.required if one not in {*by_place, *settings}]:
            return InvalidSettingError(
                f"{owner} needs {', '.join(map(repr, missing))}: {advice or f'write {usage}'}"
            )
        return None


@functools.cache  # by the function itself, whose signature is fixed
def _form_of(function: Callable[..., Any]) -> _Form:
    parameters = list(inspect.signature(function).parameters.values())
    is_method = bool(parameters) and parameters[0].name in ("self", "cls")
    del parameters[:is_method]
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = places + [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    required = [one.name for one in parameters if one.default is one.empty and one.name in named]
    takes_all = False
    for one in parameters:
        if one.kind is one.VAR_KEYWORD:  # ``Unpack`` of a typed dictionary lists the names
            listed: Any = function.__globals__.get(str(one.annotation).removeprefix("Unpack[").removesuffix("]"))
            takes_all = not is_typeddict(listed)
            named += [] if takes_all else list(listed.__annotations__)
    allowed = {one.name: found for one in parameters if (found := _allowed_by(one, function)) is not None}
    early = frozenset(name for name, one in allowed.items() if one.choices is not None or bool in one.classes)
    return _Form(named, len(places), required, takes_all, allowed, early, is_method)


def _allowed_by(parameter: inspect.Parameter, function: Any) -> _Allowed | None:
    """What an argument may be by its annotation; None where that names anything that cannot be checked."""
    text = str(parameter.annotation)
    while "[" in text:
        text, before = re.sub(r"\[[^][]*\]", "", text), text
        if text == before:
            return None
    parts = text.split(" | ")
    classes = [_class_called(part, function.__globals__) for part in parts]
    choices = [one for one in classes if one is not None and issubclass(one, enum.StrEnum)]
    if None in classes or parameter.kind is parameter.VAR_KEYWORD:
        return None
    words = [_WORDS.get(part, f"a value of the class {part}") for part in parts]
    return _Allowed(tuple(one for one in classes if one), " or ".join(words), choices[0] if choices else None)


def _class_called(name: str, names: Mapping[str, Any]) -> type | None:
    """The class that part of an annotation names; None for what has no instances to be told by."""
    first, *rest = name.split(".")
    found = _CLASSES.get(name, names.get(first))
    for part in rest:
        found = getattr(found, part, None)
    is_told = isinstance(found, type) and found is not Any and not getattr(found, "_is_protocol", False)
    return found if is_told else None
