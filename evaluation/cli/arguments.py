"""Arguments that several commands share, options that are settings, positions, and printing."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args, get_type_hints

import msgspec
import typer
from typer.models import OptionInfo

from zermelo.agents.base.limits import Limits
from zermelo.agents.specs import agent_names, agent_spec, describe_settings
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.envs.support.spec_text import Spec
from zermelo.evaluation.cli import completion
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.tournament.settings import RunnerSettings

if TYPE_CHECKING:
    from zermelo.envs.game import Game
    from zermelo.evaluation.match.live_game import EnvDriver

Command = TypeVar("Command", bound=Callable[..., None])
Settings = TypeVar("Settings")
INTERRUPTED: Final = 130  # the exit code after Ctrl-C


TYPED: Final = "zermelo.typed"  # where the context of a command keeps its arguments as they were typed


def folder(text: str | Path) -> Path:
    if not str(text):
        raise typer.BadParameter("it is empty: name a folder")
    return Path(text)


def results_folder(context: typer.Context, name: Path | None) -> Path | None:
    if name is None or context.resilient_parsing or name.exists() or not _is_env(str(name)):
        return name
    typed = " ".join(shlex.quote(one) for one in context.meta.get(TYPED, ()) if not one.startswith("-"))
    advice = f"`zermelo tournament {name} AGENT AGENT --out DIR` makes one"
    if context.info_name == "compare":
        advice = f"`zermelo tournament {typed} --sprt elo0=0,elo1=10` plays a match and tests who is stronger"
    raise InvalidSettingError(f"{name} is an environment, and DIR is a folder with results: {advice}")


def environment(context: typer.Context, name: str) -> str:
    if context.resilient_parsing or _is_env(name):
        return name
    if name in agent_names():
        raise UnknownNameError(
            f"{name!r} is an agent: name the environment first, as in `zermelo {context.info_name} "
            f"classic/tictactoe-v3 {name}`"
        )
    if Path(name).is_dir():
        raise UnknownNameError(
            f"{name!r} is a folder, not an environment: `zermelo envs` lists environments, and `zermelo standings "
            f"{name}` prints the tables of a tournament"
        )
    return name


def _is_env(text: str) -> bool:
    return re.search(r"[-_]v\d+(\(.*\))?$|^[\w.]+:\w", text, re.DOTALL) is not None


Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Results folder (the tournament's --out).", callback=results_folder)
]
EnvText = Annotated[
    str,
    typer.Argument(
        metavar="ENV",
        help="An environment, such as classic/connect_four-v3; `zermelo envs` lists them.",
        callback=environment,
        autocompletion=completion.environments,
    ),
]
AgentText = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        help='An agent, such as "alphabeta(depth=4)"; `zermelo agents` lists them.',
        autocompletion=completion.agents,
    ),
]
MovesText = Annotated[
    str,
    typer.Option(
        "--moves", "-m", help="Moves to play first, from the start: 3,3,2 (numbers of actions) or e4,e5,Nf3."
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Import the module of the games' environment (module:function), which runs its code."
    ),
]
Tables = Annotated[
    str | None, typer.Option("--tables", metavar="FILE", help="An endgame table (`zermelo table`).")
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-w", min=1, show_default="1; on Ray, as many as the cluster has processors"),
]
OutFile = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="The file; by default named after the environment.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Seed = Annotated[int, typer.Option("--seed", "-s", min=0, help="Seed of all random numbers.")]


def position_after(env: str, moves: str, seed: int) -> EnvDriver:
    """The environment of that name, reset with the seed, after moves such as ``3,3,2`` or ``e4,e5``."""
    from zermelo.evaluation.match.live_game import drive_env
    from zermelo.evaluation.match.sources import build_env
    from zermelo.evaluation.positions.moves import play_moves

    driver = drive_env(build_env(env)[0], seed)
    play_moves(driver, moves)
    return driver


def game_after(env: str, moves: str, seed: int) -> tuple[Game[Any], Any]:
    from zermelo.envs.adapters.as_game import as_game

    live = position_after(env, moves, seed).env
    game = as_game(live)
    return game, game.snapshot(live)


def file_for(out: str, env: str, suffix: str) -> Path:
    return Path(out or env.rpartition("/")[2].partition("(")[0] + suffix)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Makes the file's folder; a file that cannot be written is a ``StoreError``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error


class LiveLine:
    """A line on the terminal that is written over; nothing where nobody watches."""

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if self._watched:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        self.show("")


def print_json(value: object) -> None:
    """Prints plain values and dataclasses as one line of JSON; infinities and nan become null."""
    typer.echo(msgspec.json.encode(value).decode())


def print_table(table: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(table.to_dict())
    else:
        typer.echo(str(table))


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

    ``options`` are typer's, for fields that need more than their name, or those with another type (``Annotated``).
    """

    def decorate(command: Command) -> Command:
        given = inspect.signature(command, eval_str=True).parameters.values()
        own = [one for one in given if one.kind != one.VAR_KEYWORD]
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


def limited(agents: Sequence[str], limits: Limits) -> list[str]:
    """Agents with those of the limits that they have as a setting, and do not give themselves."""
    given = {name: value for name, value in asdict(limits).items() if value is not None}
    found: list[str] = []
    used: set[str] = set()
    for text in agents if given else ():
        spec = agent_spec(text)
        settings = set() if ":" in spec.name else {setting.name for setting in describe_settings(spec.name)}
        added = {name: given[name] for name in given if name in settings and name not in spec.arguments}
        used.update(added)
        found.append(str(Spec(spec.name, {**spec.arguments, **added})) if added else text)
    if unused := [name for name in given if name not in used]:
        raise InvalidSettingError(
            f"--{unused[0]} limits none of these agents ({', '.join(agents)}): they have no such setting, or "
            "give their own; `zermelo agents NAME` lists an agent's settings"
        )
    return found or list(agents)


takes_limits = takes_settings(Limits)
takes_runner = takes_settings(RunnerSettings, workers=Workers)
