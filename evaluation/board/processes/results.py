"""Results of searches as plain values for the page."""

from __future__ import annotations

from typing import Any

from zermelo.agents import SearchResult
from zermelo.evaluation.match.writing import finite
from zermelo.evaluation.output.positions.moves import move_text, states_of


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
