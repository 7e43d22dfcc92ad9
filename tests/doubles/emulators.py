"""Emulators whose memory is outside of Python, and environments around them."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle

LEVEL, PLACE, FRAMES, NUMBERS = range(4)
BUTTONS, LENGTH = 3, 6


class Emulator:
    """A machine of four numbers; a press pays by where it leads."""

    def __init__(self, level: int) -> None:
        self.memory = (ctypes.c_int * 4)(level)

    def begin(self) -> None:
        self.memory[PLACE] = self.memory[FRAMES] = 0

    def press(self, button: int) -> int:
        self.memory[PLACE] = next_place(self.memory[LEVEL], self.memory[PLACE], button)
        self.memory[FRAMES] += 1
        return paid_at(self.memory[PLACE])

    def screen(self) -> Any:
        """A view of the memory, not a copy."""
        return np.ctypeslib.as_array(self.memory)[:FRAMES]

    def close(self) -> None:
        self.memory = None  # type: ignore[assignment]  # as after the library's own

    def clone_state(self) -> bytes:
        return bytes(self.memory)

    def restore_state(self, state: bytes) -> None:
        ctypes.memmove(self.memory, state, len(state))


class Incomplete(Emulator):
    """Does not restore where it is."""

    def restore_state(self, state: bytes) -> None:
        place = self.memory[PLACE]
        super().restore_state(state)
        self.memory[PLACE] = place


class OneMemory(Emulator):
    """All of these have one memory between them, as with libraries that keep theirs in variables."""

    all_memory = (ctypes.c_int * 4)()

    def __init__(self, level: int) -> None:
        self.memory = self.all_memory
        self.restore_state(bytes((ctypes.c_int * 4)(level)))


class Chancy(Emulator):
    """Presses another button in one of two frames; the generator is part of the memory."""

    def press(self, button: int) -> int:
        self.memory[NUMBERS] = (self.memory[NUMBERS] * 1103515245 + 12345) % 2**31
        return super().press((button + (self.memory[NUMBERS] >> 16) % 2) % BUTTONS)

    def seed(self, number: int) -> None:
        self.memory[NUMBERS] = number % 2**31


class OtherNames(Emulator):
    """Says by no name that it can save itself."""

    clone_state = restore_state = None  # type: ignore[assignment]  # nothing to call

    def frozen(self) -> bytes:
        return bytes(self.memory)

    def thaw(self, state: bytes) -> None:
        ctypes.memmove(self.memory, state, len(state))


def next_place(level: int, place: int, button: int) -> int:
    return (5 * place + 3 * button * button + level) % 11


def paid_at(place: int) -> int:
    return (place * place) % 7 - 2


def best_total(level: int, place: int, frames: int) -> int:
    """The most that is paid from a position to the end: of all ways to play on."""
    totals = []
    for buttons in itertools.product(range(BUTTONS), repeat=LENGTH - frames):
        here, total = place, 0
        for button in buttons:
            here = next_place(level, here, button)
            total += paid_at(here)
        totals.append(total)
    return max(totals)


class BareEmulatorEnv(gymnasium.Env[Any, int]):
    """An environment of which nothing says how it was made; it keeps the last two screens."""

    metadata = {"name": "emulator_v0"}  # noqa: RUF012  # as Gymnasium has it
    render_mode = None

    def __init__(self, level: int = 1, machine: type[Any] = Emulator) -> None:
        self.emulator = machine(level)
        self.action_space = gymnasium.spaces.Discrete(BUTTONS)
        self.observation_space = gymnasium.spaces.Box(-100, 100, (2, FRAMES), np.int32)
        self.screens: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.emulator.begin()
        self.screens = [self.emulator.screen().copy()] * 2
        return np.array(self.screens), {}

    def step(self, action: int) -> Any:
        paid = self.emulator.press(int(action))
        screen = self.emulator.screen()
        self.screens = [self.screens[1], screen.copy()]
        return np.array(self.screens), float(paid), bool(screen[PLACE] < 0), False, {"screen": screen}

    def close(self) -> None:
        self.emulator.close()


class EmulatorEnv(BareEmulatorEnv, EzPickle):
    """One that says how it was made."""

    def __init__(self, level: int = 1, machine: type[Any] = Emulator) -> None:
        EzPickle.__init__(self, level, machine)
        super().__init__(level, machine)


def started(env: Any, actions: Sequence[int] = ()) -> Any:
    """The environment, cut off after ``LENGTH`` steps, after some of them."""
    limited = gymnasium.wrappers.TimeLimit(env, LENGTH)
    limited.reset(seed=0)
    for action in actions:
        limited.step(action)
    return limited
