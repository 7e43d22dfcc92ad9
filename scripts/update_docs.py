"""Writes the generated parts of README.md and the pages in docs, each between two comments.

python scripts/update_docs.py [PART...]

A part stands between ``<!-- generated: PART ARGUMENTS -->`` and ``<!-- end -->``. Without arguments every
part is written but ``tournament``, which plays one. ``scripts/bench.py --write`` writes the tables of benchmarks.
"""

import ast
import functools
import importlib
import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import game_pages

from zermelo.agents import list_agents, make_agent
from zermelo.envs import UnsupportedGameError, make_env
from zermelo.evaluation.match.readiness import require_fit

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
BLOCK = re.compile(r"(<!-- generated: (\w+)([^\n]*) -->\n).*?(\n<!-- end -->)", re.DOTALL)
QUICKSTART = ROOT / "scripts" / "quickstart"
TOURNAMENT = re.compile(r"\btournament (?:[^\n\\]|\\\n)*")
KINDS = {
    "two players": ("chess, go, connect four", "zermelo/MNK-v0"),
    "two players and dice": ("backgammon, EinStein", "zermelo/EinStein-v0"),
    "one player": ("2048, FrozenLake", "zermelo/Game2048-v0"),
    "three or more players": ("dots and boxes for three", "zermelo/DotsAndBoxes-v0(players=3)"),
    "hidden cards": ("poker, Hanabi, liar's dice", "zermelo/Kuhn-v0"),
    "moves at the same time": ("rock paper scissors, Goofspiel", "zermelo/Goofspiel-v0(cards=4)"),
}
"""Each kind of game, with examples and an environment of that kind."""


@functools.cache
def _played():
    words = shlex.split(TOURNAMENT.search(QUICKSTART.read_text()).group().replace("\\\n", " "))
    program = Path(sys.executable).with_name("zermelo")
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def tournament(page, part="whole"):
    """The tables that ``scripts/quickstart`` prints, or the first of them."""
    tables = _played().rstrip().split("\n\n")
    return "```text\n" + "\n\n".join(tables[:2] if part == "standings" else tables) + "\n```"


def agents(page):
    """A table of the agents that have a name."""
    lines = ["| name | what it does |", "| --- | --- |"]
    lines += [f"| `{entry.name}` | {entry.summary.replace('``', '`')} |" for entry in list_agents()]
    return "\n".join(lines)


@functools.cache
def _fits():
    lines = ["| game | for example | agents |", "| --- | --- | --- |"]
    lines += [f"| {kind} | {games} | {', '.join(_agents_for(env))} |" for kind, (games, env) in KINDS.items()]
    return "\n".join(lines)


def fits(page):
    """A table of the kinds of games, and the agents that play them."""
    return _fits()


def _agents_for(env_id):
    """The agents that do not refuse an environment; ``random`` never does."""
    env = make_env(env_id)
    env.reset(seed=0)
    for entry in list_agents():
        if entry.name == "random":
            continue
        try:
            require_fit(make_agent(entry.name), env, entry.name)
        except UnsupportedGameError:
            continue
        yield f"`{entry.name}`"


def source(page, path, *names):
    """The code of functions and classes of a file."""
    text = (ROOT / path).read_text()
    nodes = {getattr(node, "name", None): node for node in ast.parse(text).body}
    if missing := [name for name in names if name not in nodes]:
        raise SystemExit(f"{path} has no function or class {', '.join(missing)}")
    lines = text.splitlines()
    parts = ["\n".join(lines[nodes[name].lineno - 1 : nodes[name].end_lineno]) for name in names]
    return f'```python title="{path}"\n' + "\n\n\n".join(parts) + "\n```"


def names(page):
    """A table of the names that a page of the reference describes: the first sentence of each, and its file."""
    rows = ["| name | what it is | source |", "| --- | --- | --- |"]
    for dotted in re.findall(r"^::: (\S+)$", page, re.MULTILINE):
        module, _, name = dotted.rpartition(".")
        thing = getattr(importlib.import_module(module), name)
        rows.append(f"| `{name}` | {_summary(thing)} | `{_file(thing, module)}` |")
    return "\n".join(rows)


