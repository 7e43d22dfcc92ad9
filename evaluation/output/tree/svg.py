"""A tree as SVG for papers: text stays text, and everything can be printed in grey.

Players' nodes are triangles that point up for who maximizes and down for who minimizes, chance is a circle, as in
Russell and Norvig's textbook; in max^n a node bears the player's letter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar
from xml.sax.saxutils import escape, quoteattr

from zermelo.agents.search.observer import NodeRole
from zermelo.evaluation.output.tree.model import SearchNode, SearchPass, SearchTree, Source, Span
from zermelo.evaluation.output.tree.names import known_text, number_text, vector_text

_SIZE: Final = 11.0
"""Half the width of a triangle."""
_LETTER: Final = 6.4
_SMALL: Final = 5.4
"""The usual width of a letter in either size."""
_WIDE_LETTER: Final = 7.3
_WIDE_SMALL: Final = 5.9
"""The same in a wide font, where text must not touch text."""
_LEVEL: Final = 74.0
_HIGHEST: Final = 110.0
"""Between levels: at least, and at most, in a figure that would be flat otherwise."""
_LINE: Final = 18.0
_FAN: Final = 48.0
_SMALL_SIZE: Final = 7.0
"""Of a tree that is drawn sideways: the height of a leaf, room for edges, half the width of a node."""
_WIDEST: Final = 720.0
"""A wider tree is drawn sideways: the root at the left, each leaf in a line of its own."""
_GAP: Final = 14.0
_MARGIN: Final = 14.0
_ALONG: Final = 0.72
"""How far down an edge its label stands."""
_FEW: Final = 4
"""Up to so many actions that were cut off are drawn one by one."""
_FORBIDDEN: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT: Final = "Helvetica, Arial, 'Liberation Sans', sans-serif"


class _Drawn(NamedTuple):
    """A drawn part: a node, or actions that are none."""

    number: int
    edge: str
    value: str = ""
    below: str = ""
    """A smaller line under the value."""
    is_cut: bool = False


def tree_svg(tree: SearchTree, step: int | None = None) -> str:
    """The search that is shown as SVG."""
    one = tree.passes[tree.shown]
    at = one.steps if step is None else step
    root = _parts(tree, one, at)
    width = lay_out(root, _GAP)
    parts = root.all()
    labels = _level_labels(tree, one, parts)
    best = set() if step is not None else tree.best_line(one)
    now = one.kinds()[at - 1][1] if step else -1
    start = max((len(label) * _LETTER + 16 for label in labels.values()), default=0.0) + _MARGIN
    levels = max(part.level for part in parts)
    total, columns = start + width + _MARGIN, _columns(parts)
    if is_sideways := total > max(_WIDEST, columns[-1]):
        total, height = columns[-1] + _MARGIN, _stack(root, parts, columns)
    else:
        space = min(max(_LEVEL, total / 2.2 / max(levels, 1)), _HIGHEST)
        height = levels * space + 2 * _MARGIN + 3 * _SIZE
        for part in parts:
            part.x, part.y = start + part.x, _MARGIN + _SIZE + part.level * space
    body = [
        *_level_lines(labels, parts, is_sideways),
        *_edges(parts, best, is_sideways),
        *_nodes(one, parts, now, is_sideways),
    ]
    title = f"{tree.agent} on {tree.game}, values for {tree.seats[tree.seat]}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {total:.0f} {height:.0f}" font-family={quoteattr(_FONT)} font-size="12" role="img" '
            f"aria-label={quoteattr(_plain(title))}>",
            f"<title>{escape(_plain(title))}</title>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *body,
            "</svg>",
            "",
        ]
    )


def _plain(text: str) -> str:
    """Text without characters that XML forbids."""
    return _FORBIDDEN.sub("\ufffd", text)


# -- what is drawn -----------------------------------------------------------------------------------------------


def _parts(tree: SearchTree, one: SearchPass, at: int) -> Part[_Drawn]:
    """The tree of what is drawn."""
    made = [
        _part(_drawn(tree, one, number, at), node.role is NodeRole.END) for number, node in enumerate(one.nodes)
    ]
    for number, node in enumerate(one.nodes):
        if node.parent >= 0 and node.entered <= at:
            made[node.parent].children.append(made[number])
    for number, node in enumerate(one.nodes):
        if node.cut is not None and node.cut.step <= at:
            shown = node.cut.not_searched
            edges = shown if len(shown) <= _FEW else (f"{len(shown)} more",)
            made[number].children += [_part(_Drawn(-1, edge, is_cut=True)) for edge in edges]
        if node.hidden:
            made[number].children.append(_part(_Drawn(-1, f"+{node.hidden:,}")))
    return made[0]


def _drawn(tree: SearchTree, one: SearchPass, number: int, at: int) -> _Drawn:
    node = one.nodes[number]
    edge = edge_text(node)
    if tree.simulates:
        visits, mean = node.visits_at(at), one.mean_at(node, at)
        value = number_text(mean[0]) if len(mean) == 1 else vector_text(mean)
        return _Drawn(number, edge, value, f"{visits:,} visit{'s' if visits > 1 else ''}")
    values = node.values_at(at)
    value = vector_text(values) if values else known_text(node.known_at(at), tree.bounds)
    window = node.window_at(at)
    below = ""
    if window is not None and node.role is not NodeRole.END and (window.low > -math.inf or window.high < math.inf):
        below = window_text(window.low, window.high)
        if node.role is NodeRole.OWN:
            below = _elsewhere(tree, one, node, window)
    if node.source in (Source.TABLE, Source.EVALUATION):
        below = node.source.value
    return _Drawn(number, edge, value, below)


def _elsewhere(tree: SearchTree, one: SearchPass, node: SearchNode, window: Span) -> str:
    """In max^n, what the player who moved to a node can already get elsewhere."""
    seat = one.nodes[node.parent].seat if node.parent >= 0 else None
    return "" if seat is None else f"{tree.seats[seat]} has {number_text(window.low)}"


def edge_text(node: SearchNode) -> str:
    """The move that leads to a node, or the outcome with its probability."""
    if node.chance == 1.0:
        return node.move
    probability = f"{node.chance:.3g}"
    return probability if node.move in ("", probability) else f"{node.move}: {probability}"


def window_text(low: float, high: float) -> str:
    """Alpha and beta."""
    return f"\N{GREEK SMALL LETTER ALPHA} {number_text(low)}, \N{GREEK SMALL LETTER BETA} {number_text(high)}"


def _part(drawn: _Drawn, is_end: bool = False) -> Part[_Drawn]:
    label = len(drawn.edge) * _WIDE_SMALL / (2 * _ALONG) + 2
    text = max(len(drawn.value) * _LETTER, len(drawn.below) * _SMALL)
    if is_end:  # the text stands below it
        half = max(label, text / 2)
        return Part(drawn, half, half)
    return Part(drawn, max(_SIZE, label), max(_SIZE + 3 + text, label))


# -- shapes ------------------------------------------------------------------------------------------------------


def _level_labels(tree: SearchTree, one: SearchPass, parts: Sequence[Part[_Drawn]]) -> dict[int, str]:
    """The player to move at each level, if all its nodes have the same."""
    found: dict[int, set[str]] = {}
    for part in parts:
        if part.what.number >= 0 and one.nodes[part.what.number].role is not NodeRole.END:
            found.setdefault(part.level, set()).add(role_name(tree, one.nodes[part.what.number]))
    return {level: names.pop() for level, names in found.items() if len(names) == 1}


def role_name(tree: SearchTree, node: SearchNode) -> str:
    """The player that decides at a node: the seat's name, or chance."""
    if node.role is NodeRole.CHANCE:
        return "CHANCE" if node.seat is None else tree.seats[node.seat]
    return "" if node.seat is None else tree.seats[node.seat]


