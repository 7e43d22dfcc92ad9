"""What processes use: /proc and psutil, which serves where there is no /proc, say the same."""

import os
import subprocess
import sys

import pytest

from zermelo.evaluation.workers import meters

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="compares with /proc")


def test_psutil_says_what_proc_says(monkeypatch):
    pytest.importorskip("psutil", reason="installed with zermelo[dev-extras]")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        for platform in ("linux", "darwin"):
            monkeypatch.setattr("sys.platform", platform)
            assert child.pid in meters.children(os.getpid())
            assert not meters.is_zombie(child.pid)
        found = []
        for platform in ("linux", "darwin"):
            monkeypatch.setattr("sys.platform", platform)
            found.append(meters.resident_mb(os.getpid()))
        assert found[0] > 20
        assert found[1] == pytest.approx(found[0], rel=0.2)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        for platform in ("linux", "darwin"):
            monkeypatch.setattr("sys.platform", platform)
            assert meters.is_zombie(child.pid)
            assert child.pid in meters.children(os.getpid())
        child.wait()
        assert meters.is_zombie(child.pid)
        assert meters.resident_mb(child.pid) == 0.0