def _summary(thing):
    text = inspect.getdoc(thing) if callable(thing) or inspect.ismodule(thing) else None
    sentence = re.split(r"(?<=\.)\s", " ".join((text or "A constant.").split("\n\n")[0].split()))[0]
    return sentence.replace("``", "`").replace("|", "\\|").removesuffix("::").removesuffix(":")


def _file(thing, module):
    module = getattr(thing, "__module__", None) or module
    path = ROOT / module.removeprefix("zermelo.").replace(".", "/")
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).relative_to(ROOT)


def methods(page):
    """Tables of the methods that rules may have, group by group."""
    from zermelo.envs.rules.contract import METHODS

    lines = []
    for group in dict.fromkeys(method.group for method in METHODS.values()):
        lines += ["", f"**{group}**", "", "| method | what it gives |", "| --- | --- |"]
        for method in METHODS.values():
            if method.group == group:
                dot = "" if method.compiled else " ·"
                lines.append(
                    f"| `{method.name}({', '.join(method.arguments)})`{dot} | {' '.join(method.about.split())} |"
                )
    return "\n".join(lines).replace("``", "`")


def folders(page):
    """A table of the folders, and what each may import, as the tests enforce it."""
    tree = ast.parse((ROOT / "tests" / "test_layout.py").read_text())
    [value] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "ROOMS"]
    rows = ["| folder | may import |", "| --- | --- |"]
    for package, rooms in eval(compile(ast.Expression(value), "ROOMS", "eval")).items():
        for folder, imported in rooms.items():
            rows.append(f"| `{package}/{folder}` | {', '.join(f'`{name}`' for name in sorted(imported))} |")
    return "\n".join(rows)


def commands(page):
    """A heading, what it does and a table of options for each command."""
    import typer.main

    from zermelo.evaluation.cli.app import app

    group = typer.main.get_command(app)
    return "\n\n".join(text for name, command in group.commands.items() for text in _command(name, command))


def _command(name, command):
    yield f"## zermelo {name}"
    yield f"```text\n{_usage(name, command)}\n```"
    yield _plain(command.help)
    shown = [param for param in command.params if not param.hidden and param.name != "help"]
    rows = [f"| {_names(param)} | {_cell(param)} |" for param in shown]
    yield "\n".join(["| option | what it does |", "| --- | --- |", *rows])


def _usage(name, command):
    context = command.make_context(f"zermelo {name}", [], resilient_parsing=True)
    return " ".join(command.get_usage(context).split()).removeprefix("Usage: ")


def _names(param):
    if param.param_type_name == "argument":
        return f"`{param.metavar or param.name.upper()}`"
    return ", ".join(f"`{name}`" for name in param.opts)


def _cell(param):
    text = _plain(param.help or "").replace("\n", " ").replace("|", "\\|")
    default = param.default
    shown = default is not None and default is not False and not callable(default) and param.show_default is True
    return f"{text} Default: `{getattr(default, 'value', default)}`." if shown else text


def _plain(text):
    """Help without the marks for colours, and its examples as code."""
    text = re.sub(r"\[/?bold\]", "**", text or "")
    text = re.sub(r"\[/?(?:dim|cyan|green|yellow|red)\]", "", text).replace("\b", "").strip()
    lines = [re.sub(r"^ *\$ (.*)", r"    \1", line) for line in text.splitlines()]
    return "\n".join(lines)


PARTS = {part.__name__: part for part in (tournament, agents, fits, source, names, methods, folders, commands)}


def updated(text, parts):
    """The text of a page with its blocks of those parts written anew."""

    def write(found):
        start, part, arguments, end = found.groups()
        if part not in PARTS:
            raise SystemExit(f"there is no part {part!r}: parts are {', '.join(PARTS)}")
        return f"{start}\n{PARTS[part](text, *arguments.split())}\n{end}" if part in parts else found.group()

    return BLOCK.sub(write, text)


def main(parts):
    if unknown := set(parts) - {*PARTS, "games"}:
        raise SystemExit(f"there is no part {unknown.pop()!r}: parts are {', '.join(PARTS)}")
    for page in PAGES:
        text = page.read_text()
        if (new := updated(text, parts or [part for part in PARTS if part != "tournament"])) != text:
            page.write_text(new)
            print(page.relative_to(ROOT))
    if not parts or "games" in parts:
        game_pages.FOLDER.mkdir(exist_ok=True)
        for page, text in game_pages.pages().items():
            page.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
