"""Hooks of mkdocs: notebooks are executed and become pages, and no page may load from another host."""

import re
import tempfile
from pathlib import Path

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


def on_post_page(output, page, **_):
    """Refuses a page that would load anything from another host."""
    if found := FOREIGN.search(output):
        raise ValueError(f"{page.file.src_uri} loads from another host: {found[0]}")
    return output
