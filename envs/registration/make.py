"""Environments by name.

A name is one of:

- a PettingZoo id, ``classic/connect_four-v3``, or the module it had before there were ids: ``connect_four_v3``,
  ``pettingzoo.classic.connect_four_v3``;
- one of ours, ``zermelo/Kalah-v0``;
- a Gymnasium id, ``FrozenLake-v1``, or one of Atari's games in ``ale-py``, ``ALE/Boxing-v5``;
- an OpenSpiel game, ``openspiel/breakthrough``, made as Shimmy's environment;
- ``sides(env='ConnectFour-v0', mover='turn')``, a Gymnasium environment that plays several sides in turn, as
  ``zermelo.envs.sides`` has it;
- ``module:function``, a function of the user's that returns an environment, or ``module:Rules``, a class of rules
  (``zermelo.envs.rules``) of the user's. The current directory is searched too.

Parameters stand in brackets: ``zermelo/Kalah-v0(houses=4)``, ``FrozenLake-v1(is_slippery=False)``,
``openspiel/breakthrough(rows=6, columns=6)``, ``games:nim(heaps=[1, 3, 5])``.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from zermelo.envs.errors import (
    InvalidSettingError,
    MissingDependencyError,
    UnknownNameError,
    UnsupportedGameError,
    ZermeloError,
)
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.wrappers import is_aec, is_gymnasium, is_parallel
from zermelo.envs.registration.own_games import env_maker
from zermelo.envs.registration.registry import OWN_ENVS, register_with_imported
from zermelo.envs.rules.rules_game import is_rules
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.installing import install_command, optional_import
from zermelo.envs.support.local_modules import import_module
from zermelo.envs.support.spec_text import TRUTH, Spec, is_truth, parse_spec, unknown_name, unknown_setting

_EXTRAS = ("classic", "openspiel")


@checked_call
def make(name: str, **parameters: Any) -> Any:
    """Makes an environment by name (see the module's text); it has not been reset.

    ``parameters`` are what its constructor takes, such as ``render_mode="rgb_array"``; they may also stand in the
    name, in brackets.

    Raises:
        UnknownNameError: There is no such environment; the message names those that are spelt alike.
        MissingDependencyError: A package is missing; the message is the command that installs it.
        InvalidSettingError: It takes no such parameter, or not with this value.
        UnsupportedGameError: The name gives a parallel environment, or no environment at all.
    """
    spec = parse_spec(name)
    arguments = {key: _plain(value) for key, value in spec.arguments.items()} | parameters
    for find in (_user_function, _own, _sides, _openspiel, _pettingzoo, _gymnasium):
        creator = find(spec.name)
        if creator is not None:
            env = _call(creator, spec.name, arguments)
            return _checked(_over_rules(env) if is_rules(env) else env, spec.name)
    raise _unknown(spec.name)


def _over_rules(rules: Any, render_mode: str | None = None) -> Any:
    from zermelo.envs.rules.env import env

    return env(rules, render_mode)


def _plain(value: Any) -> Any:
    """The value of ``true`` or ``false``; any other spec is text: ``openspiel/misere(game=tic_tac_toe())``."""
    if is_truth(value):
        return TRUTH[value.name]
    return str(value) + ("" if value.arguments else "()") if isinstance(value, Spec) else value


# -- one finder for each kind of name: a function that makes the environment, or None ----------------------------

Creator = Callable[..., Any]


def _user_function(name: str) -> Creator | None:
    module_name, colon, function_name = name.partition(":")
    if not colon:
        return None
    if module_name.endswith(".py") and (meant := _in_a_file(name)) is not None:
        raise meant
    module = _user_module(module_name, name)
    creator: Any = getattr(module, function_name, None)
    if is_rules(creator):
        return functools.partial(_over_rules, creator)
    if not callable(creator):
        offered = [key for key, value in vars(module).items() if _makes_envs(value) and not key.startswith("_")]
        raise unknown_name("environment", name, [f"{module_name}:{key}" for key in offered])
    has_rules = hasattr(creator, "_fields") and hasattr(creator, "initial_state")
    return env_maker(creator) if isinstance(creator, type) and has_rules else creator


def _makes_envs(value: Any) -> bool:
    """Whether calling this may make an environment: a function, or a class of environments or rules."""
    has_methods = hasattr(value, "initial_state") or (hasattr(value, "step") and hasattr(value, "reset"))
    return callable(value) and (has_methods or not isinstance(value, type))


def _user_module(module_name: str, name: str) -> Any:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if module_name == missing or module_name.startswith(f"{missing}."):
            raise UnknownNameError(
                f"no module is called {missing!r} (for {name!r}): give it as it is imported, from the current "
                "directory or an installed package"
            ) from None
        if missing.partition(".")[0] != module_name.partition(".")[0]:
            raise MissingDependencyError(
                f"module {module_name!r} needs {missing!r}: pip install the package that has it"
            ) from error
        raise _import_failed(module_name, str(error), error) from error  # its own package is not whole
    except Exception as error:
        raise _import_failed(module_name, f"{type(error).__name__}: {error}", error) from error


def _import_failed(module_name: str, reason: str, error: Exception) -> InvalidSettingError:
    return InvalidSettingError(f"importing {module_name!r} raised {reason}{place_of(error)}")


def _own(name: str) -> Creator | None:
    entry = OWN_ENVS.get(_dashed(name))
    return None if entry is None else entry.load()


def _sides(name: str) -> Creator | None:
    if name != "sides":
        return None
    from zermelo.envs.live.sides_env import sides

    def create(
        env: Any, mover: str = "current_player", reward: str = "mover", players: Any = None, **parameters: Any
    ) -> Any:
        return sides(make(env, **parameters), mover, reward, players)

    return create


def _openspiel(name: str) -> Creator | None:
    family, _, game = name.partition("/")
    if family != "openspiel":
        return None
    pyspiel = _import("pyspiel", name, "openspiel")
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if game not in kinds:
        raise unknown_name("environment", name, [f"openspiel/{known}" for known in kinds])
    shimmy = _import("shimmy.openspiel_compatibility", name, "openspiel")

    def create(render_mode: str | None = None, **parameters: Any) -> Any:
        _check_names(name, parameters, list(kinds[game].parameter_specification))
        # OpenSpiel's text has lists with semicolons, and a game inside a game with its brackets.
        texts = (";".join(map(str, one)) if isinstance(one, list | tuple) else one for one in parameters.values())
        text = ",".join(f"{key}={value}" for key, value in zip(parameters, texts, strict=True))
        try:
            loaded = pyspiel.load_game(f"{game}({text})")
        except pyspiel.SpielError as error:
            raise InvalidSettingError(f"OpenSpiel cannot make {name!r} with {parameters}: {error}") from None
        env = shimmy.OpenSpielCompatibilityV0(env=loaded, render_mode=render_mode)
        if parameters:
            env.config = loaded.get_parameters()  # reset loads the game again, by its name and this
        return env

    return create


def _pettingzoo(name: str) -> Creator | None:
    import pettingzoo

    register_with_imported()
    inside = name.removeprefix("pettingzoo.")
    wanted = _dashed(name if inside == name else inside.replace(".", "/"))
    env_id = _resolve(wanted, pettingzoo.aec_registry)
    if env_id is None:
        if _resolve(wanted, pettingzoo.parallel_registry) is not None:
            raise _parallel(name)
        return None
    creator: Any = pettingzoo.spec("aec", env_id).entry_point
    if isinstance(creator, str):
        module, _, attribute = creator.partition(":")
        creator = getattr(_import(module, env_id, env_id.partition("/")[0]), attribute)

    @functools.wraps(creator)
    def create(**parameters: Any) -> Any:
        return pettingzoo.make("aec", env_id, **parameters)

    return create


def _gymnasium(name: str) -> Creator | None:
    import gymnasium

    register_with_imported()
    if name.startswith("ALE/"):
        gymnasium.register_envs(optional_import("ale_py", "ale-py, which has Atari's games,", "atari"))
    env_id = _resolve(name, gymnasium.registry)
    if env_id is None:
        return None

    def create(**parameters: Any) -> Any:
        try:
            return gymnasium.make(env_id, **parameters)
        except gymnasium.error.DependencyNotInstalled as error:
            raise MissingDependencyError(f"{env_id} needs a package that is not installed: {error}") from error

    return create


def _dashed(name: str) -> str:
    """``connect_four_v3`` as ``connect_four-v3``."""
    return re.sub(r"_v(\d+)$", r"-v\1", name)


def _resolve(name: str, ids: Mapping[str, Any]) -> str | None:
    """The registered id that a name stands for; its family and its version (then the latest) may be left out."""
    if name in ids:
        return name
    without_family = [known for known in ids if known.rpartition("/")[2] == name]
    if len(without_family) == 1:
        return without_family[0]
    versions = {}
    for known in ids:
        base, _, version = known.rpartition("-v")
        if version.isdigit() and name in (base, base.rpartition("/")[2]):
            versions[int(version)] = known
    return versions[max(versions)] if versions else None


def _import(module: str, name: str, family: str) -> Any:
    with _quiet():
        try:
            return importlib.import_module(module)
        except ImportError as error:
            command = install_command(family) if family in _EXTRAS else f'pip install "pettingzoo[{family}]"'
            raise MissingDependencyError(f"{name} needs a package that is not installed: {command}") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Deprecations of module names and old versions are no news to somebody who asked for exactly that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", message=".*is out of date.*")
        yield


# -- making it ---------------------------------------------------------------------------------------------------


def _call(creator: Creator, name: str, arguments: Mapping[str, Any]) -> Any:
    _check_names(name, arguments, _accepted(creator))
    try:
        with _quiet():
            return creator(**arguments)
    except ZermeloError:
        raise
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"{name} needs {error.name}, which is neither installed nor in the current folder: pip install "
            f"{error.name}, if you know a package of that name"
        ) from error
    except Exception as error:
        unexpected = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        if isinstance(error, TypeError) and unexpected is not None and unexpected[1] in arguments:
            raise InvalidSettingError(f"{name} takes no parameter {unexpected[1]!r}") from error
        settings = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InvalidSettingError(f"cannot make {name}({settings}): {reason}{place_of(error)}") from error


def _check_names(name: str, arguments: Mapping[str, Any], accepted: list[str] | None) -> None:
    for parameter in arguments:
        if accepted is not None and parameter not in accepted:
            raise unknown_setting(name, parameter, accepted, "takes no parameter", "it takes")


def _accepted(creator: Any) -> list[str] | None:
    """The names of the parameters of a callable, or None where it takes any or does not tell.

    PettingZoo's ``env(**kwargs)`` hands everything to ``raw_env``, next to it in its module.
    """
    beside: Any = getattr(inspect.unwrap(creator), "__globals__", {}).get("raw_env")
    for each in (creator, beside):
        with contextlib.suppress(TypeError, ValueError):
            parameters = inspect.signature(each).parameters.values()
            if not any(one.kind is one.VAR_KEYWORD for one in parameters):
                return [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return None


def _checked(env: Any, name: str) -> Any:
    if is_parallel(env):
        raise _parallel(name)
    if not is_aec(env) and not is_gymnasium(env):
        is_old = any(cls.__module__.partition(".")[0] == "gym" for cls in type(env).__mro__)
        hint = ", but one of gym, Gymnasium's predecessor: shimmy.GymV26CompatibilityV0(env=...) makes one of it"
        raise UnsupportedGameError(
            f"{name} made {type(env).__name__}, which is no environment{hint if is_old else ''}"
        )
    return env


def _parallel(name: str) -> UnsupportedGameError:
    return UnsupportedGameError(
        f"{name} is a parallel environment, whose agents move at the same time: search needs an AEC environment, "
        "where they take turns"
    )


def _in_a_file(name: str) -> UnknownNameError | None:
    """The error for a name that begins with a module in the current folder, which is read and not imported."""
    parts = re.fullmatch(r"(\w+)(?:\.py)?(?:[.:](\w+))?", name)
    if parts is None or not Path(f"{parts[1]}.py").is_file():
        return None
    module, asked = parts[1], parts[2]
    hint = f"{module}.py is here: write {module}:NAME, the name of a class or function in it that makes one"
    with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.parse(Path(f"{module}.py").read_bytes())
        made = [one for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef)]
        envs = [f"{module}:{one.name}" for one in made if isinstance(one, ast.ClassDef) and _steps(one)]
        if asked in [one.name for one in made]:
            hint = f"did you mean '{module}:{asked}'?"
        elif envs:
            hint = f"{module}.py is here: write {' or '.join(envs[:5])}"
    return UnknownNameError(f"no environment is called {name!r}: {hint}")


def _steps(cls: ast.ClassDef) -> bool:
    return {"step", "reset"} <= {one.name for one in cls.body if isinstance(one, ast.FunctionDef)}


def _unknown(name: str) -> UnknownNameError:
    if (meant := _in_a_file(name)) is not None:
        return meant
    import gymnasium
    import pettingzoo

    ids = list(pettingzoo.aec_registry)
    known = {*ids, *OWN_ENVS, *gymnasium.registry}
    if "/" not in name:
        known |= {env_id.partition("/")[2].replace("-v", "_v") for env_id in ids}
    return unknown_name("environment", name, known)
