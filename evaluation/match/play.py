"""One game between agents: a function of the environment, the agents, the seed and the seats, and nothing else.

    record = play_match("classic/connect_four-v3", ["random", "alphabeta(depth=4)"], seed=1)

An agent that raises, or answers with something that is not a legal action, loses that game with the failure's
name in the record; the match itself goes on returning records. An environment that raises is nobody's fault and
raises ``EnvironmentFailureError``. ``KeyboardInterrupt`` passes, except where a process ignores Ctrl-C.

An agent that ``needs`` only the observation is given nothing else. Other agents are shown the live environment,
not a copy, and must not change it. What can be seen at no cost is checked after every move: whose turn it is, who
is still in the game and what was earned. Other changes (an agent that writes into the board, say) are noticed only
of agents in processes of their own (``zermelo.evaluation.workers``), which are shown a copy.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zermelo.agents.agent import Agent, Resignation, sees_observations
from zermelo.agents.base.clock import GameClock
from zermelo.agents.policies.engines import EngineAgent
from zermelo.agents.policies.observation import Observation
from zermelo.agents.policies.policy import ViewAgent
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.errors import EnvironmentFailureError, WorkerError
from zermelo.evaluation.match.adjudication import Adjudication
from zermelo.evaluation.match.clock import MAX_MOVES, SeatClocks, TimeControl, time_controls, too_late
from zermelo.evaluation.match.faults import (
    AgentFault,
    choose,
    ends_the_run,
    fault_kind,
    is_of_the_env,
    sentence,
    tell_clock,
    traceback_text,
)
from zermelo.evaluation.match.live_game import EnvDriver, drive_env, exact, play_known
from zermelo.evaluation.match.readiness import rehearse, require_fit, view_for
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, GameRecord, Move, versions
from zermelo.evaluation.match.sources import EnvSource, build_agent, build_env
from zermelo.evaluation.match.text import kept_name, plain
from zermelo.evaluation.schedule import checked_seed


class RemoteAgent:
    """Base class of what speaks for an agent in another process, such as ``IsolatedAgent``."""

    figures: tuple[Any, ...] = ()  # the last four fields of its last ``Move``
    seconds: float = 0.0  # that its last move took in its process

    def tell_clock(self, clock: GameClock) -> None:
        """Limits the next move by the time left, and has the agent told."""
        raise NotImplementedError

    def get_ready(self, seed: int, env: Any, view: Callable[[], Observation] | None = None) -> None:
        """Prepares for a game."""
        raise NotImplementedError

    def rest(self) -> None:
        """Stops thinking on the opponent's time, as the game is over."""


@checked_call
def play_match(
    env: EnvSource,
    agents: Sequence[Agent | str] | Mapping[Any, Agent | str],
    *,
    seed: int,
    opening: Sequence[Any] = (),
    max_moves: int = MAX_MOVES,
    clock: str | Sequence[str] | None = None,
    adjudicate: str | None = None,
) -> GameRecord:
    """Plays one game.

    Args:
        env: A name (``"classic/connect_four-v3"``), a function that makes an environment, or a live AEC or
            Gymnasium environment, which is reset with the seed.
        agents: The agents in the order of the environment's ``possible_agents``, or by the names of those; each
            an agent or the text of one (``"alphabeta(depth=4)"``).
        seed: Decides the game: the environment is reset with it, and each agent with a seed derived from it.
        opening: Actions to play before the agents take over, as ``env.step`` takes them.
        max_moves: Moves after which the game is stopped; the rewards so far are then compared.
        clock: Time for the whole game and what each move adds, in seconds: ``"60+0.6"``. Agents that manage their
            time are told (``SupportsClock``), and one that has run out of time when it answers has lost. A list
            has one for each seat, as has a text with commas. None for a game without clocks.
        adjudicate: ``"draw=8,win=4"`` ends a game of two once both have said for so many moves each that it is
            drawn (values of at most 0.02; others are written ``"draw=8@0.05"``) or that the same one wins (0.7).

    Returns:
        The record, with a ``failure`` if an agent failed.

    Raises:
        InvalidSettingError: The agents do not fit the seats, or the seed or the opening is no good.
        UnsupportedGameError: This is not an environment, or a search of ours cannot play this kind of game.
        EnvironmentFailureError: The environment itself raised; its ``record`` is the game so far.
    """
    verdicts = None if adjudicate is None else Adjudication.read(adjudicate)
    live, name = build_env(env)
    driver = drive_env(live, checked_seed(seed))
    given = _by_seat(agents, driver, live)
    controls = () if clock is None else time_controls(clock, len(given))
    with contextlib.ExitStack() as stack:
        seated = []
        for source in given:
            seated.append(build_agent(source))
            if isinstance(seated[-1], EngineAgent) and seated[-1] is not source:
                stack.callback(seated[-1].close)
        names = [kept_name(getattr(agent, "name", type(agent).__name__)) for agent in seated]
        has_policies = any(isinstance(agent, ViewAgent) for agent in seated)
        if has_policies:  # they are tried in another game, and see nothing of this one
            driver = drive_env(live, seed + 1)
        for agent, called in zip(seated, names, strict=True):
            require_fit(agent, driver.env, called, view_for(agent, driver))
            if controls:  # what is loaded late is on nobody's clock
                rehearse(agent, driver.view() if sees_observations(agent) else driver.env)
        if has_policies:
            driver = drive_env(live, seed)
        record = play_game(
            driver, seated, seed=seed, env=name, names=names, opening=opening, max_moves=max_moves,
            controls=controls, adjudication=verdicts,
        )  # fmt: skip
    if record.failure is not None and record.void:
        raise EnvironmentFailureError(record.failure.message, record)
    return record


