"""Agents' failures, from where they are noticed to the record of the game."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Any

from zermelo.agents.base.clock import GameClock, SupportsClock
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.policies.engines import EngineAgent, EngineMoveError, EngineTimeoutError
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.errors import EnvFailedError, ZermeloError
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.wrappers import layers
from zermelo.evaluation.errors import RunInterrupt
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.text import kept_line, plain


class AgentFault(Exception):  # noqa: N818  # a fault is a result that travels as an exception, not an error of ours
    """Something that an agent did wrong: ``message`` is one sentence without a subject."""

    def __init__(self, kind: FailureKind, message: str, detail: str = "", seat: int | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.detail, self.seat = kind, message, detail, seat


def choose(agent: Any, env: Any) -> tuple[Any, tuple[Any, ...]]:
    """The agent's action, and the last fields of the ``Move``, as far as it says what its search found."""
    if not isinstance(agent, ConfiguredAgent):
        return agent.act(env), ()
    before = agent.pondered
    if isinstance(agent, SearchAgent) and type(agent).act is SearchAgent.act:
        result = agent.search(env)
        action: Any = result.env_action
        depth = None if result.simulations else plain(result.depth)  # a tree of simulations completes no depth
        figures: tuple[Any, ...] = plain(result.nodes), depth, plain(result.value)
    else:
        action = agent.act(env)
        figures = agent.figures if isinstance(agent, EngineAgent) else (None, None, None)
    after = agent.pondered
    return action, figures if after == before else (*figures, after.hits > before.hits)


def tell_clock(agent: Any, clock: GameClock) -> None:
    """Tells an agent what the clocks show, if it wants to know."""
    if isinstance(agent, SupportsClock):
        agent.tell_clock(clock)


def ends_the_run(error: BaseException) -> bool:
    """Whether an exception asks the run to end. In a worker, which is sent no Ctrl-C, one is the agent's own."""
    return isinstance(error, RunInterrupt) or (
        isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    )


def is_of_the_env(error: BaseException, agent: Any, env: Any) -> bool:
    """Whether this is an ``EnvFailedError`` that this package raised, and that no code of the agent's has caused.

    Every other exception is the agent's: it called what failed. Of the frames below the error the last one that
    is the agent's or the environment's decides; libraries that they call are neither's.
    """
    if not isinstance(error, EnvFailedError):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or not _module(frames[-1]).startswith("zermelo."):
        return False
    below = [frame for frame, _ in traceback.walk_tb(error.__cause__.__traceback__)] if error.__cause__ else []
    agents, envs = _classes([agent]), _classes(layers(env))
    is_agents = (_is_first(frame, agents, envs) for frame in reversed(below))
    return not next((found for found in is_agents if found is not None), False)


def _classes(things: Sequence[Any]) -> list[type]:
    """The classes of some objects that are not this package's, and what these inherit from."""
    kinds = [kind for thing in things for kind in type(thing).__mro__]
    return [kind for kind in kinds if kind.__module__.partition(".")[0] not in ("zermelo", "builtins")]


def _is_first(frame: FrameType, first: Sequence[type], second: Sequence[type]) -> bool | None:
    """Whether code is that of the first classes rather than of the second: a method, of a module, of a package."""
    module, name = _module(frame), frame.f_code.co_qualname

    def nearness(kind: type) -> int:
        if kind.__module__ == module:
            return 3 if name.startswith(f"{kind.__qualname__}.") else 2
        return int(kind.__module__.partition(".")[0] == module.partition(".")[0])

    one, other = (max(map(nearness, kinds), default=0) for kinds in (first, second))
    return None if one == other else one > other


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def fault_kind(error: BaseException, otherwise: FailureKind) -> FailureKind:
    """The kind of failure that an exception is; ``otherwise`` where the exception does not say."""
    if isinstance(error, MemoryError):
        return FailureKind.OUT_OF_MEMORY
    if otherwise is FailureKind.CRASH and isinstance(error, EngineTimeoutError):
        return FailureKind.TIMEOUT
    if otherwise is FailureKind.CRASH and isinstance(error, EngineMoveError):
        return FailureKind.ILLEGAL_ACTION
    return otherwise


def sentence(method: str, error: BaseException) -> str:
    """The error of an agent's method, in one line, with the line of code that it comes from."""
    try:
        text = str(error)
    except BaseException:  # an exception's own __str__ may raise anything
        text = ""
    place = ""
    if not isinstance(error, ZermeloError):
        text, place = next(iter(text.strip().splitlines()), ""), place_of(error)
    return kept_line(f"{method} raised {type(error).__name__}{f': {text}' if text else ''}{place}")


def traceback_text(error: BaseException | None) -> str:
    """The end of the traceback."""
    return "" if error is None else "".join(traceback.format_exception(error))[-4000:]


def manner_of_death(exit_code: int | None) -> str:
    """How a process ended, from its exit code (negative: a signal's number)."""
    if exit_code is None or exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return f"{name}, perhaps for lack of memory" if name == "SIGKILL" else name
