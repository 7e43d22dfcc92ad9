"""Environments of our own: ``zermelo/<Rules>-v0`` for every class of rules, with its parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from zermelo.envs import games
from zermelo.envs.games import tables
from zermelo.envs.rules.contract import method_or_default, require_known_names


def env_maker(rules_class: Any) -> Callable[..., Any]:
    """A function ``env(<parameters>, render_mode=None)`` that makes environments of a class of rules.

    Nothing of PettingZoo is imported before it is called. A method that looks misspelt raises ``RulesError``.
    """
    require_known_names(rules_class)

    def env(*args: Any, render_mode: str | None = None, **parameters: Any) -> Any:
        from zermelo.envs.rules.env import env as rules_env

        return rules_env(rules_class(*args, **parameters), render_mode)

    signature = inspect.signature(rules_class)
    render_mode = inspect.Parameter("render_mode", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = [*signature.parameters.values(), render_mode]
    env.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # inspect's
    lines = [inspect.getdoc(rules_class) or rules_class.__name__, ""]
    if all(parameter.default is not parameter.empty for parameter in signature.parameters.values()):
        lines += _table(rules_class())
    env.__doc__ = "\n".join([*lines, "Version history: v0, the first."])
    env.__module__ = rules_class.__module__
    return env


@functools.cache  # by the name of a game of this package
def __getattr__(name: str) -> Callable[..., Any]:
    """The maker of environments of a game of this package, by the name of its class, as entry points have it."""
    if name not in tables.GAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return env_maker(getattr(games, name))


def _table(rules: Any) -> list[str]:
    """The table that PettingZoo has at the top of an environment."""
    settings = "".join(f", {name}={value!r}" for name, value in rules._asdict().items())
    names = getattr(rules, "seat_names", None)
    seats = range(method_or_default(rules, "seats")())
    agents = [f"player_{seat}" for seat in seats] if names is None else names()
    actions = rules.num_actions()
    lower, upper = method_or_default(rules, "utility_bounds")()
    rows = {
        "Creation": f'zermelo.envs.make("zermelo/{type(rules).__name__}-v0"{settings})',
        "Agents": ", ".join(agents),
        "Actions": f"Discrete({actions})",
        "Observation": _observation_text(type(rules)),
        "Action mask": f"{actions} of 0 and 1; all zero for agents that are not to move",
        "Rewards": f"zero until the end, then {lower} to {upper}; {lower} for an illegal action",
        "Rendering": "ansi, rgb_array, human",
    }
    width = max(map(len, rows))
    rule = f"{'=' * width}  {'=' * max(map(len, rows.values()))}"
    return [rule, *(f"{name:{width}}  {text}" for name, text in rows.items()), rule, ""]


def _observation_text(rules_class: Any) -> str:
    planes = getattr(rules_class, "planes", None)
    if planes is not None and planes.__doc__:  # None itself has a docstring from Python 3.13 on
        first = planes.__doc__.split("\n")[0].rstrip(".")
        return f"Planes of shape (rows, columns, planes): {first[0].lower()}{first[1:]}"
    own = getattr(rules_class, "write_observation", getattr(rules_class, "observation", None))
    if own is None:
        return "the bits of the state, see zermelo.envs.rules.observations"
    return (inspect.getdoc(own) or "see its rules").split("\n")[0].rstrip(".")
