"""Hooks of mkdocs for scripts/docs: notebooks are executed, tables of docstrings become tables of the page."""

import re
import tempfile
from pathlib import Path

try:
    from griffe import Extension
except ImportError:  # only the site needs it
    Extension = object

FOREIGN = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"'](?:https?:)?//[^>]*>")
TABLE = re.compile(r"^ *=+  +=+ *\n(.*?)^ *=+  +=+ *$", re.DOTALL | re.MULTILINE)


def on_files(files, config):
    """A hook of mkdocs: the pages' files, with the text and the pictures of each notebook in its place."""
    import nbclient
    import nbformat
    from mkdocs.structure.files import File
    from nbconvert import MarkdownExporter
    from traitlets.config import Config

    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
        name = Path(file.src_uri).with_suffix("")
        notebook = nbformat.read(file.abs_src_path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            sockets = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})
            where = {"metadata": {"path": folder}}
            nbclient.NotebookClient(notebook, timeout=300, resources=where, config=sockets).execute()
        template = {"output_files_dir": name.name, "unique_key": "cell"}
        text, resources = MarkdownExporter().from_notebook_node(notebook, resources=template)
        pictures = {name.parent / path: content for path, content in resources["outputs"].items()}
        for path, content in {name.with_suffix(".md"): text, **pictures}.items():
            files.append(File.generated(config, str(path), content=content))
    return files


def on_post_page(output, page, **_):
    """A hook of mkdocs: refuses a page that would load anything from another host."""
    if found := FOREIGN.search(output):
        raise ValueError(f"{page.file.src_uri} loads from another host: {found[0]}")
    return output


class Tables(Extension):
    """Turns the tables of every docstring into Markdown: they are reStructuredText, for ``help()``."""

    def on_instance(self, *, obj, **_):
        """Called for each object that is read."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text):
    """A docstring with its tables of two columns, and its `::` before code, as Markdown has them."""
    return TABLE.sub(_table, re.sub(r" ::$|(?<=\S:):$", "", text, flags=re.MULTILINE))


def _table(found):
    column, rows = re.search("=  +", found[0]).end(), []
    for line in found[1].splitlines():
        cells = line[:column].strip(), line[column:].strip()
        if rows and (not cells[0] or rows[-1][0].count("``") % 2):  # goes on from the row above
            rows[-1] = tuple(f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True))
        else:
            rows.append(cells)
    return "\n".join(["| | |", "| --- | --- |", *(f"| {first} | {second} |" for first, second in rows)])
