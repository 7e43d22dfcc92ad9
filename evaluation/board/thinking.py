"""Inside a process that thinks for one game: chooses moves, analyses positions and reviews games.

Requests come from the server and are trusted; they are pickled pairs of a number and a job, or of a number and
None, which ends that job. Every job has a last answer, with ``done`` or ``failed``; before it there may be others.
"""

from __future__ import annotations

import pickle
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from zermelo.agents import SearchResult, make_agent
from zermelo.agents.base.budget import StopFlag
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs import ZermeloError, as_game
from zermelo.evaluation.board.review import result_values, review, searching
from zermelo.evaluation.match.faults import choose, sentence
from zermelo.evaluation.match.readiness import rehearse, require_fit
from zermelo.evaluation.workers.forked_process import read_frame, write_frame
from zermelo.evaluation.workers.shipping import pack_answer

Tell = Callable[[dict[str, Any]], None]
_SECONDS: Final = 60.0
"""The longest analysis of a position."""
_FIRST_SECONDS: Final = 0.25
"""An agent that says nothing on the way is asked again and again, each time for twice as long."""
_PAUSE: Final = 0.1
"""Seconds between two answers on the way."""


def main(requests: int, answers: int) -> None:
    """Does jobs until there are no more."""
    _Worker(requests, answers).work()


class _Worker:
    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._jobs: queue.Queue[tuple[int, dict[str, Any]] | None] = queue.Queue()
        self._flags: dict[int, StopFlag] = {}
        self._agents: dict[Any, Any] = {}

    def work(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        while (found := self._jobs.get()) is not None:
            number, job = found
            self._do(number, job)
            del self._flags[number]

    def _listen(self) -> None:
        while (frame := read_frame(self._requests)) is not None:
            number, job = pickle.loads(frame)
            if job is None:
                if (flag := self._flags.get(number)) is not None:  # the job may end at this moment
                    flag.is_set = True
                continue
            self._flags[number] = StopFlag()
            self._jobs.put((number, job))
        self._jobs.put(None)

    def _do(self, number: int, job: dict[str, Any]) -> None:
        def tell(answer: dict[str, Any]) -> None:
            write_frame(self._answers, pack_answer({"job": number} | answer))

        doing: Callable[[dict[str, Any], StopFlag, Tell], dict[str, Any]] = getattr(self, f"_{job['kind']}")
        try:
            answer = doing(job, self._flags[number], tell) | {"done": True}
        except ZermeloError as error:
            answer = {"failed": str(error)}
        except Exception as error:  # agents and environments may be anybody's
            answer = {"failed": sentence("the agent", error)}
        tell(answer)
        if "done" in answer and job.get("ponders"):
            agent = self._agent(job)
            if isinstance(agent, ConfiguredAgent):
                agent.ponder()

    def _agent(self, job: dict[str, Any]) -> Any:
        """The agent of a seat, which keeps what it remembers from move to move of one game."""
        key = job["agent"], job["seat"], job["game"]
        if key not in self._agents:
            self._agents = {known: agent for known, agent in self._agents.items() if known[2] == job["game"]}
            agent = self._agents[key] = make_agent(job["agent"])
            agent.reset(job["seed"])
        return self._agents[key]

    def _ready(self, job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
        """Compiles and loads what the agent's first move would have to wait for."""
        agent = self._agent(job)
        if getattr(agent, "needs", None) != "observation":
            rehearse(agent, pickle.loads(job["env"]))
        return {}

    def _move(self, job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
        agent, started = self._agent(job), time.perf_counter()
        if getattr(agent, "needs", None) == "observation":
            action, figures = agent.act_on(pickle.loads(job["view"])), ()
        else:
            env = pickle.loads(job["env"])
            if isinstance(agent, SearchAgent):
                agent.stop_by(flag)
            action, figures = choose(agent, env)
        return {"action": action, "figures": figures, "seconds": time.perf_counter() - started}

    def _rest(self, job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
        for agent in self._agents.values():
            if isinstance(agent, ConfiguredAgent):
                agent.stop_pondering()
        return {}

    def _analyse(self, job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
        """The results of a search of a position, while it goes on."""
        env = pickle.loads(job["env"])
        seconds = min(float(job.get("seconds") or _SECONDS), _SECONDS)
        last = [0.0]

        def report(result: SearchResult) -> bool:
            now = time.perf_counter()
            if now - last[0] >= _PAUSE:
                last[0] = now
                tell(result_values(game, state, result))
            return not flag.is_set

        settings = {"exact": True, "seconds": seconds, "on_iteration": report}
        searcher = searching(job["agent"], "analyse", settings)
        require_fit(searcher, env, job["agent"])
        game = as_game(env)
        state = game.snapshot(env)
        searcher.stop_by(flag)
        spent = _FIRST_SECONDS
        while hasattr(searcher, "seconds") and not hasattr(searcher, "on_iteration") and 2 * spent < seconds:
            if flag.is_set:
                break
            quick = replace(searcher, seconds=spent)
            quick.stop_by(flag)
            report(quick.search(env))
            spent *= 2
        return result_values(game, state, searcher.search(env))

    def _review(self, job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
        """The values of a game's positions, and how good its moves were."""
        return review(job["record"], job["agent"], float(job["seconds"]), flag, tell)
