"""Arrays, keys and compiled functions of JAX in environments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.skipif("not __import__('importlib').util.find_spec('jax')")]
SCRIPT = Path(__file__).parents[2] / "doubles" / "jax_envs.py"


def found(cache: Path, *words: str) -> Any:
    env = os.environ | {"ZERMELO_CACHE_DIR": str(cache), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words], env=env, capture_output=True, text=True, check=True, timeout=300
    )
    return json.loads(done.stdout)


def test_typed_keys_are_drawn_again_and_what_is_compiled_stays_so(tmp_path: Path) -> None:
    env = found(tmp_path)
    assert env["same"]
    assert env["own"] == [True, True]
    assert env["replaced"] == 2  # with the generator that Gymnasium's reset makes
    assert len(set(env["rolls"])) > 1
    assert env["seen"] == env["rolls"]
    assert env["compilations"] == 1
    assert env["actions"] == [0, 2]
    assert env["chance"] == "sampled"
    assert env["value"] < 1.7  # of two guesses, where none is known before
    assert "JAX" not in env["said"]


def test_keys_that_are_plain_numbers_are_named(tmp_path: Path) -> None:
    env = found(tmp_path, "plain")
    assert env["same"]
    assert len(set(env["rolls"])) == 1
    assert "keeps a random key of JAX as plain numbers, env.state[1]" in env["said"]
    assert "jax_enable_custom_prng" in env["said"]
