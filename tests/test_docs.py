"""The examples of README and docs run, their generated parts are current, and what they name exists."""

import importlib
import importlib.util
import inspect
import io
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from zermelo.evaluation import play_match
from zermelo.evaluation.match.record import SCHEMA

ROOT = Path(__file__).resolve().parent.parent
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
BLOCK = re.compile(
    r"(?P<notes>(?:^<!-- [^\n]* -->\n+)*)"
    r'^```(?P<language>python|sh)(?: title="(?P<file>[^"\n]+)")?\n(?P<code>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)
NOTE = re.compile(r"<!-- (needs|slow|not run|generated)(?:: ([^\n]*))? -->")
PAGES = [page for page, text in TEXTS.items() if BLOCK.search(text)]
DEAR_PAGES = {f"docs/guides/{name}.md" for name in ("cards", "dice", "knowledge", "levels", "solving")}
"""Their examples take many seconds, most of them compiling."""
REFERENCE = "".join(text for page, text in TEXTS.items() if page.startswith("docs/reference/"))


def notes(text):
    """What the comments above a block say, by their first words."""
    return dict(NOTE.findall(text))


def blocks(page):
    """The blocks of a page that are run, each with its number, and its notes with those at the page's top."""
    text = TEXTS[page]
    above = notes(text[: text.index("\n# ")]) if text.startswith("<!--") else {}
    for number, found in enumerate(BLOCK.finditer(text), start=1):
        block = SimpleNamespace(**found.groupdict(), name=f"{page}, block {number}")
        block.notes = above | notes(found["notes"])
        yield block


def is_there(name):
    """Whether what a block needs, a module or a program, can be found."""
    return shutil.which(name) is not None or importlib.util.find_spec(name) is not None


def run_python(block, namespace):
    """Runs a block as the ones before it left things; a block with a title is the module of that name."""
    if block.file is None:
        exec(compile(block.code, block.name, "exec"), namespace)
        return
    Path(block.file).write_text(block.code)
    importlib.invalidate_caches()
    namespace.update(vars(importlib.import_module(Path(block.file).stem)))


def labels(figure):
    """All that a figure says, wherever it stands."""
    return sorted(re.findall(r">([^<>]+)</", figure.read_text()))


def run_shell(block, monkeypatch):
    """Runs the lines that begin with zermelo; of others checks that what they name is there."""
    from zermelo.evaluation.cli import main

    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "zermelo" and "not run" not in block.notes:
            monkeypatch.setattr("sys.stdin", io.StringIO())
            with pytest.raises(SystemExit) as ended:
                main(words[1:])
            assert ended.value.code == 0, f"{block.name}: {line}"
            stored = ROOT / "docs" / "figures" / words[-1]
            if stored.is_file():
                assert labels(Path(words[-1])) == labels(stored), "run scripts/update_pictures.py"
        elif words[0] == "pip":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert set(re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*?)\]", line)))) <= set(extras), line
        elif words[0] not in ("zermelo", "."):
            program, needed = (words[1], os.R_OK) if words[0] == "python" else (words[0], os.X_OK)
            assert any(os.access(Path(folder, program), needed) for folder in (ROOT, ".")), f"{block.name}: {line}"


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    """An empty folder that modules are imported from, and forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def failures(text):
    """The lines of what was printed that tell of an agent's failure."""
    from zermelo.evaluation.match.record import FailureKind

    return [line for line in text.splitlines() if re.search(rf"\b({'|'.join(FailureKind)}|FORFEIT)\b", line)]


def run_page(page, monkeypatch, capfd, slow):
    """Runs a page's blocks in order, and returns how many; none may print that an agent has failed."""
    namespace, count = {"__name__": "__page__"}, 0
    for block in blocks(page):
        if "generated" in block.notes or ("slow" in block.notes and not slow):
            continue
        if block.notes.get("needs") and not all(map(is_there, block.notes["needs"].split())):
            continue
        if block.language == "python" and "not run" not in block.notes:
            run_python(block, namespace)
        elif block.language == "sh":
            run_shell(block, monkeypatch)
        printed = capfd.readouterr()
        assert not failures(printed.out + printed.err), block.name
        count += 1
    return count


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.thorough) if page in DEAR_PAGES else page for page in PAGES]
)
@pytest.mark.usefixtures("in_a_folder")
def test_the_examples_of_a_page_run(page, monkeypatch, capfd):
    assert run_page(page, monkeypatch, capfd, slow=False) or all(
        block.notes.keys() & {"generated", "needs", "slow"} for block in blocks(page)
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any("slow" in block.notes for block in blocks(page))])
@pytest.mark.usefixtures("in_a_folder")
def test_slow_examples_run_too(page, monkeypatch, capfd):
    assert run_page(page, monkeypatch, capfd, slow=True)


