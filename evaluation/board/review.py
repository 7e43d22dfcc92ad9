"""A game looked at afterwards: the value of each position by a search, and what the judge can prove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Final

from zermelo.agents import SearchResult, make_agent
from zermelo.agents.core.budget import StopFlag
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import CHANCE, InvalidSettingError, UnsupportedGameError, as_game
from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.spec_text import parse_spec
from zermelo.evaluation.analysis.judge import Judge
from zermelo.evaluation.analysis.judgement import EQUAL
from zermelo.evaluation.analysis.replay import Replayer
from zermelo.evaluation.match.readiness import require_fit
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.writing import finite
from zermelo.evaluation.output.positions.moves import move_text, states_of

_JUDGED: Final = 2_000
"""The judge's budget of nodes for the position after each move."""


def review(
    text: str, spec: str, seconds: float, flag: StopFlag, tell: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Searches every position of a game, and has the judge prove what it can."""
    record = GameRecord.from_json(text)
    players = tuple(f"{seat} ({name})" for seat, name in zip(record.seat_names, record.agents, strict=True))
    record = replace(record, agents=players)
    found = _Values(record, spec, seconds, flag, tell).of_all()
    return found | {"judged": _judged(record)}


class _Values:
    """The values of a game's positions, and what its moves cost by them."""

    def __init__(
        self, record: GameRecord, spec: str, seconds: float, flag: StopFlag, tell: Callable[[dict[str, Any]], None]
    ) -> None:
        agent = make_agent(spec)
        if not isinstance(agent, SearchAgent):
            raise InvalidSettingError(f"{spec} does not search: review with an agent that does, such as auto")
        names = {field.name for field in fields(agent)}
        settings: dict[str, Any] = {"exact": True}
        if not {"depth", "nodes", "simulations"} & parse_spec(spec).arguments.keys():
            settings["seconds"] = seconds
        self._agent = replace(agent, **{name: value for name, value in settings.items() if name in names})
        self._agent.stop_by(flag)
        self._spec, self._record, self._flag, self._tell = spec, record, flag, tell
        self._values: list[list[float | None]] = []
        self._losses: list[float | None] = []
        self._best: list[str | None] = []

    def of_all(self) -> dict[str, Any]:
        """Searches the positions one after another."""
        replayer = Replayer(trust=True)
        driver = replayer.start(self._record)
        driver.turn()
        require_fit(self._agent, driver.env, self._spec)
        game = as_game(driver.env)
        movers = []
        for seat, played in replayer.steps(self._record, driver):
            if self._flag.is_set:
                break
            action = codec_for(driver.env, getattr(driver.env, "agent_selection", None)).to_index(played)
            state = game.snapshot(driver.env)
            movers.append(seat)
            self._look(game, state, driver.env, seat, action)
            self._tell(self._so_far(movers))
        if driver.turn() is None:
            self._values.append([*map(finite, driver.rewards)])
        elif not self._flag.is_set:
            found = self._agent.search(driver.env)
            self._values.append([*map(finite, found.values_by_seat)])
        self._settle(movers)
        return self._so_far(movers)

    def _look(self, game: Any, state: Any, env: Any, seat: int, action: int) -> None:
        result = self._agent.search(env)
        self._values.append([*map(finite, result.values_by_seat)])
        known = result.action_values.get(action)
        best = result.value
        loss = None if known is None else max(best - known, 0.0)
        if action in result.best_actions or len(game.legal_actions(state)) < 2 or game.to_move(state) == CHANCE:
            loss = 0.0
        self._losses.append(loss)
        self._best.append(label_of(game, state, result.action))

    def _settle(self, movers: list[int]) -> None:
        """Fills in the value of a move that the search did not value, from the next position."""
        for place, seat in enumerate(movers):
            if self._losses[place] is None and place + 1 < len(self._values):
                before, after = self._values[place][seat], self._values[place + 1][seat]
                if before is not None and after is not None:
                    self._losses[place] = max(before - after, 0.0)

    def _so_far(self, movers: list[int]) -> dict[str, Any]:
        seats = []
        for seat, name in enumerate(self._record.agents):
            mine = [loss for mover, loss in zip(movers, self._losses, strict=True) if mover == seat]
            known = [loss for loss in mine if loss is not None]
            seats.append(
                {
                    "name": name,
                    "moves": len(mine),
                    "best": sum(loss <= EQUAL for loss in known),
                    "loss": sum(known) / len(known) if known else None,
                }
            )
        return {
            "values": [list(values) for values in self._values],
            "losses": list(self._losses),
            "best": list(self._best),
            "seats": seats,
            "total": len(self._record.actions),
        }


def _judged(record: GameRecord) -> dict[str, Any]:
    """The judge's verdicts on the game's moves; a sentence if it can prove nothing here."""
    judge = Judge(nodes=_JUDGED, trust=True)
    try:
        judge.add(record)
        table = judge.table()
    except UnsupportedGameError as error:
        return {"note": f"There is no perfect play to judge by: {error}.", "agents": []}
    if not any(line.total.judged for line in table.agents):
        return {"note": "Of no position could the judge prove the value of every move.", "agents": []}
    return table.to_dict() | {"note": " ".join(table.notes)}


def result_values(game: Any, state: Any, result: SearchResult) -> dict[str, Any]:
    """A result as plain values for the page, with moves as people write them."""
    line = result.principal_variation
    states = states_of(game, state, line)
    actions = [
        {
            "number": action,
            "label": label_of(game, state, action),
            "value": finite(value),
            "visits": int(result.visits.get(action, 0)),
        }
        for action, value in sorted(result.action_values.items(), key=lambda item: (-item[1], item[0]))
    ]
    return {
        "value": finite(result.value),
        "values": [finite(value) for value in result.values_by_seat],
        "best": result.action,
        "best_label": label_of(game, state, result.action),
        "actions": actions,
        "line": [label_of(game, *step) for step in zip(states, line, strict=True)],
        "depth": int(result.depth),
        "nodes": int(result.nodes),
        "seconds": float(result.seconds),
        "proven": bool(result.proven),
        "plies": result.plies,
        "method": result.method,
        "stopped": str(result.stopped_by),
    }


def label_of(game: Any, state: Any, action: int) -> str:
    """A move as people write it, or its number."""
    return move_text(game, state, action) or str(action)
