"""Names with parameters, as people type them: ``alphabeta(depth=4, evaluator=playout(games=8))``.

One grammar for environments, agents and evaluators: values are Python literals or specs themselves.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError, UnknownNameError

_CERTAIN: Final = 0.85  # a name as similar as this is named alone

_SYNONYMS: Final = {
    **dict.fromkeys(("time", "time_limit", "timeout", "movetime", "max_time", "think_time"), "seconds"),
    **dict.fromkeys(("plies", "max_plies", "lookahead", "ply", "horizon"), "depth"),
    **dict.fromkeys(
        ("iterations", "n_simulations", "num_simulations", "rollouts", "playouts", "sims"), "simulations"
    ),
    **dict.fromkeys(("n_games", "num_games", "rounds", "n_episodes", "episodes", "n_eval_episodes"), "games"),
    **dict.fromkeys(("n_jobs", "processes", "num_workers", "n_workers", "jobs", "cores"), "workers"),
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed"),
    **dict.fromkeys(("c", "c_puct", "exploration_constant", "cpuct", "uct_c"), "exploration"),
    **dict.fromkeys(("heuristic", "evaluation", "eval_fn", "evaluate"), "evaluator"),
}
"""What other libraries call a setting that has another name here."""

_FIRST: Final = {"level": "elo"}  # names whose one argument needs no name: ``level(800)``

_SHAPE = re.compile(r"\s*(?P<name>[^()\s]+)\s*(?:\((?P<arguments>.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class Spec:
    """A parsed name with its keyword arguments; ``str`` gives the text back, in one canonical spelling."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return format_spec(self.name, self.arguments)


def parse_spec(text: str) -> Spec:
    """Reads ``name`` or ``name(key=value, ...)``; ``InvalidSettingError`` shows text of another form."""
    if not isinstance(text, str):
        raise InvalidSettingError(
            f"a name is text such as 'alphabeta' or 'zermelo/Kalah-v0(houses=4)', not {text!r}"
        )
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise InvalidSettingError(f"cannot read {text!r}: write a name, or name(key=value, ...)")
    try:
        call = ast.parse(f"_({shape['arguments'] or ''})", mode="eval").body
        if not isinstance(call, ast.Call):
            raise ValueError("brackets do not match")
        return Spec(shape["name"], _keywords(shape["name"], call))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:  # of ast
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or "it is nested too deeply"
        reason = "put text in quotes, as in map_name='8x8'" if "literal" in reason else reason
        raise InvalidSettingError(
            f"cannot read {text!r}: write a name, or name(key=value, ...) ({reason})"
        ) from None


TRUTH: Final = {"true": True, "false": False}
"""Bare words that are values, for environments and agents alike."""


def is_truth(value: Any) -> bool:
    """Whether a value is one of the bare words ``true`` and ``false``."""
    return isinstance(value, Spec) and value.name in TRUTH and not value.arguments


def _keywords(name: str, call: ast.Call) -> dict[str, Any]:
    keywords: dict[str, Any] = {}
    if name in _FIRST and len(call.args) == 1:
        keywords[_FIRST[name]] = _value(call.args[0])
    elif call.args:
        raise ValueError("every argument needs its name, as in depth=6")
    for keyword in call.keywords:
        if keyword.arg is None:
            raise ValueError("** is not allowed")
        if keyword.arg in keywords:
            raise ValueError(f"{keyword.arg} is given twice")
        keywords[keyword.arg] = _value(keyword.value)
    return keywords


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return Spec(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return Spec(node.func.id, _keywords(node.func.id, node))
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"{ast.unparse(node)} is not a plain value") from None


def format_spec(name: str, arguments: Mapping[str, Any]) -> str:
    """The text of a spec; ``parse_spec`` reads it back."""
    pairs = [f"{key}={value if isinstance(value, Spec) else repr(value)}" for key, value in arguments.items()]
    return f"{name}({', '.join(pairs)})" if pairs else name


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a mistyped name: says which name was probably meant, or lists them all if they are few."""
    names = sorted(set(known))
    hint = did_you_mean(name, names)
    if hint is None:
        command = {"environment": "envs"}.get(kind, f"{kind}s")
        hint = f"there are {', '.join(names)}" if names and len(names) <= 20 else f"see `zermelo {command}`"
    return UnknownNameError(f"no {kind} is called {name!r}: {hint}")


def unknown_setting(
    owner: str, name: str, known: Iterable[str], refusal: str = "has no setting", offers: str = "its settings are"
) -> InvalidSettingError:
    """The error for a setting that its owner does not have: which was probably meant, or all of them."""
    names = list(known)
    bare = name.lstrip("-")  # of an option
    meant = name.removesuffix(bare) + _SYNONYMS.get(bare.replace("-", "_"), bare)
    hint = did_you_mean(meant if meant in names else name, names)
    hint = hint or f"{offers} {', '.join(names) or 'none'}"
    return InvalidSettingError(f"{owner} {refusal} {name!r}: {hint}")


def unknown_choice(name: str, value: Any, allowed: Iterable[str]) -> InvalidSettingError:
    """The error for a value that is none of those allowed: lists them, and says which was probably meant."""
    names = [str(one) for one in allowed]
    hint = did_you_mean(value, names) if isinstance(value, str) else None
    listed = ", ".join(map(repr, names))
    return InvalidSettingError(f"{name} must be one of {listed}, not {value!r}" + f": {hint}" * bool(hint))


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The question that names the closest known names, whatever their case; None if none is close."""
    lowered = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.6)
    if close and difflib.SequenceMatcher(None, name.lower(), close[0]).ratio() >= _CERTAIN:
        close = close[:1]
    return f"did you mean {' or '.join(repr(lowered[match]) for match in close)}?" if close else None