def test_printed_tables_of_pages_have_no_failure():
    for page, text in TEXTS.items():
        for printed in re.findall(r"^```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            assert not failures(printed), page


def test_failures_in_what_is_printed_are_found():
    assert failures("#  agent\nNote: random lost 2 games by CRASH, first in game 0.0.0: act raised")
    assert not failures("a crash of CRASHES, 4 games")


NESTED = r"\((?:[^()\n`]|\([^()\n`]*\))*\)"
ENV_SPEC = re.compile(
    rf"\b(?:zermelo/[A-Z][\w-]*|(?:classic|openspiel)/\w[\w-]*|(?:ALE/)?[A-Z]\w+-v\d+)(?:{NESTED})?"
)
OF_USERS = {"MyEnv-v0", "zermelo/Opponent-v0"}
"""Environments that a page has the reader write, or that need an argument which is no text."""


def printed_specs(pattern):
    """The specs that pages and docstrings print, by where they first stand."""
    root = Path(importlib.import_module("zermelo.envs").__file__).resolve().parents[1]
    sources = [path for folder in ("envs", "agents", "evaluation") for path in (root / folder).rglob("*.py")]
    paths = [root / "README.md", *(root / "docs").rglob("*.md"), *sources]
    texts = {str(path.relative_to(root)): path.read_text() for path in sorted(paths)}
    return {spec: page for page, text in reversed(texts.items()) for spec in pattern.findall(text)}


@pytest.mark.filterwarnings("ignore")  # of environments of others
def test_every_environment_that_is_printed_can_be_made():
    from zermelo.envs import ZermeloError
    from zermelo.envs.errors import MissingDependencyError
    from zermelo.envs.registration.make import make

    specs = printed_specs(ENV_SPEC)
    assert len(specs) > 30
    for spec, page in specs.items():
        if spec in OF_USERS or spec.endswith("/NAME"):
            continue
        try:
            make(spec)
        except MissingDependencyError:
            pass
        except ZermeloError as error:
            pytest.fail(f"{page}: {spec}: {error}")


def test_every_agent_that_is_printed_can_be_made():
    """Where a file is missing, or dots, braces or capitals stand for a value, only the names of settings count."""
    from zermelo.agents import list_agents, make_agent
    from zermelo.envs import ZermeloError
    from zermelo.envs.errors import MissingDependencyError

    kinds = "|".join(sorted((entry.name for entry in list_agents()), key=len, reverse=True))
    specs = printed_specs(re.compile(rf"(?<![\w./:=-])(?:{kinds})(?=\(\w+=){NESTED}"))
    assert len(specs) > 30
    for spec, page in specs.items():
        try:
            make_agent(spec)
        except MissingDependencyError:
            pass
        except ZermeloError as error:
            has_a_gap = re.search(r"\.\.\.|\{|\b[A-Z]{3,}\b", spec) or re.search(
                "there is no (?:file|module|evaluation|ladder|opening book)", str(error)
            )
            if not has_a_gap or "has no setting" in str(error):
                pytest.fail(f"{page}: {spec}: {error}")


def test_every_block_is_read():
    for page, text in TEXTS.items():
        fences = re.findall(r"^ *```(?:python|sh|bash|console|py)\b", text, re.MULTILINE)
        assert len(BLOCK.findall(text)) == len(fences), page
        for comment in re.findall(r"<!-- ((?:needs|slow|not run)\b[^\n]*) -->", text):
            assert NOTE.fullmatch(f"<!-- {comment} -->")[2], f"{page}: {comment} without a reason"


def load_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def update_docs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return load_script("update_docs")


def test_generated_parts_are_current(update_docs):
    parts = [part for part in update_docs.PARTS if part != "tournament"]
    for page, text in TEXTS.items():
        assert update_docs.updated(text, parts) == text, f"{page}: run scripts/update_docs.py"
    written = {part for text in TEXTS.values() for _, part, _, _ in update_docs.BLOCK.findall(text)}
    assert written == set(update_docs.PARTS)


def test_every_game_has_a_current_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    pages = load_script("game_pages").pages()
    assert {path.name for path in pages} == {path.name for path in (ROOT / "docs" / "games").glob("*.md")}
    for path, text in pages.items():
        assert path.read_text() == text, f"{path.name}: run scripts/update_docs.py games"
        assert path.stem == "index" or (ROOT / f"docs/figures/games/{path.stem}.png").is_file(), path.stem


def test_every_comment_of_a_page_is_known():
    """No comment stands for text that only the site shows."""
    known = re.compile(r"<!-- (?:(?:generated|output|needs|slow|not run): [^\n]+|end|slow) -->")
    for page, text in TEXTS.items():
        assert re.findall(r"<!--.*?-->", text, re.DOTALL) == [found.group() for found in known.finditer(text)], (
            page
        )


def test_the_tournament_s_table_is_there(update_docs):
    text = TEXTS["docs/start.md"]
    table = text[text.index("generated: tournament") :]
    assert "```text\nclassic/connect_four-v3: 120 games" in table
    for agent in ("random", "greedy", "alphabeta(depth=2)", "alphabeta(depth=4)"):
        assert len(re.findall(rf"^\d  {re.escape(agent)} ", table, re.MULTILINE)) == 3


def test_an_unknown_part_and_a_missing_function_are_told(update_docs):
    with pytest.raises(SystemExit, match="there is no part 'agent'"):
        update_docs.main(["agent"])
    with pytest.raises(SystemExit, match="format_spec does not say what name is"):
        update_docs.parameters("", "zermelo.envs.support.spec_text.format_spec")
    with pytest.raises(SystemExit, match="has no function or class minmax"):
        update_docs.source("", "agents/tree_search/textbook_minimax.py", "minmax")


def test_readme_is_short_and_begins_with_what_it_is():
    text = TEXTS["README.md"]
    assert text.count("\n") < 150
    places = [text.index(part) for part in ("![", "scripts/quickstart", "scripts/test", "```python")]
    assert places == sorted(places)


def test_benchmarks_are_a_page_of_results():
    """Each section names a command and a day, in tables whose source aligns; what was tried is in the log."""
    page = TEXTS["docs/benchmarks.md"]
    assert len(page.encode()) < 16_000
    for section in page.split("\n## ")[1:]:
        title = section.partition("\n")[0]
        assert re.search(r"scripts/bench\.py \w", section), title
        assert re.search(r"\b20\d\d-\d\d-\d\d\b", section), title
    for rows in re.findall(r"(?:^\|[^\n]*\n)+", page, re.MULTILINE):
        assert len({len(row) for row in rows.splitlines()}) == 1, rows
    assert "](developers/search_log.md)" in page


NAMED_PATH = re.compile(
    r"scripts/\w+(?:\.py|\.toml)?|\.ci/run|tests/\w+\.\w+|(?<![\w/])(?:envs|agents|evaluation)/[\w/]+\.\w+"
)


def test_what_pages_name_exists():
    for page, text in TEXTS.items():
        for path in set(re.findall(NAMED_PATH, text)):
            assert (ROOT / path).exists(), f"{page}: {path}"
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert ((ROOT / page).parent / link).exists(), f"{page}: {link}"


@pytest.mark.parametrize(
    "package",
    [
        "zermelo.envs",
        "zermelo.envs.rules",
        "zermelo.envs.games",
        "zermelo.agents",
        "zermelo.agents.textbook",
        "zermelo.agents.training",
        "zermelo.evaluation",
    ],
)
def test_the_reference_has_every_public_name(package):
    told = set(re.findall(rf"^::: {re.escape(package)}\.(\w+)$", REFERENCE, re.MULTILINE))
    module = importlib.import_module(package)
    own = [name for name, value in vars(module).items() if name[0] != "_" and not inspect.ismodule(value)]
    names = getattr(module, "__all__", own)
    assert set(names) <= told


def test_the_reference_names_what_there_is():
    for name in re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE):
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_the_reference_describes_every_number_that_a_function_takes():
    for name in re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE):
        module, _, attribute = name.rpartition(".")
        thing = getattr(importlib.import_module(module), attribute)
        if not inspect.isfunction(thing) or module in ("zermelo.envs.rules", "zermelo.agents.textbook"):
            continue
        for parameter in inspect.signature(thing).parameters.values():
            if re.search(r"\b(?:int|float)\b", str(parameter.annotation)):
                own = rf"^ +(?:{parameter.name}|settings): "  # settings have a table of their own
                assert re.search(own, thing.__doc__, re.MULTILINE), f"{name}: {parameter.name}"


