"""The training script, run as it stands, for less time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(script, folder, *arguments):
    """Runs a script; its output."""
    pytest.importorskip("torch", reason="needs scripts/setup torch")
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ppo_learns_on_many_games_at_once(tmp_path):
    printed = run("train_ppo.py", tmp_path, "--steps", "400000", "--opponents", "random")
    rewards = [float(found) for found in re.findall(r"mean reward ([+-][\d.]+)", printed)]
    assert len(rewards) >= 10
    assert rewards[-1] > 0.75 > rewards[0]
    assert re.search(r"1  ppo +\d+", printed)
