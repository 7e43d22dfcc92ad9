"""Writes the generated parts of README.md and the pages in docs, each between two comments.

python scripts/update_docs.py [PART...]

A part stands between ``<!-- generated: PART ARGUMENTS -->`` and ``<!-- end -->``. Without arguments every
part is written but ``tournament``, which plays one. ``scripts/bench.py --write`` writes the tables of benchmarks.
"""

import ast
import enum
import functools
import importlib
import inspect
import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import typer.main
from game_pages import CLASSICS, ladders, levels, pages, table

from zermelo.agents import list_agents
from zermelo.agents.specs import describe_settings
from zermelo.envs.rules.contract import METHODS
from zermelo.envs.support.spec_text import Spec
from zermelo.evaluation.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
LIMITS = {
    "depth": "At least 1.",
    "nodes": "At least 1.",
    "simulations": "At least 1.",
    "seconds": "Greater than 0.",
}
"""The limits that commands hand on to agents, and how their help ends."""
BLOCK = re.compile(r"(<!-- generated: (\w+)([^\n]*) -->\n).*?(\n<!-- end -->)", re.DOTALL)
QUICKSTART = ROOT / "scripts" / "quickstart"
TOURNAMENT = re.compile(r"\btournament (?:[^\n\\]|\\\n)*")


def tournament(page, part="whole"):
    """The tables that ``scripts/quickstart`` prints, or the first of them."""
    tables = _played().rstrip().split("\n\n")
    return "```text\n" + "\n\n".join(tables[:2] if part == "standings" else tables) + "\n```"


@functools.cache
def _played():
    words = shlex.split(TOURNAMENT.search(QUICKSTART.read_text()).group().replace("\\\n", " "))
    program = Path(sys.executable).with_name("zermelo")
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def agents(page):
    """A table of the agents that have a name."""
    return table("name | what it does", ((f"`{agent.name}`", code(agent.summary)) for agent in list_agents()))


def classics(page):
    """The strength of agents in each classic environment."""
    parts = (f"## {said['title']}\n\n{levels(f'classic/{name}')}" for name, said in CLASSICS.items())
    return "\n\n".join(parts)


def levels_of_games(page):
    """A table of the ladders that are shipped."""
    return ladders()


def settings(page):
    """A table of the settings of each agent, and one of those that all have in common."""
    described = {entry.name: describe_settings(entry.name) for entry in list_agents(learned=True)}
    shared = {setting.name: setting for setting in described["auto"] if setting.is_common}
    parts = []
    for entry in list_agents(learned=True):
        own = [setting for setting in described[entry.name] if setting != shared.get(setting.name)]
        parts += [
            f"## {entry.name}",
            code(entry.summary),
            _settings_table(own) if own else "It has only the settings in common.",
        ]
    return "\n\n".join([*parts, "## Settings in common", _settings_table(shared.values())])


def _settings_table(described):
    rows = []
    for setting in described:
        allowed = " or ".join(f"`{one}`" if " " not in one else one for one in setting.allowed.split(" or "))
        about = code(f"{setting.text} {setting.more}".strip()).replace("|", "\\|")
        default = setting.default if isinstance(setting.default, Spec) else repr(setting.default)
        rows.append((f"`{setting.name}`", f"`{default}`", setting.unit, allowed, about))
    return table("setting | default | unit | allowed values | what it does", rows)


def parameters(page, dotted):
    """A table of the parameters of a function, or of a class of settings, with their defaults."""
    module, _, name = dotted.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    about = {}
    for owner in reversed(thing.__mro__ if inspect.isclass(thing) else (thing,)):
        found = re.findall(
            r"^(?:Args|Attributes):\n((?: {4}.*\n?|\n)+)", inspect.getdoc(owner) or "", re.MULTILINE
        )
        about |= dict(re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", "".join(found), re.MULTILINE))
    rows = []
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name not in about:
            raise SystemExit(f"{dotted} does not say what {parameter.name} is")
        default = parameter.default
        shown = f"`{getattr(default, '__name__', repr(getattr(default, 'value', default)))}`"
        text = code(" ".join(about[parameter.name].split())).replace("|", "\\|")
        text = re.sub("In Python: (.)", lambda found: found[1].upper(), text)
        is_shown = default is not parameter.empty and "lambda" not in shown
        rows.append((f"`{parameter.name}`", shown if is_shown else "", text))
    return table("parameter | default | what it is", rows)


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
    rows = []
    for dotted in re.findall(r"^::: (\S+)$", page, re.MULTILINE):
        module, _, name = dotted.rpartition(".")
        thing = getattr(importlib.import_module(module), name)
        if callable(thing) or inspect.ismodule(thing):
            text = inspect.getdoc(thing) or ""
            home = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None) or module
            path = ROOT / home.removeprefix("zermelo.").replace(".", "/")
            path = path / "__init__.py" if (path / "__init__.py").exists() else path.with_suffix(".py")
        else:
            path, text = _constants(ROOT / module.split(".")[1])[name]
        sentence = re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()))[0]
        rows.append((f"`{name}`", code(sentence).replace("|", "\\|").rstrip(":"), f"`{path.relative_to(ROOT)}`"))
    return table("name | what it is | source", rows)


