"""Environments and agents in the current folder, whose code imports its helpers only when it needs them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

GAME = """
    from zermelo.envs.games import Nim
    from zermelo.envs.rules.env import env as rules_env

    def maker():
        import lazily_made
        return rules_env(Nim(lazily_made.HEAPS))

    def resets():
        made = maker()
        original = made.reset

        def reset(*args, **settings):
            import lazily_reset
            return original(*args, **settings)

        made.reset = reset
        return made

    def packaged():
        from lazy_package.inner import HEAPS
        return rules_env(Nim(HEAPS))
"""
AGENT = """
    class Lazy:
        name = "lazy"

        def __init__(self):
            import lazily_made

        def reset(self, seed):
            import lazily_reset

        def act(self, env):
            import lazily_acting
            return next(a for a, legal in enumerate(env.last()[0]["action_mask"]) if legal)

    def make():
        import lazily_made
        return Lazy()
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name, text in {"lazy_game": GAME, "lazy_agent": AGENT, "lazily_made": "HEAPS = (1, 2)\n"}.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    for name in ("lazily_reset", "lazily_acting"):
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / "lazy_package").mkdir()
    (tmp_path / "lazy_package" / "inner.py").write_text("HEAPS = (1, 2)\n")
    return tmp_path


def run(folder: Path, *command: str) -> str:
    """What a command prints that is run in a folder; as for a script, the folder is not on the path."""
    script = "import sys; sys.path.remove(''); from zermelo.evaluation.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", script, *command], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("env", "agent"),
    [
        ("lazy_game:maker", "random"),
        ("lazy_game:resets", "random"),
        ("lazy_game:packaged", "random"),
        ("zermelo/Nim-v0(heaps=[1, 2])", "lazy_agent:Lazy"),
        ("zermelo/Nim-v0(heaps=[1, 2])", "lazy_agent:make"),
    ],
)
def test_what_is_imported_late_is_found_too(env: str, agent: str, here: Path) -> None:
    shown = run(here, "tournament", env, agent, "greedy", "--games", "2")
    assert "CRASH" not in shown
    assert "FORFEIT" not in shown


@pytest.mark.parametrize("options", [("--isolate", "all"), ("--isolate", "all", "--workers", "2")])
def test_processes_of_agents_find_rules_beside_the_user(options: tuple[str, ...], here: Path) -> None:
    (here / "own_rules.py").write_text(
        "from zermelo.envs.games import Nim\n\n\nclass Own(Nim):\n    pass\n\n\n"
        "def make():\n    from zermelo.envs.rules.env import env\n    return env(Own((1, 2)))\n"
    )
    shown = run(here, "tournament", "own_rules:make", "random", "mcts(simulations=5)", "--games", "2", *options)
    assert "failed" not in shown


def test_modules_beside_a_local_one_only(here: Path) -> None:
    """Installed modules come first, and a folder from which nothing was named is not searched."""
    (here / "json.py").write_text("raise SystemExit('a module of the standard library was replaced')\n")
    script = """
        import sys
        sys.path.remove("")
        sys.modules.pop("json", None)
        from zermelo.envs import make
        make("zermelo/Nim-v0")
        try:
            import lazily_made
        except ModuleNotFoundError:
            print("not found")
        before = list(sys.path)
        make("lazy_game:maker")
        assert sys.path == before
        import lazily_reset
        import json
        print(json.dumps("found"))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=here, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["not", "found", '"found"'], done.stderr


def test_a_helper_that_is_nowhere_is_not_taken_for_a_package_that_should_be_installed(here: Path) -> None:
    (here / "lazily_made.py").unlink()
    script = "import sys; sys.path.remove(''); from zermelo.envs import make; make('lazy_game:maker')"
    done = subprocess.run([sys.executable, "-c", script], cwd=here, capture_output=True, text=True, timeout=120)
    assert "needs lazily_made, which is neither installed nor in the current folder" in done.stderr
