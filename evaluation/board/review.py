"""A game looked at afterwards: the value of each position by a search, and what the judge can prove."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from zermelo.agents import SearchResult, make_agent
from zermelo.agents.base.budget import StopFlag
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs import CHANCE, InvalidSettingError, UnsupportedGameError, as_game
from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.support.spec_text import parse_spec
from zermelo.evaluation.analysis.judge import judge
from zermelo.evaluation.analysis.judgement import EQUAL
from zermelo.evaluation.match.readiness import require_fit
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.replay import Replayer
from zermelo.evaluation.match.text import finite
from zermelo.evaluation.positions.moves import move_text, states_of

_JUDGED: Final = 2_000
"""The judge's budget of nodes for the position after each move."""


def review(
    text: str, spec: str, seconds: float, flag: StopFlag, tell: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Searches every position of a game, says what its moves cost, and has the judge prove what it can."""
    record = GameRecord.from_json(text)
    players = tuple(f"{seat} ({name})" for seat, name in zip(record.seat_names, record.agents, strict=True))
    record, replayer = replace(record, agents=players), Replayer(trust=True)
    settings: dict[str, Any] = {"exact": True}
    if not {"depth", "nodes", "simulations"} & parse_spec(spec).arguments.keys():
        settings["seconds"] = seconds
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
            known = [loss for loss in mine if loss is not None]
            found = {"name": name, "moves": len(mine), "best": sum(loss <= EQUAL for loss in known)}
            seats.append(found | {"loss": sum(known) / len(known) if known else None})
        return {"values": values[:], "losses": losses[:], "seats": seats, "total": len(record.actions)}

    for seat, played in replayer.steps(record, driver):
        if flag.is_set:
            break
        action = codec_for(driver.env, getattr(driver.env, "agent_selection", None)).to_index(played)
        state, result = game.snapshot(driver.env), searcher.search(driver.env)
        known = result.action_values.get(action)
        loss = None if known is None else max(result.value - known, 0.0)
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
    """An agent that searches, with those of the settings that it has."""
    agent: Any = make_agent(spec)
    if not isinstance(agent, SearchAgent):
        raise InvalidSettingError(f"{spec} does not search: {what} with an agent that does, such as auto")
    known = {field.name for field in fields(agent)} if is_dataclass(agent) else set()
    return replace(agent, **{name: value for name, value in settings.items() if name in known})


def _judged(record: GameRecord) -> dict[str, Any]:
    """The judge's verdicts on the game's moves; a sentence if it can prove nothing here."""
    try:
        table = judge([record], nodes=_JUDGED, trust=True)
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
        "actions": actions,
        "line": [label_of(game, *step) for step in zip(states, line, strict=True)],
        "depth": int(result.depth),
        "nodes": int(result.nodes),
        "seconds": float(result.seconds),
        "proven": bool(result.proven),
        "plies": result.plies,
    }


def label_of(game: Any, state: Any, action: int) -> str:
    """A move as people write it, or its number."""
    return move_text(game, state, action) or str(action)
