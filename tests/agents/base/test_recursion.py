"""Python's recursion limit is raised for deep searches, and Ctrl-C may come anywhere while it changes."""

import sys
import threading

import pytest
from doubles.small_games import CoinRow

from zermelo.agents import AlphaBetaAgent, MaxNAgent, make_agent, solve
from zermelo.agents.base import recursion
from zermelo.agents.base.recursion import deep_recursion, make_room
from zermelo.envs import as_game
from zermelo.envs.games import Nim

GAME = as_game(Nim((1,)))
PATIENCE = 30
"""A thread that takes so many seconds hangs."""


def in_a_thread(work):
    """Does it where few frames are to be counted; fails if it hangs."""
    failed = []

    def run():
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it hangs"
    assert not failed, failed


def interrupted(work, number):
    """Does it, with Ctrl-C at that instruction of the module; False if it has fewer."""
    left = [number]

    def trace(frame, event, _):
        if frame.f_code.co_filename != recursion.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left[0] -= 1
            if left[0] == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    sys._getframe().f_trace_opcodes = True  # else Python 3.12 reports no instructions
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return left[0] <= 0


def search(inside=None):
    with deep_recursion(GAME):
        make_room()
        if inside is not None:
            inside()


def two_searches():
    search(search)


@pytest.mark.skipif(sys.gettrace() is not None, reason="a debugger or a coverage tool traces")
@pytest.mark.parametrize("first", [1, *(pytest.param(first, marks=pytest.mark.thorough) for first in (2, 3))])
def test_ctrl_c_at_any_instruction_holds_up_no_search(first):
    before = sys.getrecursionlimit()

    def interrupt_everywhere():
        number = first
        while interrupted(two_searches, number):
            two_searches()
            assert sys.getrecursionlimit() == before, number
            number += 3
        assert number > 100

    in_a_thread(interrupt_everywhere)
    in_a_thread(lambda: AlphaBetaAgent(compile="never").search_state(GAME))


def test_the_limit_is_that_of_the_deepest_search_and_then_as_before():
    before, seen = sys.getrecursionlimit(), []
    begun, ended = threading.Event(), threading.Event()

    def other():
        with deep_recursion(GAME):
            begun.set()
            ended.wait(PATIENCE)

    def deep(frames=700):
        if frames:
            return deep(frames - 1)
        search(lambda: seen.append(sys.getrecursionlimit()))
        return None

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait(PATIENCE)
    with deep_recursion(GAME):
        deep()
        ended.set()
        thread.join()
        seen.append(sys.getrecursionlimit())
    assert seen[0] == seen[1] > 1700
    assert sys.getrecursionlimit() == before


def test_a_limit_that_others_set_meanwhile_stays():
    before = sys.getrecursionlimit()
    try:
        two_searches()
        sys.setrecursionlimit(before + 4000)
        two_searches()
        assert sys.getrecursionlimit() == before + 4000
    finally:
        sys.setrecursionlimit(before)
    two_searches()
    assert sys.getrecursionlimit() == before


def test_threads_that_begin_and_end_at_once_leave_the_limit_as_it_was():
    before, interval = sys.getrecursionlimit(), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=lambda: [two_searches() for _ in range(100)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sys.getrecursionlimit() == before


class Corridor(CoinRow):
    """As many moves as coins, and nothing to choose."""

    def legal_actions(self, state):
        return (0,)


@pytest.mark.parametrize("spec", ["alphabeta", "expectiminimax", "bestreply"])
def test_python_functions_alone_call_each_other_on_the_way_down(spec):
    """Python 3.12 lets C functions call each other about 1,500 deep, and its own limit does not count there."""
    agent = make_agent(f"{spec}(depth=full, memory_mb=0, compile=never)")
    assert agent.search_state(Corridor([1] * 1700)).depth == 1700


@pytest.mark.parametrize("kind", [AlphaBetaAgent, MaxNAgent])
def test_a_watched_search_goes_as_deep(kind):
    deepest = []
    agent = kind(depth="full", memory_mb=0, on_node=lambda event: deepest.append(event.ply))
    assert agent.search_state(Corridor([1] * 1700)).depth == 1700
    assert max(deepest) == 1700


def test_proof_numbers_search_long_games():
    assert solve(Corridor([1] * 1700), method="proof_number", compile="never").proven
