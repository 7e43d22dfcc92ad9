"""Inside the process of one game's jobs: chooses moves, analyses positions and reviews games.

Requests are pickled pairs of a number and a job, or of a number and None, which ends that job. Every job has a
last answer, with ``done`` or ``failed``. One with ``waits`` says what is done before the search, such as
compiling.
"""

from __future__ import annotations

import pickle
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from zermelo.agents.agent import sees_observations
from zermelo.agents.base.budget import StopFlag
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.result import SearchResult
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.specs import make_agent
from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError, ZermeloError
from zermelo.envs.game import CHANCE
from zermelo.envs.support.spec_text import parse_spec
from zermelo.envs.support.waiting import listening
from zermelo.evaluation.analysis.judge import judge
from zermelo.evaluation.analysis.judgement import EQUAL
from zermelo.evaluation.match.faults import choose, sentence, tell_clock
from zermelo.evaluation.match.readiness import rehearse, require_fit
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.replay import Replayer
from zermelo.evaluation.match.text import finite
from zermelo.evaluation.positions.moves import move_text, states_of
from zermelo.evaluation.workers.forked_process import read_frame, write_frame
from zermelo.evaluation.workers.shipping import pack_answer

_JUDGED: Final = 2_000  # the judge's budget of nodes for the position after each move of a game
Tell = Callable[[dict[str, Any]], None]


