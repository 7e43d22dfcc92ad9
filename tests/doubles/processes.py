"""Which processes a test has left behind; and what processes do that the fork server starts."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from zermelo.evaluation.workers.forked_process import servers
from zermelo.evaluation.workers.meters import children, is_zombie


def left_running():
    """Child processes of this one, and those of its fork servers, but not those: one stays for the next use."""
    ours = servers()
    return sorted(pid for parent in (os.getpid(), *ours) for pid in children(parent) if pid not in ours)


def is_running(pid):
    """Whether a process is there, and no zombie."""
    return os.path.exists(f"/proc/{pid}") and not is_zombie(pid)


def ends(pid, seconds=10.0):
    """Whether a process ends within so many seconds."""
    due = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < due:
        time.sleep(0.01)
    return not is_running(pid)


def describe(out):
    """Writes what a process just started finds around it; run by the fork server."""
    found = {
        "environ": dict(os.environ),
        "folder": os.getcwd(),
        "path": sys.path,
        "argv": sys.argv,
        "files": sorted(map(int, os.listdir("/proc/self/fd"))),
        "threads": len(os.listdir("/proc/self/task")),
        "numbers": [random.random(), np.random.random()],  # noqa: NPY002
    }
    print("said", flush=True)
    os.write(out, json.dumps(found).encode())


def fail(out):
    """Ends as an error that nobody catches does."""
    raise ValueError("on purpose")


def wait(*_):
    """Does nothing for long."""
    time.sleep(60)


def start_another(out):
    """Starts a process, writes its number, and waits."""
    child = subprocess.Popen(["sleep", "60"])
    os.write(out, str(child.pid).encode())
    time.sleep(60)


def works(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process takes 0.05 s of a processor's time within some seconds (Linux)."""

    def spent() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    before, ends = spent(), time.monotonic() + seconds
    while time.monotonic() < ends:
        if spent() >= before + 0.05:
            return True
        time.sleep(0.01)
    return False
