"""Runs that are killed (SIGKILL) at any moment and begun again end as if nothing had happened."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from zermelo.evaluation import read_games, read_standings, round_robin
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.play import agent_seeds
from zermelo.evaluation.workers.settings import AgentLimits

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and process groups")

PROGRAM = str(Path(sys.executable).with_name("zermelo"))
TESTS = Path(__file__).resolve().parents[2]
AGENTS = ["random", "doubles.bad_agents:First", "doubles.bad_agents:Gated", "doubles.bad_agents:Raises"]
ENV = "doubles.toy_envs:DiceEnv"


def start(out, games, workers, gate="", **settings):
    words = ["tournament", ENV, *AGENTS, "--games", str(games), "--seed", "7", "--isolate", "none"]
    env = {**os.environ, "PYTHONPATH": str(TESTS), "GATE": gate}
    return subprocess.Popen(
        [PROGRAM, *words, "--workers", str(workers), "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, start_new_session=True, **settings,
    )  # fmt: skip


def finish(out, games, workers):
    with start(out, games, workers) as process:
        stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 3, stderr  # as one of the agents fails in every game
    return stdout


def kill(process, whole_group):
    with contextlib.suppress(ProcessLookupError):  # it had ended already
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()  # its workers end by themselves
    process.communicate()


def results(out):
    """Everything that must not depend on kills."""
    games = [record.without_timings() for record in read_games(out)]
    table = json.loads(read_standings(out).to_json())
    for row in table["agents"]:
        del row["seconds_per_move"]
    return games, table, read_standings(out).ratings


def count_stored(out):
    """The number of games in the database; 0 before it has tables."""
    try:
        return len(read_games(out))
    except StoreError as error:
        if "holds no tournament" not in str(error):
            raise
        return 0


def wait_until_stored(out, wanted, reached):
    """Waits until the database has so many games, or some, and the run waits at the gate."""
    deadline = time.monotonic() + 60
    while (found := count_stored(out)) < wanted and not (found and reached.exists()):
        assert time.monotonic() < deadline, "no game was stored"
        time.sleep(0.002)


def kill_again_and_again(tmp_path, games, kills, seed):
    generator = random.Random(seed)
    round_robin(ENV, AGENTS, games=games, seed=7, isolation=AgentLimits(isolate="none"), out=tmp_path / "whole")
    out = tmp_path / "killed"
    # One of the last games waits until all kills are done: whenever a kill comes, the run is not yet over.
    waiting, reached = tmp_path / "gate", tmp_path / "gate.reached"
    waiting.touch()
    late = [record for record in read_games(tmp_path / "whole") if "gated" in record.agents][-1]
    gate = f"{agent_seeds(late.seed, 2)[late.agents.index('gated')]}:{waiting}"
    stored, killed_at_work = set(), 0
    for number in range(kills):
        workers = generator.choice([1, 2])
        reached.unlink(missing_ok=True)
        process = start(out, games, workers, gate)
        # A fifth of the kills while the run starts, the others when so many more games are in the database.
        if number % 5:
            wait_until_stored(out, len(stored) + generator.randint(1, 40), reached)
        time.sleep(generator.uniform(0.0, 0.05 if number % 5 else 1.0))
        assert process.poll() is None, process.communicate()
        kill(process, generator.random() < 0.5)
        now = {record.game_id for record in read_games(out)} if count_stored(out) else set()
        assert stored <= now, f"seed {seed}, kill {number}: games that had been stored are gone"
        killed_at_work += len(stored) < len(now) < games * 6
        stored = now
    waiting.unlink()
    last = finish(out, games, 2)
    counts = Counter(record.game_id for record in read_games(out))
    assert set(counts.values()) == {1}
    assert len(counts) == games * 6
    assert results(out) == results(tmp_path / "whole")
    assert len((out / "games.jsonl").read_text().splitlines()) == games * 6
    assert (out / "standings.csv").exists()
    assert "Stopped after" not in last
    print(
        f"seed {seed}: {kills} kills, {killed_at_work} of them while games were being stored; {len(counts)} games"
    )
    return killed_at_work


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1])
def test_a_run_killed_a_few_times_ends_as_if_nothing_had_happened(seed, tmp_path):
    assert kill_again_and_again(tmp_path, games=20, kills=2, seed=seed) >= 1


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [2])
def test_a_run_killed_fifty_times_ends_as_if_nothing_had_happened(seed, tmp_path):
    assert kill_again_and_again(tmp_path, games=5000, kills=50, seed=seed) >= 25
