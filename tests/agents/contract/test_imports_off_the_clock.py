"""The first search of a process imports what runs compiled code, which no limit on time pays for."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from zermelo.envs.support.local_modules import search_path

SCRIPT = """
    import sys
    sys.path[:] = {path}
    from zermelo.agents import make_agent
    from zermelo.agents.base.budget import Budget
    from zermelo.envs import make

    imported = []

    class Counter:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.startswith(("llvmlite", "scipy", "zermelo.envs.jit", "zermelo.agents.kernels")):
                imported.append(name)

    env = make("zermelo/Nim-v0")
    env.reset(seed=0)
    agent = make_agent(sys.argv[1])
    Budget.now = staticmethod(lambda: float(len(imported)))  # a clock that only imports move
    sys.meta_path.insert(0, Counter)
    result = agent.search(env)
    print(len(imported), result.seconds)
"""


@pytest.mark.parametrize(
    "spec",
    ["alphabeta(depth=2)", "minimax(depth=2)", "maxn(depth=2)", "expectimax(depth=2)"],
)
def test_first_search_imports_off_its_clock(spec: str) -> None:
    script = textwrap.dedent(SCRIPT).format(path=search_path())
    done = subprocess.run([sys.executable, "-c", script, spec], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    imports, seconds = done.stdout.split()
    assert int(imports) > 20, "the search imported nothing: the test shows nothing"
    assert float(seconds) < 1, "imports counted as time of the search"