def _columns(parts: Sequence[Part[_Drawn]]) -> list[float]:
    """Where each level stands in a tree that grows to the right, and where the last one ends."""
    found, right = [], _MARGIN - _FAN
    for level in range(max(part.level for part in parts) + 1):
        column = [part for part in parts if part.level == level]
        found.append(right + _FAN + max(map(_before, column)))
        right = found[-1] + max(map(_behind, column))
    return [*found, right]


def _before(part: Part[_Drawn]) -> float:
    return len(part.what.edge) * _WIDE_SMALL + _SMALL_SIZE + 3


def _behind(part: Part[_Drawn]) -> float:
    return _SMALL_SIZE + len(part.what.value) * _WIDE_LETTER + len(part.what.below) * _WIDE_SMALL + 14


def _stack(root: Part[_Drawn], parts: Sequence[Part[_Drawn]], columns: Sequence[float]) -> float:
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


def _level_lines(labels: dict[int, str], parts: Sequence[Part[_Drawn]], is_sideways: bool) -> Iterator[str]:
    for level, label in labels.items():
        part = next(part for part in parts if part.level == level)
        if is_sideways:
            yield _text(part.x, _MARGIN + 4, label, anchor="middle" if level else "start", fill="#555")
        else:
            yield _text(_MARGIN, part.y + 4, label, fill="#555")


