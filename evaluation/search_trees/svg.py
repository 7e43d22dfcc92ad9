"""A tree as SVG for papers, as in Russell and Norvig's textbook: players' nodes are triangles, chance is a circle.

In max^n a node bears the player's letter. A wide tree is drawn sideways: the root at the left.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from zermelo.agents.tree_search.observer import NodeRole
from zermelo.evaluation.search_trees.model import SearchNode, SearchPass, SearchTree, Source, at_step
from zermelo.evaluation.search_trees.names import known_text, number_text, vector_text

_SIZE: Final = 11.0  # half the width of a triangle
_SMALL_SIZE: Final = 7.0  # the same in a tree that is drawn sideways
_LETTER: Final = 6.4
_SMALL: Final = 5.4  # the usual width of a letter in either size
_WIDE_LETTER: Final = 7.3
_WIDE_SMALL: Final = 5.9  # the same in a wide font, where text must not touch text
_LEVELS: Final = (74.0, 110.0)  # limits of the distance between levels
_LINE: Final = 18.0
_FAN: Final = 48.0  # in a tree that is drawn sideways: the height of a leaf, and the room for edges
_WIDEST: Final = 720.0  # the width from which a tree is drawn sideways
_GAP: Final = 14.0
_MARGIN: Final = 14.0
_ALONG: Final = 0.72  # how far down an edge its label stands
_FEW: Final = 4  # up to so many actions that were cut off are drawn one by one
_FORBIDDEN: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT: Final = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(slots=True)
class DrawnNode:
    """A node, or (without ``node``) actions that are none, with what hangs below it."""

    left: float  # how far it reaches from its place
    right: float
    children: list[DrawnNode] = field(default_factory=list)
    node: SearchNode | None = None
    edge: str = ""  # the text at the edge that leads to it
    value: str = ""  # beside it
    below: str = ""  # in small letters
    is_cut: bool = False
    is_best: bool = False
    is_now: bool = False
    x: float = 0.0
    y: float = 0.0
    level: int = 0

    def all(self) -> list[DrawnNode]:
        nodes = [self]
        for part in nodes:
            nodes += part.children
        return nodes

    @property
    def before(self) -> float:
        """How far it reaches to the left in a tree that is drawn sideways."""
        return len(self.edge) * _WIDE_SMALL + _SMALL_SIZE + 3

    @property
    def behind(self) -> float:
        """How far it reaches to the right in a tree that is drawn sideways."""
        return _SMALL_SIZE + len(self.value) * _WIDE_LETTER + len(self.below) * _WIDE_SMALL + 14


def tree_svg(tree: SearchTree, step: int | None = None) -> str:
    one = tree.passes[tree.shown]
    root = _parts(tree, one, step)
    parts = root.all()
    width = lay_out(root, _GAP)
    labels = _level_labels(tree, parts)
    start = max((len(label) * _LETTER + 16 for label in labels.values()), default=0.0) + _MARGIN
    total, columns = start + width + _MARGIN, _columns(parts)
    if is_sideways := total > max(_WIDEST, columns[-1]):
        total, height = columns[-1] + _MARGIN, _stack(root, parts, columns)
    else:
        lowest, highest = _LEVELS
        space = min(max(lowest, total / 2.2 / max(len(columns) - 2, 1)), highest)
        height = (len(columns) - 2) * space + 2 * _MARGIN + 3 * _SIZE
        for part in parts:
            part.x, part.y = start + part.x, _MARGIN + _SIZE + part.level * space
    title = _plain(f"{tree.agent} on {tree.game}, values for {tree.seats[tree.seat]}")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {total:.0f} {height:.0f}" font-family={quoteattr(_FONT)} font-size="12" role="img" '
        f"aria-label={quoteattr(title)}>",
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_level_lines(labels, parts, is_sideways),
        *(line for part in parts for child in part.children for line in _edge(part, child, is_sideways)),
        *(line for part in parts if part.node is not None for line in _node(part, part.node, is_sideways)),
    ]
    return "\n".join([*lines, "</svg>\n"])


def _plain(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)


# -- what is drawn -----------------------------------------------------------------------------------------------


def _parts(tree: SearchTree, one: SearchPass, step: int | None) -> DrawnNode:
    at = one.steps if step is None else step
    best = tree.best_line(one) if step is None else set()
    now = one.kinds()[at - 1][1] if step else -1
    made = []
    for number, node in enumerate(one.nodes):
        made.append(part := _part(edge_text(node), *_texts(tree, one, node, at), node))
        part.is_best, part.is_now = number in best, number == now
        if node.parent >= 0 and node.entered <= at:
            made[node.parent].children.append(part)
    for part, node in zip(made, one.nodes, strict=True):
        if node.cut is not None and node.cut.step <= at:
            left = node.cut.not_searched
            for edge in left if len(left) <= _FEW else (f"{len(left)} more",):
                part.children.append(cut := _part(edge))
                cut.is_cut = True
        if node.hidden:
            part.children.append(_part(f"+{node.hidden:,}"))
    return made[0]


def _part(edge: str, value: str = "", below: str = "", node: SearchNode | None = None) -> DrawnNode:
    label = len(edge) * _WIDE_SMALL / (2 * _ALONG) + 2
    text = max(len(value) * _LETTER, len(below) * _SMALL)
    left, right = max(_SIZE, label), max(_SIZE + 3 + text, label)
    if node is not None and node.role is NodeRole.END:  # the text stands below it
        left = right = max(label, text / 2)
    return DrawnNode(left, right, node=node, edge=edge, value=value, below=below)


def _texts(tree: SearchTree, one: SearchPass, node: SearchNode, at: int) -> tuple[str, str]:
    """The value of a node at a step, and a smaller line: visits, the window or the source of the value."""
    if tree.simulates:
        visits, mean = node.visits_at(at), one.mean_at(node, at)
        value = number_text(mean[0]) if len(mean) == 1 else vector_text(mean)
        return value, f"{visits:,} visit{'s' if visits > 1 else ''}"
    vector = at_step(node.vectors, at)
    value = known_text(at_step(node.known, at), tree.bounds) if vector is None else vector_text(vector.values)
    if node.source in (Source.TABLE, Source.EVALUATION):
        return value, node.source.value
    window = at_step(node.windows, at)
    if window is None or node.role is NodeRole.END or (window.low == -math.inf and window.high == math.inf):
        return value, ""
    if node.role is not NodeRole.OWN:
        alpha, beta = "\N{GREEK SMALL LETTER ALPHA}", "\N{GREEK SMALL LETTER BETA}"
        return value, f"{alpha} {number_text(window.low)}, {beta} {number_text(window.high)}"
    # In max^n, what the player who moved there can already get elsewhere.
    seat = one.nodes[node.parent].seat if node.parent >= 0 else None
    return value, "" if seat is None else f"{tree.seats[seat]} has {number_text(window.low)}"


def edge_text(node: SearchNode) -> str:
    if node.chance == 1.0:
        return node.move
    probability = f"{node.chance:.3g}"
    return probability if node.move in ("", probability) else f"{node.move}: {probability}"


def _level_labels(tree: SearchTree, parts: list[DrawnNode]) -> dict[int, str]:
    """The player to move at each level, if all its nodes have the same."""
    labels: dict[int, set[str]] = {}
    for part in parts:
        if part.node is not None and part.node.role is not NodeRole.END:
            nobody = "CHANCE" if part.node.role is NodeRole.CHANCE else ""
            name = nobody if part.node.seat is None else tree.seats[part.node.seat]
            labels.setdefault(part.level, set()).add(name)
    return {level: names.pop() for level, names in labels.items() if len(names) == 1}


def lay_out(root: DrawnNode, gap: float) -> float:
    """Places subtrees side by side, and parents above the middle of their children; returns the width."""
    parts = root.all()
    reaches: dict[int, tuple[float, float]] = {}
    for part in reversed(parts):  # x is relative to the parent until all are known
        right = -gap
        for child in part.children:
            reach = reaches.pop(id(child))
            child.x = right + gap + reach[0]
            right = child.x + reach[1]
        middle = (part.children[0].x + part.children[-1].x) / 2 if part.children else 0.0
        for child in part.children:
            child.x -= middle
        reaches[id(part)] = max(part.left, middle), max(part.right, right - middle)
    root.x, right = reaches[id(root)]
    for part in parts:
        for child in part.children:
            child.x, child.level = child.x + part.x, part.level + 1
    return root.x + right


def _columns(parts: list[DrawnNode]) -> list[float]:
    columns, right = [], _MARGIN - _FAN
    for level in range(max(part.level for part in parts) + 1):
        column = [part for part in parts if part.level == level]
        columns.append(right + _FAN + max(part.before for part in column))
        right = columns[-1] + max(part.behind for part in column)
    return [*columns, right]


def _stack(root: DrawnNode, parts: list[DrawnNode], columns: list[float]) -> float:
    """Places the parts of a tree that grows to the right, leaves from top to bottom; returns the height."""
    leaves, waiting = 0, [root]
    while waiting:
        part = waiting.pop()
        part.x, part.y = columns[part.level], 3 * _MARGIN + leaves * _LINE
        waiting += reversed(part.children)
        leaves += not part.children
    for part in reversed(parts):
        if part.children:
            part.y = (part.children[0].y + part.children[-1].y) / 2
    return 3.5 * _MARGIN + leaves * _LINE


def _level_lines(labels: dict[int, str], parts: list[DrawnNode], is_sideways: bool) -> Iterator[str]:
    for level, label in labels.items():
        part = next(part for part in parts if part.level == level)
        if is_sideways:
            yield _text(part.x, _MARGIN + 4, label, anchor="middle" if level else "start", fill="#555")
        else:
            yield _text(_MARGIN, part.y + 4, label, fill="#555")


def _edge(part: DrawnNode, child: DrawnNode, is_sideways: bool) -> Iterator[str]:
    x, y, to_x, to_y = part.x, part.y + _SIZE, child.x, child.y - _SIZE
    if is_sideways:
        x, y, to_x, to_y = part.x + part.behind, part.y, child.x - child.before - 4, child.y
    style = 'stroke="#000" stroke-width="2.4"' if child.is_best else 'stroke="#666" stroke-width="1"'
    if child.node is None:
        style = 'stroke="#888" stroke-width="1" stroke-dasharray="3 3"'
    yield f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" {style}/>'
    if child.is_cut:
        yield _crossed((x + to_x) / 2, (y + to_y) / 2, to_x - x, to_y - y)
    if is_sideways:
        yield _text(to_x + 2, to_y + 3.5, child.edge, 10, fill="#333")
    elif child.node is None:
        yield _text(to_x, to_y + 11, child.edge, 10, "middle", "#555")
    elif child.edge:  # over the edge, with a margin that hides it
        x, y = x + (to_x - x) * _ALONG, y + (to_y - y) * _ALONG + 3
        halo = ' stroke="#fff" stroke-width="3" paint-order="stroke"'
        yield _text(x, y, child.edge, 10, "middle", "#333", halo)


def _crossed(x: float, y: float, dx: float, dy: float) -> str:
    length = max(math.hypot(dx, dy), 1.0)
    across_x, across_y, along_x, along_y = -dy / length * 5, dx / length * 5, dx / length * 2, dy / length * 2
    strokes = (
        f"M{x + s * along_x - across_x:.1f} {y + s * along_y - across_y:.1f}"
        f"L{x + s * along_x + across_x:.1f} {y + s * along_y + across_y:.1f}"
        for s in (-1, 1)
    )
    return f'<path d="{"".join(strokes)}" stroke="#000" stroke-width="1.2" fill="none"/>'


def _node(part: DrawnNode, node: SearchNode, is_sideways: bool) -> Iterator[str]:
    x, y, size = part.x, part.y, _SMALL_SIZE if is_sideways else _SIZE
    hangs = node.role is NodeRole.END and not is_sideways  # from its edge, and its text below it
    pen = f'stroke="#000" stroke-width="{2.6 if part.is_now else 1.2}"'
    if node.role is NodeRole.MAX:
        yield f'<path d="M{x:.1f} {y - size:.1f}l{size} {2 * size}h{-2 * size}z" fill="#fff" {pen}/>'
    elif node.role is NodeRole.MIN:
        yield f'<path d="M{x:.1f} {y + size:.1f}l{size} {-2 * size}h{-2 * size}z" fill="#ddd" {pen}/>'
    elif node.role is NodeRole.END:
        top = y - size if hangs else y - 4
        yield f'<rect x="{x - 4:.1f}" y="{top:.1f}" width="8" height="8" fill="#444" {pen}/>'
    else:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="#fff" {pen}/>'
    if node.role is NodeRole.OWN or (node.name and node.role is not NodeRole.END):
        lower = {NodeRole.MAX: 6, NodeRole.MIN: 1}.get(node.role, 4)
        yield _text(x, y + lower, node.name or chr(ord("A") + (node.seat or 0) % 26), 9, "middle")
    left, down, anchor = (x, y + size + 2, "middle") if hangs else (x + size + 3, y, "start")
    if part.value:
        yield _text(left, down + (1 if part.below and not is_sideways else 4), part.value, anchor=anchor)
    if part.below and is_sideways:
        yield _text(left + len(part.value) * _WIDE_LETTER + 5, down + 3.5, part.below, 10, fill="#555")
    elif part.below:
        yield _text(left, down + 12, part.below, 10, anchor, "#555")


def _text(
    x: float, y: float, text: str, size: float = 12, anchor: str = "start", fill: str = "#000", more: str = ""
) -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    font = "" if size == 12 else f' font-size="{size:g}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{font}{place} fill="{fill}"{more}>{escape(_plain(text))}</text>'
