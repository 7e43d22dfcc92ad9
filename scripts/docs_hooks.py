"""What mkdocs asks while it builds the pages: the code of algorithms and the help of commands, as they are now.

`<!-- source: agents/algorithms/minimax.py minimax -->` becomes the code of that function or class, several names
those of all. `<!-- commands -->` becomes the help of every command of zermelo, `<!-- folders -->` a table of the
folders and what each may import. Notebooks are executed and become pages.
"""

import ast
import re
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = re.compile(r"^<!-- source: (\S+) ([\w ]+) -->$", re.MULTILINE)
PART = re.compile(r"^<!-- (commands|folders) -->$", re.MULTILINE)
FOREIGN = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"'](?:https?:)?//[^>]*>")


def on_files(files, config):
    """The pages' files, with the text and the pictures of each notebook in its place."""
    from mkdocs.structure.files import File

    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
        name = file.src_uri.removesuffix(".ipynb")
        text, pictures = executed(Path(file.abs_src_path), Path(name).name)
        files.append(File.generated(config, f"{name}.md", content=text))
        for picture, content in pictures.items():
            files.append(File.generated(config, f"{Path(name).parent}/{picture}", content=content))
    return files


def executed(path, name):
    """The text of a notebook that was run, and its pictures by name."""
    import nbclient
    import nbformat
    from nbconvert import MarkdownExporter
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        sockets = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})
        where = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=300, resources=where, config=sockets).execute()
    template = {"output_files_dir": name, "unique_key": "cell"}
    text, resources = MarkdownExporter().from_notebook_node(notebook, resources=template)
    return text, resources["outputs"]


def on_page_markdown(markdown, **_):
    """The text of a page with its comments replaced."""
    markdown = SOURCE.sub(lambda found: source(found[1], found[2].split()), markdown)
    return PART.sub(lambda found: PARTS[found[1]](), markdown)


def on_post_page(output, page, **_):
    """Refuses a page that would load anything from another host."""
    if found := FOREIGN.search(output):
        raise ValueError(f"{page.file.src_uri} loads from another host: {found[0]}")
    return output


def source(path, names):
    """The code of functions and classes of a file, with a line that says where it stands."""
    text = (ROOT / path).read_text()
    nodes = {getattr(node, "name", None): node for node in ast.parse(text).body}
    missing = [name for name in names if name not in nodes]
    if missing:
        raise ValueError(f"{path} has no function or class {', '.join(missing)}")
    lines = text.splitlines()
    parts = ["\n".join(lines[nodes[name].lineno - 1 : nodes[name].end_lineno]) for name in names]
    return f'```python title="{path}"\n' + "\n\n\n".join(parts) + "\n```"


def commands():
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


def folders():
    """A table of the folders, and what each may import, as the tests enforce it."""
    tree = ast.parse((ROOT / "tests" / "test_layout.py").read_text())
    [value] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "ROOMS"]
    lines = ["| folder | may import |", "| --- | --- |"]
    for package, folders in eval(compile(ast.Expression(value), "ROOMS", "eval")).items():
        for folder, imported in folders.items():
            lines.append(f"| `{package}/{folder}` | {', '.join(f'`{name}`' for name in sorted(imported))} |")
    return "\n".join(lines)


PARTS = {"commands": commands, "folders": folders}