def _edges(parts: Sequence[Part[_Drawn]], best: set[int], is_sideways: bool) -> Iterator[str]:
    for part in parts:
        for child in part.children:
            x, y, to_x, to_y = part.x, part.y + _SIZE, child.x, child.y - _SIZE
            if is_sideways:
                x, y, to_x, to_y = part.x + _behind(part), part.y, child.x - _before(child) - 4, child.y
            is_best = child.what.number in best
            style = f'stroke="{"#000" if is_best else "#666"}" stroke-width="{2.4 if is_best else 1}"'
            if child.what.number < 0:
                style = 'stroke="#888" stroke-width="1" stroke-dasharray="3 3"'
            yield f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" {style}/>'
            if child.what.is_cut:
                yield _crossed((x + to_x) / 2, (y + to_y) / 2, to_x - x, to_y - y)
            if is_sideways:
                yield _text(to_x + 2, to_y + 3.5, child.what.edge, 10, fill="#333")
            elif child.what.number < 0:
                yield _text(to_x, to_y + 11, child.what.edge, 10, "middle", "#555")
            elif child.what.edge:
                yield _halo(x + (to_x - x) * _ALONG, y + (to_y - y) * _ALONG + 3, child.what.edge)


def _crossed(x: float, y: float, dx: float, dy: float) -> str:
    """Two short strokes across an edge."""
    length = max((dx * dx + dy * dy) ** 0.5, 1.0)
    across_x, across_y, along_x, along_y = -dy / length * 5, dx / length * 5, dx / length * 2, dy / length * 2
    strokes = (
        f"M{x + s * along_x - across_x:.1f} {y + s * along_y - across_y:.1f}"
        f"L{x + s * along_x + across_x:.1f} {y + s * along_y + across_y:.1f}"
        for s in (-1, 1)
    )
    return f'<path d="{"".join(strokes)}" stroke="#000" stroke-width="1.2" fill="none"/>'


def _nodes(one: SearchPass, parts: Sequence[Part[_Drawn]], now: int, is_sideways: bool) -> Iterator[str]:
    for part in parts:
        drawn = part.what
        if drawn.number < 0:
            continue
        node, x, y = one.nodes[drawn.number], part.x, part.y
        size = _SMALL_SIZE if is_sideways else _SIZE
        yield _shape(node, x, y, size, 2.6 if drawn.number == now else 1.2)
        if node.role is NodeRole.OWN or (node.name and node.role is not NodeRole.END):
            own = node.name or chr(ord("A") + (node.seat or 0) % 26)
            lower = {NodeRole.MAX: 6, NodeRole.MIN: 1}.get(node.role, 4)
            yield _text(x, y + lower, own, 9, "middle")
        is_end = node.role is NodeRole.END and not is_sideways
        left, down, anchor = (x, y + size + 2, "middle") if is_end else (x + size + 3, y, "start")
        if drawn.value:
            yield _text(left, down + (1 if drawn.below and not is_sideways else 4), drawn.value, anchor=anchor)
        if drawn.below and is_sideways:
            yield _text(left + len(drawn.value) * _WIDE_LETTER + 5, down + 3.5, drawn.below, 10, fill="#555")
        elif drawn.below:
            yield _text(left, down + 12, drawn.below, 10, anchor, "#555")