@functools.cache
def _constants(folder):
    """The file and the text below each constant of a package, by name."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        body = ast.parse(path.read_text()).body
        for node, after in itertools.pairwise(body):
            if isinstance(node, ast.AnnAssign) and isinstance(getattr(after, "value", None), ast.Constant):
                found[node.target.id] = path, ast.literal_eval(after.value)
    return found


def methods(page):
    """Tables of the methods that rules may have, group by group."""
    groups = {}
    for method in METHODS.values():
        signature = f"`{method.name}({', '.join(method.arguments)})`{'' if method.compiled else ' ·'}"
        groups.setdefault(method.group, []).append((signature, code(" ".join(method.about.split()))))
    parts = (f"\n**{code(group)}**\n\n{table('method | what it gives', rows)}" for group, rows in groups.items())
    return "\n".join(parts)


def folders(page, package):
    """A table of a package's rooms: what each is, by its docstring, and what it may import by the tests."""
    tree = ast.parse((ROOT / "tests" / "test_layout.py").read_text())
    values = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    rooms, common = (
        eval(compile(ast.Expression(values[name]), name, "eval"))[package] for name in ("ROOMS", "COMMON_ROOMS")
    )
    rows = []
    for room, allowed in rooms.items():
        path = ROOT / package / room
        file = path / "__init__.py" if (path / "__init__.py").exists() else path.with_suffix(".py")
        text = " ".join(ast.get_docstring(ast.parse(file.read_text())).split("\n\n")[0].split())
        imports = "all may import it" if room in common else _families(allowed, rooms)
        rows.append((f"`{room}/`" if path.is_dir() else f"`{room}.py`", code(text), imports))
    return table("room | what is in it | may import", rows)


def _families(names, rooms):
    """Names of rooms as text; a folder with all of its subfolders is one name."""
    for family in ("tree_search", "monte_carlo"):
        members = {name for name in rooms if name.partition("/")[0] == family}
        if members and members <= names:
            names = names - members | {f"{family}/*"}
    return ", ".join(f"`{name}`" for name in sorted(names))


def commands(page):
    """A heading, what it does and a table of options for each command."""
    parts = []
    for name, command in typer.main.get_command(app).commands.items():
        context = command.make_context(f"zermelo {name}", [], resilient_parsing=True)
        usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
        shown = [param for param in command.params if not param.hidden and param.name != "help"]
        options = table("option | what it does", map(option, shown))
        parts += [f"## zermelo {name}", f"```text\n{usage}\n```", plain(command.help), options]
    return "\n\n".join(parts)


def option(param):
    """The names of an option or argument, and its help with the default."""
    is_argument = param.param_type_name == "argument"
    names = [param.metavar or param.name.upper()] if is_argument else param.opts
    text, default = plain(param.help).replace("\n", " ").replace("|", "\\|"), param.default
    choices = [choice.value for choice in type(default)] if isinstance(default, enum.Enum) else []
    if not all(choice in text for choice in choices):
        text += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
    is_said = default is not None and default is not False and default != "" and not callable(default)
    if isinstance(param.show_default, str):
        text += f" Default: {param.show_default}."
    elif is_said and param.show_default:
        text += f" Default: `{getattr(default, 'value', default)}`."
    elif not is_argument and not param.is_flag and "default" not in text.lower():
        text += (
            " Default: the agent's."
            if param.name in LIMITS and text.endswith(LIMITS[param.name])
            else " Default: none."
        )
    return ", ".join(f"`{name}`" for name in names), text


def plain(text):
    """Help without the marks for the terminal, and its examples as code."""
    text = re.sub(r"\[/?bold\]", "**", text or "")
    text = re.sub(r"\[/?dim\]", "", text).strip()
    return re.sub(r"^ *\$ ", "    ", text, flags=re.MULTILINE)


def code(text):
    """Text of a docstring with code as Markdown has it."""
    return text.replace("``", "`")


PARTS = {
    part.__name__: part
    for part in (
        tournament,
        agents,
        settings,
        parameters,
        classics,
        levels_of_games,
        source,
        names,
        methods,
        folders,
        commands,
    )
}


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
        for page, text in pages().items():
            page.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
