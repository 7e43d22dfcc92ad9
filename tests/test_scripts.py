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


def setup(clone, pip, *extras):
    (clone / "pip").write_text(pip)
    command = [clone / "scripts" / "setup", *extras]
    environment = {name: value for name, value in os.environ.items() if name != "VENV"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


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
        [clone / "scripts" / "setup", "classic"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert "installing zermelo" in started.communicate(timeout=30)[1]  # stderr is closed: no child has it any more
    assert started.returncode != 0


def test_the_quickstart_says_what_it_plays(clone):
    (clone / ".venv" / "bin" / "zermelo").write_text('#!/bin/sh\necho "zermelo $*"\n')
    (clone / ".venv" / "bin" / "zermelo").chmod(0o755)
    (clone / "pip").write_text("exit 0")
    environment = {name: value for name, value in os.environ.items() if name != "VENV"}
    done = subprocess.run([clone / "scripts" / "quickstart"], env=environment, capture_output=True, text=True)
    assert "playing 120 games" in done.stderr
    assert done.stdout.startswith("zermelo tournament classic/connect_four-v3 random greedy")
