"""Settings of the process that an environment's own step changes in copies are as before after an agent's move."""

from __future__ import annotations

import contextlib
import decimal
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from doubles.odd_boards import Board, at

from zermelo.agents import make_agent
from zermelo.envs import verify_clone
from zermelo.envs.clone import settings_kept
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.errors import CloneError, EnvFailureWarning


class Meddler(Board):
    """Changes a setting of the process at each step."""

    change: ClassVar[Callable[[], object]]

    def put(self, *given: Any) -> Any:
        type(self).change()
        return super().put(*given)


class Maskless(Board):
    """Shows no mask, and prints."""

    def observation_space(self, agent: Any) -> Any:
        return super().observation_space(agent)["observation"]

    def observe(self, agent: Any) -> Any:
        return self.seen()

    def step(self, action: Any) -> None:
        print("step", action)
        is_taken = not any(self.terminations.values()) and self.cells[action]
        super().step(self.cells.index(0) if is_taken else action)


class Refused(Maskless):
    """Cannot be copied."""

    def __deepcopy__(self, memo: Any) -> Any:
        print("copied")
        raise TypeError("not this one")


def _signal(*_: object) -> None: ...


CHANGES: dict[str, tuple[str, Callable[[], object]]] = {
    "folder": ("the working directory", lambda: os.chdir("/")),
    "filters": ("warnings.filters", lambda: warnings.simplefilter("ignore")),
    "a filter": ("warnings.filters", lambda: warnings.filterwarnings("error", "some text")),
    "no filters": ("warnings.filters", warnings.resetwarnings),
    "handler": ("signal handlers", lambda: signal.signal(signal.SIGINT, _signal)),
    "stdout": ("sys.stdout", lambda: setattr(sys, "stdout", None)),
    "stderr": ("sys.stderr", lambda: setattr(sys, "stderr", sys.__stdout__)),
    "floats": ("numpy.seterr", lambda: np.seterr(all="raise")),
    "arrays": ("print options", lambda: np.set_printoptions(precision=2, suppress=True)),
    "decimal": ("decimal's precision", lambda: setattr(decimal.getcontext(), "prec", 3)),
}


def _state() -> list[Any]:
    streams = sys.stdout, sys.stderr, sys.stdin
    numbers = np.geterr(), np.get_printoptions(), decimal.getcontext().prec
    return [os.getcwd(), tuple(warnings.filters), signal.getsignal(signal.SIGINT), streams, numbers]


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Has settings be as they were when a test ends, and warnings be given anew."""
    monkeypatch.setattr(settings_kept, "_told", set())
    streams = sys.stdout, sys.stderr
    handler = signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings(), np.errstate(), np.printoptions(), decimal.localcontext():
        with contextlib.chdir(os.getcwd()):
            yield
        sys.stdout, sys.stderr = streams
        signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.usefixtures("as_before")
def test_what_a_step_changes_is_put_back_and_named_once(kind: str) -> None:
    name, change = CHANGES[kind]
    env = at(Meddler, ())
    Meddler.change = lambda: None
    agent = make_agent("greedy")
    agent.act(env)
    Meddler.change = change
    before = _state()
    with pytest.warns(EnvFailureWarning, match=f"board changed .*{name}.* while copies .* was put back"):
        agent.act(env)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agent.search(env)
    assert not caught
    assert _state() == before


@pytest.mark.usefixtures("as_before")
def test_settings_are_put_back_after_errors_and_ctrl_c() -> None:
    def interrupt() -> None:
        os.chdir("/")
        OUTPUT_GUARD.__enter__()  # Ctrl-C comes before the context's end
        raise KeyboardInterrupt

    env = at(Meddler, ())
    Meddler.change = lambda: None
    agent = make_agent("alphabeta(depth=1)")
    agent.act(env)
    Meddler.change, before = interrupt, _state()
    with pytest.warns(EnvFailureWarning, match="working directory"), pytest.raises(KeyboardInterrupt):
        agent.act(env)
    assert _state() == before
    assert not OUTPUT_GUARD.depth


@pytest.mark.parametrize("spec", ["random", "greedy", "alphabeta(depth=1)"])
def test_stdout_is_as_before_after_environments_without_a_mask(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sys.stdout
    env = at(Maskless, (4,))
    capsys.readouterr()
    make_agent(spec).act(env)
    assert sys.stdout is before
    print("heard")
    assert capsys.readouterr().out == "heard\n"


def test_stdout_is_as_before_after_searches_that_are_refused() -> None:
    before = sys.stdout
    with pytest.raises(CloneError, match="not this one"):
        make_agent("greedy").act(at(Refused, ()))
    assert sys.stdout is before


@pytest.mark.usefixtures("as_before")
def test_verify_clone_gives_back_what_it_borrowed() -> None:
    before = _state()
    verify_clone(Maskless, games=1, max_steps=4)
    assert _state() == before
    Meddler.change = CHANGES["folder"][1]
    with pytest.warns(EnvFailureWarning, match="working directory"):
        verify_clone(Meddler, games=1, max_steps=4)
    assert _state() == before
