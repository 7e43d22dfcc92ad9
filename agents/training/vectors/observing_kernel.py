"""Observations of a state, written by compiled code."""

from __future__ import annotations

from typing import Any

from zermelo.envs.jit.memory import int8s, load, store_state, words
from zermelo.envs.rules.protocol import Rules

OBSERVES = False
"""True if the rules write observations; else these are the bits of the state, and who observes.

The front ends set these constants for each kernel that they compile.
"""
WIDE = False
"""True if their numbers have more than one byte; they then take a word each."""


def observe(rules: Rules, state: Any, observer: int, seen: int, number: int, spare: int, form: Any) -> None:
    """Writes what a seat observes of a state: number ``number`` of the observations at address ``seen``.

    At ``spare`` are words for a state that may be written to; ``form`` is a record with ``observed``, how many
    numbers there are, and ``position_words``.
    """
    if WIDE:
        wide = words(seen + 8 * number * form.observed, form.observed)
        wide[:] = 0
        rules.write_observation(state, observer, wide)
        return
    numbers = int8s(seen + number * form.observed, form.observed)
    numbers[:] = 0
    if OBSERVES:
        rules.write_observation(state, observer, numbers)
    else:
        store_state(state, spare)
        for place in range(form.position_words):
            word = load(spare, place)
            for bit in range(64):
                numbers[64 * place + bit] = word >> bit & 1
        numbers[64 * form.position_words + observer] = 1
