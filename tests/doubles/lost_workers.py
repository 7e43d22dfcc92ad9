"""Environments for searches in several processes, one of which is lost; and what became of the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from doubles.game_envs import SmallEnv

LOSSES = {
    "exits": lambda: os._exit(3),
    "is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hangs": lambda: time.sleep(10_000),
    "is stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


class Nim(SmallEnv):
    """Who takes the last of the matches wins; a step may take its time."""

    zermelo_traits: Any = {"information": "perfect", "chance": "deterministic", "reward_sum": "zero_sum"}  # noqa: RUF012

    def __init__(self, matches: int = 15, pause: float = 0.0, size: int = 0) -> None:
        super().__init__(["a", "b"], 3)
        self.matches, self.pause, self.ballast = matches, pause, bytearray(size)

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.left = self.matches

    def play(self, agent: Any, action: Any) -> None:
        time.sleep(self.pause)
        self.left -= int(action) + 1
        other = "b" if agent == "a" else "a"
        if self.left <= 0:
            self.rewards = {agent: 1, other: -1}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = other


class LosesOne(Nim):
    """The first process that makes a move, once there is a folder "go", is lost in one of ``LOSSES``."""

    def __init__(self, folder: Path, loss: str) -> None:
        super().__init__(pause=0.001)
        self.folder, self.loss = str(folder), loss

    def play(self, agent: Any, action: Any) -> None:
        super().play(agent, action)
        if is_first(self.folder):
            LOSSES[self.loss]()


class NeedsMemory:
    """An evaluation that runs out of memory in the first process that asks, once there is a folder "go"."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __call__(self, game: Any, state: Any) -> tuple[float, float]:
        if is_first(self.folder):
            raise MemoryError
        return 0.0, 0.0


def is_first(folder: str) -> bool:
    """True once, when there is a folder "go" in that folder."""
    if not os.path.exists(f"{folder}/go"):
        return False
    try:
        os.mkdir(f"{folder}/taken")
    except FileExistsError:
        return False
    return True


def nim(**settings: Any) -> Nim:
    env = Nim(**settings)
    env.reset(seed=0)
    return env


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def pids_of(agent: Any) -> list[int]:
    team = agent._pools.by_owner.get(os.getpid())
    return [] if team is None else list(team.pids)


def pids_after_kill(script: str) -> list[int]:
    """Runs a script until it has written the ids of processes in a line, kills it, and returns them."""
    code = f"import sys; sys.path[:0] = {sys.path!r}; {script}"
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        pids = list(map(int, parent.stdout.readline().split()))
    parent.kill()
    parent.wait()
    return pids


def wait_for_end(pids: list[int]) -> bool:
    ends = time.monotonic() + 20
    while any(map(is_alive, pids)) and time.monotonic() < ends:
        time.sleep(0.02)
    return not any(map(is_alive, pids))