def _shape(node: SearchNode, x: float, y: float, s: float, width: float) -> str:
    """The shape of a node, of size ``s``; ends hang from the edge, but for small ones."""
    pen = f'stroke="#000" stroke-width="{width}"'
    if node.role is NodeRole.MAX:
        return f'<path d="M{x:.1f} {y - s:.1f}l{s} {2 * s}h{-2 * s}z" fill="#fff" {pen}/>'
    if node.role is NodeRole.MIN:
        return f'<path d="M{x:.1f} {y + s:.1f}l{s} {-2 * s}h{-2 * s}z" fill="#ddd" {pen}/>'
    if node.role in (NodeRole.CHANCE, NodeRole.OWN):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s}" fill="#fff" {pen}/>'
    top = y - s if s == _SIZE else y - 4
    return f'<rect x="{x - 4:.1f}" y="{top:.1f}" width="8" height="8" fill="#444" {pen}/>'


def _halo(x: float, y: float, text: str) -> str:
    """Text over a line, with a margin that hides the line."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" text-anchor="middle" fill="#333" stroke="#fff" '
        f'stroke-width="3" paint-order="stroke">{escape(_plain(text))}</text>'
    )


def _text(x: float, y: float, text: str, size: float = 12, anchor: str = "start", fill: str = "#000") -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    font = "" if size == 12 else f' font-size="{size:g}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{font}{place} fill="{fill}">{escape(_plain(text))}</text>'


T = TypeVar("T")


@dataclass(slots=True)
class Part(Generic[T]):
    """Something to be drawn, and what hangs below it.

    Attributes:
        what: What it is.
        left, right: How far it reaches to either side of where it stands.
        children: What hangs below it, from left to right.
        x, y, level: Where it stands, once that is known; the leftmost part of the tree begins at 0.
    """

    what: T
    left: float
    right: float
    children: list[Part[T]] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    level: int = 0

    def all(self) -> list[Part[T]]:
        """It and all below it, parents first."""
        found = [self]
        for part in found:
            found += part.children
        return found


def lay_out(root: Part[T], gap: float) -> float:
    """Gives every part its place, with a gap between neighbours.

    Returns:
        The width of the whole tree.
    """
    parts = root.all()
    for part in parts:
        for child in part.children:
            child.level = part.level + 1
    outlines: dict[int, tuple[list[float], list[float]]] = {}
    for part in reversed(parts):  # x is relative to the parent until all are known
        lefts, rights = _side_by_side(part.children, [outlines.pop(id(child)) for child in part.children], gap)
        outlines[id(part)] = [-part.left, *lefts], [part.right, *rights]
    lefts, rights = outlines[id(root)]
    root.x = -min(lefts)
    for part in parts:
        for child in part.children:
            child.x += part.x
    return root.x + max(rights)


def _side_by_side(
    children: Sequence[Part[T]], outlines: Sequence[tuple[list[float], list[float]]], gap: float
) -> tuple[list[float], list[float]]:
    """Places children relative to the middle between the first and the last; the outline of all of them."""
    all_lefts: list[float] = []
    all_rights: list[float] = []
    for child, (lefts, rights) in zip(children, outlines, strict=True):
        touching = (right - left for right, left in zip(all_rights, lefts, strict=False))
        child.x = max((distance + gap for distance in touching), default=0.0)
        shifted = [child.x + right for right in rights]
        all_lefts += [child.x + left for left in lefts[len(all_lefts) :]]
        all_rights[: len(shifted)] = shifted
    middle = (children[0].x + children[-1].x) / 2 if children else 0.0
    for child in children:
        child.x -= middle
    return [left - middle for left in all_lefts], [right - middle for right in all_rights]
