"""Many positions of one game searched at once: for those who label positions, or train on them.

Compiled searches hold no interpreter lock, so threads make them quicker; plain Python is no quicker for threads,
and gets just one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import local
from typing import Any, Final

from zermelo.agents.base.budget import StopFlag
from zermelo.agents.base.options import Compile
from zermelo.agents.base.requirements import require_decision
from zermelo.agents.base.result import SearchResult
from zermelo.agents.kernels.threads import number_of_threads
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent
from zermelo.agents.tree_search.choose import can_compile_alpha_beta
from zermelo.envs import GameOverError, InvalidSettingError
from zermelo.envs.position import position

_POLL: Final = 0.02


def search_many(
    game: Any,
    states: Iterable[Any],
    agent: AlphaBetaAgent | None = None,
    *,
    threads: int | None = None,
) -> list[SearchResult]:
    """Searches many states of one game by alpha-beta, each on its own, in as many threads as there are processors.

    The results, in the order of the states, do not depend on the number of threads (unless there is a limit in
    seconds): each state is searched by one thread, with an empty table. Ties are drawn for state number ``i`` from
    the agent's seed and ``i``. The settings are those of ``agent``, each thread with its ``memory_mb``; without
    one they are those of ``AlphaBetaAgent(memory_mb=1)``.

    Raises:
        UnsupportedGameError: Alpha-beta cannot search the game.
        GameOverError: There is nothing to decide in one of the states; the message says in which.
        InvalidSettingError: ``agent`` is another kind of agent.
    """
    agent = AlphaBetaAgent(memory_mb=1) if agent is None else agent
    if not isinstance(agent, AlphaBetaAgent):
        raise InvalidSettingError(f"search_many takes an AlphaBetaAgent, not agent={agent!r}")
    threads = number_of_threads(threads)
    stop = StopFlag()
    waiting = list(states)
    game = position(game).game
    agent.check_game(game)
    for number, state in enumerate(waiting):
        try:
            require_decision(game, state)
        except GameOverError as error:
            raise GameOverError(f"state number {number} of {len(waiting)} (from 0): {error}") from None

    own = local()

    def search(number: int) -> SearchResult:
        if not hasattr(own, "agent"):
            own.agent = dataclasses.replace(agent)
            own.agent.stop_by(stop)
        own.agent.reset(agent.seed + number)
        found: SearchResult = own.agent.search_state(game, waiting[number])
        return found

    compiles = agent.compile is not Compile.NEVER
    if threads == 1 or not (compiles and can_compile_alpha_beta(game, agent.evaluator, agent.stop_test)):
        return [search(number) for number in range(len(waiting))]
    with ThreadPoolExecutor(threads, thread_name_prefix="zermelo-batch") as pool:
        left = set(running := [pool.submit(search, number) for number in range(len(waiting))])
        try:
            while left:  # Ctrl-C is heeded between two waits
                done, left = wait(left, timeout=_POLL, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except BaseException:  # whatever goes wrong, or Ctrl-C, stops them all
            stop.is_set = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in running]