def test_every_algorithm_has_its_code_on_a_page():
    shown = re.findall(r"^<!-- generated: source \S+ (.+) -->$", "".join(TEXTS.values()), re.MULTILINE)
    names = {name for names in shown for name in names.split()}
    assert {name for name in vars(importlib.import_module("zermelo.agents.textbook")) if name[0] != "_"} <= names


def test_a_page_that_loads_from_another_host_is_refused():
    hooks = load_script("docs_site")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="start.md"))
    assert hooks.on_post_page('<a href="https://x.org">', page)
    with pytest.raises(ValueError, match=r"start.md loads from another host: <script src=\"//x.org/a.js\">"):
        hooks.on_post_page('<p><script src="//x.org/a.js"></script>', page)


def test_tables_of_docstrings_are_shown_as_tables():
    found = load_script("docs_site").as_markdown("""A state. ::

    code

==========  =========
``one()``   the
            first
``two(a,    other
b)``
==========  =========

Such as::

    more""")
    table = ["| | |", "| --- | --- |", "| ``one()`` | the first |", "| ``two(a, b)`` | other |"]
    assert found.splitlines() == ["A state.", "", "    code", "", *table, "", "Such as:", "", "    more"]


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_stored_without_output(path):
    cells = json.loads(path.read_text())["cells"]
    assert any(cell["cell_type"] == "code" for cell in cells)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "docs" / "CITATION.cff").read_text()
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_page_of_the_results_folder_describes_the_records_of_this_version():
    text = TEXTS["docs/guides/results_folder.md"]
    record = json.loads(play_match("classic/tictactoe-v3", ["random", "random"], seed=0).to_json())
    table = text.partition("## A game")[2].partition("In pandas")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == [*record]
    assert f"version of this format: {SCHEMA} |" in table
