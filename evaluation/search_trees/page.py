"""The page: one HTML file that holds all that it shows and asks nothing of any network."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Final

import msgspec

from zermelo.agents.tree_search.observer import NodeRole
from zermelo.evaluation.output.web_page import resource, web_page
from zermelo.evaluation.search_trees.model import SearchNode, SearchPass, SearchTree
from zermelo.evaluation.search_trees.names import number_text

_HERE: Final = "zermelo.evaluation.search_trees"
_SCRIPTS: Final = ("tree_model.js", "tree_canvas.js", "tree_page.js")
_POSITIONS_ROOM: Final = 600_000
"""Characters that all positions may have together; those of the deepest nodes are left out."""
_FIELDS: Final = [field.name for field in dataclasses.fields(SearchNode) if field.name != "level"]


def tree_page(tree: SearchTree) -> str:
    script = "".join(f"\n{resource(name, _HERE)}" for name in _SCRIPTS)
    one = tree.passes[tree.shown]
    player = tree.seats[tree.seat]
    whose = ", ".join(tree.seats) if any(node.role is NodeRole.OWN for node in one.nodes) else player
    summary = (
        f"{len(one.nodes):,} nodes, {one.steps:,} {'simulations' if tree.simulates else 'steps'}. It chose "
        f"{tree.answer}, worth {number_text(tree.value)} to {player}. Values are what {whose} can expect to be "
        f"paid{_between(tree.bounds)}."
    )
    return web_page(
        "tree.html", _HERE, style=resource("tree.css", _HERE), script=script, data=_data(tree),
        title=f"{tree.agent} on {tree.game}", summary=summary, notes=tree.notes,
    )  # fmt: skip


def _between(bounds: tuple[float, float]) -> str:
    lower, upper = bounds
    return f", between {number_text(lower)} and {number_text(upper)}" if math.isfinite(upper - lower) else ""


def _data(tree: SearchTree) -> Any:
    positions = _positions(tree)
    player = tree.seats[tree.seat]
    legend = {
        NodeRole.MAX: f"maximizes what {player} gets",
        NodeRole.MIN: f"minimizes what {player} gets",
        NodeRole.CHANCE: "averaged over: chance, or players that are taken to err",
        NodeRole.OWN: "each player maximizes its own value",
        NodeRole.END: "the game is over",
    }
    says = {NodeRole.MAX: " (maximizes)", NodeRole.MIN: " (minimizes)", NodeRole.OWN: " (its own value)"}
    data = {
        "seats": tree.seats, "seat": tree.seat, "bounds": tree.bounds, "shown": tree.shown, "says": says,
        "legend": legend, "positions": list(positions),
        "passes": [_pass(tree, one, positions) for one in tree.passes],
    }  # fmt: skip
    return msgspec.json.decode(msgspec.json.encode(data))


def _positions(tree: SearchTree) -> dict[str, int]:
    """Every different position, numbered; those nearest to the roots, as far as there is room."""
    numbers: dict[str, int] = {}
    room = _POSITIONS_ROOM
    for node in sorted((node for one in tree.passes for node in one.nodes), key=lambda node: node.level):
        if node.position and node.position not in numbers:
            room -= len(node.position)
            if room < 0:
                break
            numbers[node.position] = len(numbers)
    return numbers


def _pass(tree: SearchTree, one: SearchPass, positions: dict[str, int]) -> dict[str, Any]:
    at = _FIELDS.index("position")
    rows = [[getattr(node, name) for name in _FIELDS] for node in one.nodes]
    for row in rows:
        row[at] = positions.get(row[at], -1)
    return {
        "depth": None if one.outcomes else one.depth, "steps": one.steps, "kinds": one.kinds(),
        "best": sorted(tree.best_line(one)), "fields": _FIELDS, "nodes": rows, "outcomes": one.outcomes or None,
    }  # fmt: skip