def _by_seat(agents: Any, driver: EnvDriver, env: Any) -> list[Any]:
    seats = driver.seat_names
    described = f"{game_name(env)} has {len(seats)} {'seat' if len(seats) == 1 else 'seats'} ({', '.join(seats)})"
    if isinstance(agents, Mapping):
        given = {str(key): agent for key, agent in agents.items()}
        if given.keys() != set(seats):
            raise InvalidSettingError(f"{described}: name an agent for each of them, not for {', '.join(given)}")
        return [given[seat] for seat in seats]
    if isinstance(agents, str) or not isinstance(agents, Sequence):
        agents = [agents]
    if len(agents) != len(seats):
        raise InvalidSettingError(f"{described}: give as many agents, not {len(agents)}")
    return list(agents)


def agent_seeds(seed: int, seats: int) -> list[int]:
    """The seed of the agent in each seat, below 2**31 (NumPy's ``SeedSequence`` of the game's seed)."""
    return [int(word) >> 1 for word in np.random.SeedSequence(seed).generate_state(seats)]


def play_game(
    driver: EnvDriver,
    agents: Sequence[Agent],
    *,
    seed: int,
    env: str,
    names: Sequence[str],
    game_id: str = "",
    opening: Sequence[Any] = (),
    max_moves: int = MAX_MOVES,
    controls: Sequence[TimeControl] = (),
    adjudication: Adjudication | None = None,
    on_turn: Callable[[int], None] | None = None,
) -> GameRecord:
    """Plays a game that the driver has just reset; the record is void if the environment fails.

    ``on_turn`` is told the seat whenever an agent is about to run, and -1 when it is done: who watches from
    another process then knows whom to charge.
    """
    started, moves = time.perf_counter(), list[Move]()
    watch = on_turn or (lambda seat: None)
    end: EndReason | None = None
    failure, resigned, agreed = None, None, None
    clocks = SeatClocks(controls[0], len(controls), controls) if controls else None
    if any(isinstance(agent, SearchAgent) for agent in agents):
        driver.compare_with_copies()
    try:
        if (stopped := play_known(driver, opening)) is not None:
            ply, refusal = stopped
            what = f"plays {refusal}" if refusal else f"{tuple(opening)!r} goes on after the end"
            raise InvalidSettingError(f"the opening {what}, at ply {ply}")
        for seat, (agent, agent_seed) in enumerate(zip(agents, agent_seeds(seed, len(agents)), strict=True)):
            watch(seat)
            _get_ready(agent, seat, names[seat], agent_seed, driver)
            watch(-1)
        while (mover := driver.turn()) is not None:
            if len(moves) >= max_moves:
                end = EndReason.MOVE_LIMIT
                break
            try:
                moves.append(_one_move(driver, agents[mover], mover, names[mover], clocks, watch))
            except Resignation:
                end, resigned = EndReason.RESIGNATION, mover
                break
            if adjudication is not None and len(agents) == 2 and driver.turn() is not None:
                agreed = adjudication.rewards(moves)
            if agreed is not None:
                end = EndReason.ADJUDICATION
                break
    except AgentFault as fault:
        failure = Failure(fault.kind, fault.seat, fault.message, fault.detail)
    except EnvironmentFailureError as error:
        failure = Failure(FailureKind.ENVIRONMENT_ERROR, None, str(error), traceback_text(error.__cause__))
    finally:
        watch(-1)
        for agent in agents:
            if isinstance(agent, RemoteAgent):
                agent.rest()
    rewards = tuple(driver.rewards)
    if resigned is not None and len(agents) > 1:
        rewards = tuple(-1.0 if seat == resigned else 1.0 for seat in range(len(agents)))
    rewards = rewards if agreed is None else agreed
    return GameRecord(
        env=env,
        agents=tuple(names),
        seat_names=driver.seat_names,
        seed=seed,
        rewards=rewards,
        end=EndReason.FAILURE if failure is not None else end or driver.end_reason(),
        game_id=game_id,
        opening=tuple(plain(action) for action in opening),
        moves=tuple(moves),
        failure=failure,
        seconds=round(time.perf_counter() - started, 6),
        clocks=tuple(map(str, controls)),
        versions=versions(),
    )