def review(job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
    """Searches every position of a game, says what its moves cost, and has the judge prove what it can."""
    record, spec = GameRecord.from_json(job["record"]), job["agent"]
    players = tuple(f"{seat} ({name})" for seat, name in zip(record.seat_names, record.agents, strict=True))
    record, replayer = replace(record, agents=players), Replayer(trust=True)
    settings: dict[str, Any] = {"exact": True}
    if not {"depth", "nodes", "simulations"} & parse_spec(spec).arguments.keys():
        settings["seconds"] = float(job["seconds"])
    searcher = searching(spec, "review", settings)
    searcher.stop_by(flag)
    driver = replayer.start(record)
    driver.turn()
    require_fit(searcher, driver.env, spec)
    game = as_game(driver.env)
    movers = list[int]()
    values = list[list[float | None]]()
    losses = list[float | None]()

    def so_far() -> dict[str, Any]:
        seats = []
        for seat, name in enumerate(players):
            mine = [loss for mover, loss in zip(movers, losses, strict=True) if mover == seat]
            valued = [loss for loss in mine if loss is not None]
            about = {"name": name, "moves": len(mine), "best": sum(loss <= EQUAL for loss in valued)}
            seats.append(about | {"loss": sum(valued) / len(valued) if valued else None})
        return {"values": values[:], "losses": losses[:], "seats": seats, "total": len(record.actions)}

    for seat, played in replayer.steps(record, driver):
        if flag.is_set:
            break
        action = codec_for(driver.env).to_index(played)
        state, result = game.snapshot(driver.env), searcher.search(driver.env)
        valued = result.action_values.get(action)
        loss = None if valued is None else max(result.value - valued, 0.0)
        if action in result.best_actions or len(game.legal_actions(state)) < 2 or game.to_move(state) == CHANCE:
            loss = 0.0
        movers.append(seat)
        values.append([*map(finite, result.values_by_seat)])
        losses.append(loss)
        tell(so_far())
    if driver.turn() is None:
        values.append([*map(finite, driver.rewards)])
    elif not flag.is_set:
        values.append([*map(finite, searcher.search(driver.env).values_by_seat)])
    for place, seat in enumerate(movers[: len(values) - 1]):  # what no search has valued, by the next position
        before, after = values[place][seat], values[place + 1][seat]
        if losses[place] is None and before is not None and after is not None:
            losses[place] = max(before - after, 0.0)
    return so_far() | {"judged": _judged(record)}


def searching(spec: str, what: str, settings: Mapping[str, Any]) -> Any:
    agent: Any = make_agent(spec)
    if not isinstance(agent, SearchAgent):
        raise InvalidSettingError(f"{spec} does not search: {what} with an agent that does, such as auto")
    names = {field.name for field in fields(agent)} if is_dataclass(agent) else set()
    return replace(agent, **{name: value for name, value in settings.items() if name in names})


def _judged(record: GameRecord) -> dict[str, Any]:
    try:
        table = judge([record], nodes=_JUDGED, trust=True)
    except UnsupportedGameError as error:
        return {"note": f"There is no perfect play to judge by: {error}.", "agents": []}
    if not any(line.total.judged for line in table.agents):
        return {"note": "Of no position could the judge prove the value of every move.", "agents": []}
    return table.to_dict() | {"note": " ".join(table.notes)}


def result_values(game: Any, state: Any, result: SearchResult) -> dict[str, Any]:
    line = result.principal_variation
    states = states_of(game, state, line)
    actions = []
    for action, value in sorted(result.action_values.items(), key=lambda item: (-item[1], item[0])):
        visits, label = int(result.visits.get(action, 0)), label_of(game, state, action)
        actions.append({"number": action, "label": label, "value": finite(value), "visits": visits})
    return {
        "value": finite(result.value), "values": [*map(finite, result.values_by_seat)], "best": result.action,
        "actions": actions, "line": [label_of(game, *step) for step in zip(states, line, strict=True)],
        "depth": int(result.depth), "nodes": int(result.nodes), "seconds": float(result.seconds),
        "proven": bool(result.proven), "plies": result.plies,
    }  # fmt: skip


def label_of(game: Any, state: Any, action: int) -> str:
    return move_text(game, state, action) or str(action)


_SECONDS: Final = 60.0  # the longest analysis of a position
_FIRST_SECONDS: Final = 0.25  # for an agent that says nothing on the way; then twice as long, and so on
_PAUSE: Final = 0.1  # seconds between two answers on the way


class _JobLoop:
    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._jobs: queue.Queue[tuple[int, dict[str, Any]] | None] = queue.Queue()
        self._flags: dict[int, StopFlag] = {}
        self._agents: dict[Any, Any] = {}
        self._telling = threading.Lock()
        self._kinds: dict[str, Callable[[dict[str, Any], StopFlag, Tell], dict[str, Any]]] = {
            "ready": self._ready, "move": self._move, "rest": self._rest, "analyse": self._analyse,
            "review": review,
        }  # fmt: skip

    def work(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        while (request := self._jobs.get()) is not None:
            number, job = request
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
            with self._telling:  # the compiler has a thread of its own
                write_frame(self._answers, pack_answer({"job": number} | answer))

        try:
            with listening(lambda text: tell({"waits": text})):
                answer = self._kinds[job["kind"]](job, self._flags[number], tell) | {"done": True}
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
        key = job["agent"], job["seat"], job["game"]
        if key not in self._agents:
            self._agents = {key: agent for key, agent in self._agents.items() if key[2] == job["game"]}
            agent = self._agents[key] = make_agent(job["agent"])
            agent.reset(job["seed"])
        return self._agents[key]

    def _ready(self, job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
        agent = self._agent(job)
        if not sees_observations(agent):
            rehearse(agent, pickle.loads(job["env"]))
        return {}

    def _move(self, job: dict[str, Any], flag: StopFlag, tell: Tell) -> dict[str, Any]:
        agent, started = self._agent(job), time.perf_counter()
        if (clock := job.get("clock")) is not None:
            tell_clock(agent, clock)
        if sees_observations(agent):
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
        is_silent = hasattr(searcher, "seconds") and not hasattr(searcher, "on_iteration")
        spent = _FIRST_SECONDS
        while is_silent and 2 * spent < seconds and not flag.is_set:
            quick = replace(searcher, seconds=spent)
            quick.stop_by(flag)
            report(quick.search(env))
            spent *= 2
        return result_values(game, state, searcher.search(env))


def main(requests: int, answers: int) -> None:
    _JobLoop(requests, answers).work()
