"""Ctrl-C and time limits while a kernel computes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules import RulesGame

pytestmark = pytest.mark.alone

GAME = RulesGame(ConnectFour())


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="signals to oneself")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_is_answered_and_the_search_can_go_on(threads: int) -> None:
    prover = Prover(GAME, threads=threads)
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        prover.score(GAME.initial_state())  # takes minutes
    assert pressed
    state = GAME.initial_state()
    for action in (3, 3, 4, 4):
        state = GAME.result(state, action)
    score = prover.score(state)
    assert prover.value(score.lower)[0] == 1


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="signals to another process")
def test_ctrl_c_ends_a_script() -> None:
    script = """
    import sys, threading, time
    from zermelo.agents.tree_search.exact.prover import Prover
    from zermelo.envs.games import ConnectFour
    from zermelo.envs.rules import RulesGame
    prover = Prover(RulesGame(ConnectFour()))
    print("ready", flush=True)
    try:
        prover.score(ConnectFour().initial_state())
    except KeyboardInterrupt:
        print("stopped", threading.active_count(), flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.startswith("stopped")
    assert process.returncode == 0


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own() -> None:
    script = """
    import os
    from zermelo.agents.tree_search.exact.prover import Prover
    from zermelo.envs.games import ConnectFour
    from zermelo.envs.rules import RulesGame
    game = RulesGame(ConnectFour())
    prover = Prover(game)
    state = game.initial_state()
    for action in (3, 3, 4, 4):
        state = game.result(state, action)
    here = prover.score(state)
    child = os.fork()
    if child == 0:
        os._exit(0 if prover.score(state) == here else 1)
    assert os.waitpid(child, 0)[1] == 0
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