def _get_ready(agent: Agent, seat: int, name: str, seed: int, driver: EnvDriver) -> None:
    try:
        if isinstance(agent, RemoteAgent):
            agent.get_ready(seed, driver.env, driver.view)
        else:
            agent.reset(seed)
    except BaseException as error:
        raise _charged(error, agent, driver.env, seat, name, "reset", FailureKind.INVALID_START) from error


def _one_move(
    driver: EnvDriver, agent: Agent, seat: int, name: str, clocks: SeatClocks | None, watch: Callable[[int], None]
) -> Move:
    driver.look()
    before = driver.fingerprint()
    watch(seat)
    shown = None if clocks is None else clocks.shown(seat)
    began = time.perf_counter()
    try:
        if shown is not None:
            tell_clock(agent, shown)
        action, figures = _ask(agent, driver)
        action = exact(action)
    except Resignation:
        raise
    except BaseException as error:
        raise _charged(error, agent, driver.env, seat, name, "act", FailureKind.CRASH) from error
    spent = agent.seconds if isinstance(agent, RemoteAgent) else time.perf_counter() - began
    watch(-1)
    if clocks is not None and shown is not None and not clocks.has_time(seat, spent):
        raise AgentFault(FailureKind.TIMEOUT, too_late(shown.own_left, shown), seat=seat)
    if driver.fingerprint() != before:
        message = "stepped or reset the environment that it was only shown"
        raise AgentFault(FailureKind.ENVIRONMENT_CHANGED, message, seat=seat)
    refusal = driver.refusal(action)
    if refusal is not None:
        raise AgentFault(FailureKind.ILLEGAL_ACTION, f"played {refusal}", seat=seat)
    played = plain(action)
    driver.step(played if type(played) is int else action)
    return Move(seat, played, round(spent, 6), *figures)


def _ask(agent: Any, driver: EnvDriver) -> tuple[Any, tuple[Any, ...]]:
    if sees_observations(agent):
        return agent.act_on(driver.view()), ()
    action, figures = choose(agent, driver.env)
    return action, agent.figures if isinstance(agent, RemoteAgent) else figures


def _charged(
    error: BaseException, agent: Agent, env: Any, seat: int, name: str, method: str, otherwise: FailureKind
) -> BaseException:
    """The exception that ends the game, or the run, after one that came out of an agent."""
    if isinstance(error, AgentFault):
        return AgentFault(error.kind, error.message, error.detail, seat)
    is_remote = isinstance(agent, RemoteAgent)
    if is_remote and isinstance(error, WorkerError | OSError):
        return error  # of this process, which has no memory, processes or files left: no agent is to blame
    # The game cannot be shown to the agent at all, or the agent says so before it begins.
    if isinstance(error, UnsupportedGameError) and (is_remote or method == "reset"):
        return UnsupportedGameError(f"{name} cannot play here: {error}")
    if ends_the_run(error):
        return error
    if is_of_the_env(error, agent, env):
        return EnvironmentFailureError(str(error))
    return AgentFault(fault_kind(error, otherwise), sentence(method, error), traceback_text(error), seat)
