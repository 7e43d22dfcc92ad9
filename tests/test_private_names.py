"""Private names of the package that tests use: a list that may only shrink."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PACKAGES = ("envs", "agents", "evaluation")
OTHERS = {"_asdict", "_cumulative_rewards", "_fields", "_make", "_replace"}
"""Names of Python and PettingZoo, which the package's classes have too."""
PATCHES = {"delattr", "delitem", "getattr", "hasattr", "setattr", "setitem"}
ALLOWED = {
    "agents/contract/test_compiled_is_plain.py": 1,
    "agents/experts/test_poker.py": 1,
    "agents/kernels/test_waiting.py": 9,
    "agents/knowledge/test_damaged_knowledge.py": 1,
    "agents/knowledge/test_other_rules.py": 1,
    "agents/workers/test_lost_workers.py": 1,
    "agents/policies/test_policy_learned.py": 1,
    "agents/test_level.py": 3,
    "agents/test_settings_kept.py": 1,
    "agents/training/test_linear.py": 1,
    "agents/training/test_vector_env.py": 1,
    "agents/tree_search/test_compiled_history.py": 1,
    "agents/tree_search/test_compiled_limits.py": 2,
    "agents/tree_search/test_no_limit.py": 1,
    "agents/tree_search/test_proof.py": 4,
    "agents/tree_search/test_root_proof.py": 3,
    "doubles/board_server.py": 1,
    "doubles/checked.py": 2,
    "doubles/lost_workers.py": 1,
    "envs/games/test_bear_off.py": 2,
    "envs/jit/test_kernel_archive.py": 3,
    "envs/jit/test_precompiled_parts.py": 3,
    "envs/jit/test_shipped.py": 3,
    "envs/registration/test_make.py": 2,
    "envs/rules/test_history.py": 1,
    "envs/traits/test_information.py": 1,
    "envs/traits/test_preparation.py": 2,
    "evaluation/board/test_server.py": 6,
    "evaluation/board/test_server_games.py": 1,
    "evaluation/board/test_table_states.py": 4,
    "evaluation/cli/test_cli_solve.py": 1,
    "evaluation/ladders/test_ladders.py": 5,
    "evaluation/storage/test_store.py": 8,
    "evaluation/storage/test_unreadable.py": 2,
    "evaluation/training/test_networks.py": 1,
    "evaluation/workers/test_faults_start.py": 1,
    "evaluation/workers/test_pondering.py": 2,
    "evaluation/workers/test_ray.py": 3,
}
"""How many uses each file has. Whoever takes some away writes the smaller number; no number grows."""


def is_private(name):
    return name.startswith("_") and not name.endswith("_") and name not in OTHERS


def names_of(path):
    """The private names that a module defines or assigns."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def uses_of(path, private):
    """The lines on which a test imports, reads, sets or patches one of these names, but for those of ``self``."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if name in private:
                yield node.lineno, name
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("zermelo."):
                yield from ((node.lineno, alias.name) for alias in names if is_private(alias.name))
            case ast.Constant(value=str(text)) if re.fullmatch(r"zermelo\.[\w.]*\._[A-Za-z]\w*", text):
                yield node.lineno, text
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if called in PATCHES:
                for argument in node.args:
                    if isinstance(argument, ast.Constant) and argument.value in private:
                        yield node.lineno, argument.value


@pytest.mark.thorough
def test_tests_use_no_more_private_names_than_are_listed():
    modules = [path for package in PACKAGES for path in (TESTS.parent / package).rglob("*.py")]
    private = {name for path in modules for name in names_of(path) if is_private(name)}
    uses = {str(path.relative_to(TESTS)): sorted(uses_of(path, private)) for path in TESTS.rglob("*.py")}
    found = {name: len(used) for name, used in uses.items() if used}
    wrong = [
        f"{name}: {found.get(name, 0)} uses, the list says {ALLOWED.get(name, 0)}: {uses.get(name, [])}"
        for name in sorted(found.keys() | ALLOWED.keys())
        if found.get(name, 0) != ALLOWED.get(name, 0)
    ]
    assert not wrong, "\n".join(wrong)
