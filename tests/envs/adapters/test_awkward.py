"""Awkward environments of every kind are played or refused in a sentence, and none is harmed."""

from __future__ import annotations

import io
import random
import socket
import warnings
from typing import Any

import numpy as np
import pytest
from doubles.awkward import KINDS
from doubles.awkward_globals import torch

from zermelo.agents import make_agent
from zermelo.envs import ZermeloError, legal_actions
from zermelo.envs.traits import findings

REFUSED = {
    "a finaliser that cannot be taken away",
    "a mask of nothing",
    "floats as actions",
    "holds a deep list",
    "holds a file",
    "holds a flat iterator",
    "holds a generator under way",
    "holds a held lock",
    "holds a socket",
    "holds a thread",
    "holds memory of C",
    "millions of actions",
    "not reset",
    "room with its mask in seen_only",
    "text as actions",
}


SEEN_LATE = {
    "fails in a step",
    "one board for all",
    "pays nan",
    "pays vectors",
    "selects a stranger",
    "stays dead",
}
"""Refused where a search gets as far as that."""
SHARED = {"one board for all", "rolls in its module", "rolls on its class"}
"""Two of them are never independent, searched or not."""


def started(name: str) -> Any:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # what environments draw from
    env = KINDS[name]()
    env.reset(seed=3)
    return env


def played(env: Any) -> list[str]:
    """What an environment shows in twelve moves, by the first legal action or the second."""
    seen = []
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002  # as above
    if torch:
        torch.manual_seed(2)
    for move in range(12):
        try:
            actions = legal_actions(env)
            shown = env.step(actions[move % len(actions)])
        except Exception as error:  # of the environment's own code
            shown = type(error).__name__
        if hasattr(env, "agent_selection"):
            shown = [env.agent_selection, env.rewards, env.agents, getattr(env, "count", None)]
        seen.append(repr(shown))
    return seen


def test_there_are_enough_kinds() -> None:
    assert len(KINDS) >= 33
    assert KINDS.keys() >= REFUSED


@pytest.mark.parametrize("name", KINDS)
def test_an_awkward_environment_is_played_or_refused_and_not_harmed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings.clear_memory()
    env, other = started(name), started(name)
    agent = make_agent("auto(seconds=0.1, seed=1)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refusal = ""
        try:
            assert agent.act(env) is not None
        except ZermeloError as error:
            refusal = str(error)
    assert name in SEEN_LATE or bool(refusal) == (name in REFUSED), refusal
    assert not refusal or (len(refusal) > 30 and "\n" not in refusal)
    if name not in SHARED:
        assert played(env) == played(other)
    for one in (env, other):
        thing = getattr(one, "thing", None)
        if isinstance(thing, socket.socket | io.IOBase):
            thing.close()
