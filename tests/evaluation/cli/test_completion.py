"""What Tab completes: commands, options, environments, agents, and the settings of an agent in its brackets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from zermelo.evaluation.cli import completion

PROGRAM = str(Path(sys.executable).with_name("zermelo"))


def offered(*words: str) -> list[str]:
    """What bash is offered for the last of the words."""
    env = {
        **os.environ,
        "_ZERMELO_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["zermelo", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run([PROGRAM], capture_output=True, text=True, env=env, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["tou"], ["tournament"]),
        (["search", "--de"], ["--depth"]),
        (["search", "zermelo/Conn"], ["zermelo/ConnectFour-v0"]),
        (["search", "zermelo/Nim-v0", "alph"], ["alphabeta"]),
        (["tournament", "zermelo/Nim-v0", "random", "expecti"], ["expectimax", "expectiminimax"]),
        (["search", "zermelo/Nim-v0", '"alphabeta(dep'], ["alphabeta(depth=", "alphabeta(depth=4"]),
        (["export", "results", "--format", "cs"], ["csv"]),
        (["tune", "zermelo/Nim-v0", "--model", "n"], ["network"]),
        (["export", "resul"], [""]),  # nothing is offered: the shell completes files
    ],
)
def test_bash_is_offered(words, expected):
    assert offered(*words) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alphabeta(ti", ["alphabeta(ties=", "alphabeta(ties=random", "alphabeta(ties=first"]),
        ("alphabeta(ties=f", ["alphabeta(ties=first"]),
        ("alphabeta(depth=4, dep", []),  # it is given
        ("alphabeta(depth=4, see", ["alphabeta(depth=4, seed=", "alphabeta(depth=4, seed=0"]),
        ("noisy(agent=exp", ["noisy(agent=expectimax", "noisy(agent=expectiminimax"]),
        ("noisy(agent=alphabeta(dep", ["noisy(agent=alphabeta(depth=", "noisy(agent=alphabeta(depth=4"]),
        ("noisy(agent=alphabeta(depth=3), eps", ["noisy(agent=alphabeta(depth=3), epsilon="]),
        ("level(e", ["level(elo=", "level(elo=800"]),
        ("nobody(dep", []),
        ("mypackage.module:Age", []),
        ("alphabeta(depth=3)", []),
        (")(,=", []),
        ("", None),
    ],
)
def test_settings_inside_of_an_agents_brackets(text, expected):
    found = completion.agents(text)
    if expected is None:
        assert {"alphabeta", "mcts", "random", "sb3"} <= set(found)
    else:
        assert found[: max(1, len(expected))] == expected


@pytest.mark.thorough
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_shown_for_each_shell(shell, tmp_path):
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", "HOME": str(tmp_path)}
    words = [PROGRAM, "--show-completion", shell]
    script = subprocess.run(words, capture_output=True, text=True, env=env, check=True, timeout=60).stdout
    assert "_ZERMELO_COMPLETE=complete_" + shell in script
    subprocess.run([PROGRAM, "--install-completion", shell], env=env, check=True, timeout=60, capture_output=True)
    assert any("_ZERMELO_COMPLETE" in path.read_text() for path in tmp_path.rglob("*zermelo*") if path.is_file())


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_itself_completes(tmp_path):
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = subprocess.run(
        [PROGRAM, "--show-completion", "bash"], capture_output=True, text=True, env=env, check=True, timeout=60
    ).stdout
    typed = (
        f"{script}\nCOMP_WORDS=(zermelo search zermelo/Nim-v0 '\"alphabeta(dep'); COMP_CWORD=3\n"
        f'_zermelo_completion {PROGRAM}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "--norc", "-c", typed], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "alphabeta(depth=\nalphabeta(depth=4\n"


def test_little_is_imported_for_completion():
    code = (
        "import sys, zermelo.evaluation.cli as c, zermelo.evaluation.cli.completion as d\n"
        "d.agents('alph'), d.environments('zermelo/')\n"
        "print(*sorted({'numpy', 'numba', 'pettingzoo', 'gymnasium', 'rich', 'pydantic'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "\n"
