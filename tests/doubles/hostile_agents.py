"""Agents that go wrong in ways which no ``except`` clause sees: only play them in processes of their own."""

import ctypes
import multiprocessing
import os
import random
import re
import subprocess
import sys
import threading
import time

import numpy as np
from doubles.bad_agents import Good, legal_actions

from zermelo.envs.errors import EnvFailedError


class SegmentationFault(Good):
    def act(self, env):
        return ctypes.string_at(0)


class Aborts(Good):
    def act(self, env):
        os.abort()


class Loops(Good):
    def act(self, env):
        while True:
            pass


class Catches(Good):
    """Thinks for ever and lets nothing interrupt it that Python could."""

    def act(self, env):
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                continue


class LoopsInC(Good):
    """Thinks for ever inside one call of C code that never lets go of Python's lock."""

    def act(self, env):
        return re.match(r"(a+)+$", "a" * 64 + "b")


class SleepsInC(Good):
    """Sleeps in C code with Python's lock in its hands: no other thread of the process runs."""

    def act(self, env):
        return ctypes.PyDLL(None).sleep(1000)


class Hogs(Good):
    def act(self, env):
        taken = []
        while True:
            taken.append(b"x" * 2**24)


class Gulps(Good):
    def act(self, env):
        return len(bytearray(2**40))


class Floods(Good):
    def act(self, env):
        while True:
            sys.stdout.write("I am still thinking. " * 100)


class FloodsBeneath(Good):
    """Writes past Python, to the second file descriptor."""

    def act(self, env):
        while True:
            os.write(2, b"warning: " * 1000)


class Chatters(Good):
    def act(self, env):
        print("I am thinking.")
        return super().act(env)


class LastWords(Good):
    """Writes something useful, then ends its process."""

    def act(self, env):
        print("the model has no head", flush=True)
        os._exit(9)


class HangsAtStart(Good):
    def reset(self, seed=None):
        time.sleep(1000)


class DiesAtStart(Good):
    def reset(self, seed=None):
        os._exit(4)


class NeverMade(Good):
    """Cannot even be made: its constructor never returns."""

    def __init__(self, name="never"):
        time.sleep(1000)


class DiesWhenMade(Good):
    """Cannot even be made: its constructor ends the process."""

    def __init__(self, name="dies"):
        print("no graphics card found", flush=True)
        os._exit(3)


class WritesInto(Good):
    """Clears the board that it was shown, of an environment of PettingZoo's."""

    def act(self, env):
        action = super().act(env)
        env.unwrapped.board.squares[:] = [0] * 9
        return action


class Resets(Good):
    def act(self, env):
        env.reset(seed=1)
        return super().act(env)


class LeavesThread(Good):
    def act(self, env):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True, name="pondering").start()
        return super().act(env)


class LeavesProcess(Good):
    def act(self, env):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        return super().act(env)


class LeavesDaemon(Good):
    """Leaves a process in a session of its own, whose parent has ended, and writes its number to a file."""

    def __init__(self, path, name="daemon"):
        super().__init__(name)
        self.path = path

    def act(self, env):
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                with open(self.path, "a") as file:
                    file.write(f"{os.getpid()}\n")
                time.sleep(1000)
            os._exit(0)
        os.waitpid(child, 0)
        return super().act(env)


class EndsItsThreads(Good):
    """Works with threads and waits for them, as it should."""

    def act(self, env):
        threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return super().act(env)


class ClosesFiles(Good):
    def act(self, env):
        os.closerange(3, 256)
        return super().act(env)


class Impostor(Good):
    """Answers with an object that runs code where it is unpickled."""

    def act(self, env):
        return self

    def __reduce__(self):
        return os._exit, (66,)

    def __repr__(self):
        return "<an impostor>"


class TwoFaced(Good):
    """Answers, and has a child process that goes on holding the pipes when it dies."""

    def act(self, env):
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(5)


class Interrupts(Good):
    def act(self, env):
        raise KeyboardInterrupt


class MakesUpAnEnvironmentFailure(Good):
    def act(self, env):
        raise EnvFailedError("it was not me")


class ComparesEvilly(Good):
    """Answers with an int that claims to be any number, and may end the process when it is compared."""

    class Int(int):
        def __eq__(self, other):
            return True

        def __le__(self, other):
            raise SystemExit

        __lt__ = __ge__ = __gt__ = __le__
        __hash__ = int.__hash__

        def __int__(self):
            return 0

        __index__ = __int__

        def __repr__(self):
            raise SystemExit

    def act(self, env):
        return self.Int(77)


class ClosesEverything(Good):
    """Closes all descriptors of its process, the way to the tournament among them."""

    def act(self, env):
        os.closerange(3, 4096)
        return super().act(env)


class DrawsGlobally(Good):
    """Draws from the generators that Python and NumPy share among all."""

    def act(self, env):
        choices = legal_actions(env)
        if random.random() < 0.5:
            return random.choice(choices)
        return choices[np.random.randint(len(choices))]  # noqa: NPY002


def exits_in_a_worker():
    """Makes an agent where the tournament is prepared, and raises ``SystemExit`` in worker processes."""
    if multiprocessing.current_process().name != "MainProcess":
        raise SystemExit(3)
    return Good("made")
