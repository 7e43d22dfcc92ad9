"""Scripts that install say what they are doing, and whether it worked."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts are for a Unix shell")


@pytest.fixture
def clone(tmp_path):
    """A folder with the scripts, in whose virtual environment ``pip`` does what ``pip`` in that folder says."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("*.py", "benchmarks"))
    program = tmp_path / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text('#!/usr/bin/env bash\n[ "$2" != pip ] || exec bash ./pip "$@"\nexit 1\n')
    program.chmod(0o755)
    return tmp_path


def unset():
    """The environment's variables without those that the scripts read, which may be set for these tests."""
    return {name: value for name, value in os.environ.items() if name not in ("VENV", "PYTHON")}


def called(clone, script, *given, **variables):
    command, environment = [clone / "scripts" / script, *given], {**unset(), **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def setup(clone, pip, *extras):
    (clone / "pip").write_text(pip)
    return called(clone, "setup", *extras)


def fake_python(path, version):
    """A program that says it is that Python, makes environments of itself, and says how else it was called."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"""#!/usr/bin/env bash
case "$*" in
  *version_info\\[:2\\]*) echo {version} ;;
  -c*) ;;
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  *) echo "$0 $*" ;;
esac
""")
    path.chmod(0o755)
    return str(path)


def test_each_step_is_a_line_with_its_time(clone):
    done = setup(clone, "exit 0", "classic,sb3")
    assert done.returncode == 0
    assert re.fullmatch(
        r"installing PyTorch for the CPU \d+ s\n"
        r"installing zermelo into \.venv, with classic,sb3 and what that needs \d+ s\n",
        done.stderr,
    )


def test_what_fails_is_shown_and_ends_the_script(clone):
    done = setup(clone, "echo 'ERROR: no space left on device' >&2; exit 3", "classic")
    assert done.returncode == 3
    assert "ERROR: no space left on device\nfailed after " in done.stderr


def test_an_interrupt_leaves_nothing_running(clone):
    (clone / "pip").write_text("kill -INT 0; sleep 60")
    started = subprocess.Popen(
        [clone / "scripts" / "setup", "classic"],
        env=unset(), stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert "installing zermelo" in started.communicate(timeout=30)[1]  # stderr is closed: no child has it any more
    assert started.returncode != 0


def test_the_quickstart_says_what_it_plays(clone):
    (clone / ".venv" / "bin" / "zermelo").write_text('#!/bin/sh\necho "zermelo $*"\n')
    (clone / ".venv" / "bin" / "zermelo").chmod(0o755)
    (clone / "pip").write_text("exit 0")
    done = called(clone, "quickstart")
    assert "playing 120 games" in done.stderr
    assert done.stdout.startswith("zermelo tournament classic/connect_four-v3 random greedy")


def test_the_tests_run_with_another_python_in_a_folder_of_its_own(clone):
    fake_python(clone / ".venv" / "bin" / "python", "3.98")
    newer = fake_python(clone / "python3.99", "3.99")
    done = called(clone, "test", "-x", PYTHON=newer)
    assert "making the virtual environment .venv-3.99" in done.stderr
    assert re.search(r"/\.venv-3\.99/bin/python -m pytest .* -x$", done.stdout), done.stdout
    same = called(clone, "test", PYTHON=fake_python(clone / "python3.98", "3.98"))
    assert re.search(r"/\.venv/bin/python -m pytest ", same.stdout), same.stdout
    chosen = called(clone, "test", PYTHON=newer, VENV="mine")
    assert re.search(r"/mine/bin/python -m pytest ", chosen.stdout), chosen.stdout


def test_a_folder_of_another_python_is_not_taken_for_one_of_this(clone):
    fake_python(clone / ".venv" / "bin" / "python", "3.98")
    done = called(clone, "setup", PYTHON=fake_python(clone / "python3.99", "3.99"))
    assert done.returncode == 2
    assert done.stderr == ".venv has Python 3.98 and PYTHON is 3.99: set VENV to another folder\n"


def test_ci_finds_the_newest_python_that_the_project_names(clone):
    script = (ROOT / ".ci" / "run").read_text()
    function = re.search(r"^newest\(\) \{$.*?^\}$", script, re.M | re.S)[0]
    (clone / "pyproject.toml").write_text(
        '"Programming Language :: Python :: 3.9",\n"Programming Language :: Python :: 3.98",\n'
    )
    found = {}
    for names in (["python3.9", "python3.98", "python3.99"], ["python3.9", "python3.99"], ["python3.99"]):
        path = clone / "-".join(names)
        path.mkdir()
        for name in names:
            (path / name).write_text(f"#!/bin/sh\necho {name}\n")
            (path / name).chmod(0o755)
        environment = {"PATH": f"{path}:{os.defpath}", "HOME": str(clone), "PYTHON": "the default"}
        done = subprocess.run(
            ["bash", "-c", f"set -euo pipefail\n{function}\nnewest"],
            cwd=clone, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        found[len(names)] = done.stdout
    assert found == {3: "python3.98\n", 2: "python3.9\n", 1: "the default\n"}
