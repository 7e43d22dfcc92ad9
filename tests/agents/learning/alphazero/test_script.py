"""The script that trains, run as it stands and killed on the way."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[4] / "scripts" / "train_alphazero.py"
NETWORK = ["--channels", "4", "--blocks", "1", "--positions", "50"]
TINY = ["--env", "zermelo/MNK-v0", "--games", "8", "--simulations", "4", *NETWORK]
RARELY = ["--rating-minutes", "60", "--checkpoint-minutes", "0", "--rating-games", "2"]


def command(folder, *arguments):
    pytest.importorskip("torch", reason='needs pip install "zermelo[torch]"')
    return [sys.executable, "-u", str(SCRIPT), "--out", str(folder / "out"), *TINY, *RARELY, *arguments]


def run(folder, *arguments):
    return subprocess.run(
        command(folder, *arguments), cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_training_that_was_killed_goes_on(tmp_path):
    checkpoint = tmp_path / "out" / "checkpoint.pt"
    with subprocess.Popen(command(tmp_path, "--minutes", "50"), stdout=subprocess.DEVNULL) as process:
        while not checkpoint.exists():
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    done = run(tmp_path, "--minutes", "0.05")
    assert done.returncode == 0, done.stderr
    assert "goes on from" in done.stdout
    assert re.search(r"rating -?\d+ Elo \(random", done.stdout)
    assert (tmp_path / "out" / "model.onnx").exists()
    assert (tmp_path / "out" / "curve.jsonl").read_text().count("\n") == 1
    other = run(tmp_path, "--minutes", "0.05", "--blocks", "2")
    assert other.returncode == 1
    assert "other settings (blocks)" in other.stderr
    assert "Traceback" not in other.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ctrl_c_leaves_a_checkpoint(tmp_path):
    arguments = command(tmp_path, "--minutes", "50", "--checkpoint-minutes", "60")
    with subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        while not re.match(r" +0\.\d +1 ", process.stdout.readline()):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        printed = process.stdout.read()
    assert process.returncode == 0
    assert "ending after this iteration" in printed
    assert (tmp_path / "out" / "checkpoint.pt").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--env", "zermelo/Kuhn-v0"], "do not see the whole state"),
        (["--out", "/dev/null/out"], "choose another --out"),
        (["--minutes", "0"], "minutes must be a finite number greater than 0"),
    ],
)
def test_wrong_arguments_are_one_sentence(tmp_path, arguments, said):
    done = run(tmp_path, *arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
