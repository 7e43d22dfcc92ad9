"""Trees as SVG: what stands in them, how they are laid out, and hostile names."""

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.trees import tree_game
from zermelo.evaluation import draw_tree
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.search_trees.model import Span
from zermelo.evaluation.search_trees.names import known_text, number_text, vector_text
from zermelo.evaluation.search_trees.svg import DrawnNode, lay_out

NAMESPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = '</script><script>alert(1)</script>\0 & "quoted" <b>'


def texts(svg):
    return [text.text for text in ET.fromstring(svg).iter(f"{NAMESPACE}text")]


def test_figure_5_5():
    drawn = draw_tree("aima-5.5", "alphabeta")
    shown = texts(drawn.svg())
    assert {"MAX", "MIN", "A", "B", "C", "D", "\N{LESS-THAN OR EQUAL TO} 2", "c2", "c3"} <= set(shown)
    assert shown.count("3") == 3
    assert "\N{GREEK SMALL LETTER ALPHA} 3, \N{GREEK SMALL LETTER BETA} \N{INFINITY}" in shown
    svg = ET.fromstring(drawn.svg())
    dashed = [line for line in svg.iter(f"{NAMESPACE}line") if line.get("stroke-dasharray")]
    assert len(dashed) == 2
    thick = [line for line in svg.iter(f"{NAMESPACE}line") if line.get("stroke-width") == "2.4"]
    assert len(thick) == 2, "the best line: a1, b1"
    assert len(drawn.svg()) < 7_000


def test_a_stage_shows_what_was_known_then():
    drawn = draw_tree("aima-5.5", "alphabeta")
    early = texts(drawn.svg(8))
    assert "\N{GREATER-THAN OR EQUAL TO} 3" in early
    assert "d1" not in early
    assert "c3" not in early
    assert texts(drawn.svg(0)) == ["MAX", "A"]
    assert texts(drawn.svg(drawn.shown.steps)) == texts(drawn.svg())
    for step, message in ((17, "at most 16"), (-1, "at least 0"), (True, "at least 0"), ("x", "at least 0")):
        with pytest.raises(InvalidSettingError, match=message):
            drawn.svg(step)


def test_chance_vectors_and_visits():
    assert {"CHANCE", "0.9", "40.9"} <= set(texts(draw_tree("aima-5.14b", "expectiminimax").svg()))
    vectors = texts(draw_tree("aima-5.4", "maxn").svg())
    assert {"(1, 2, 6)", "A has 1", "B has 2", "B has 5"} <= set(vectors)
    dice = draw_tree([{"2": (0.5, 1), "6": (0.5, 3)}], "expectiminimax")
    assert {"2: 0.5", "6: 0.5"} <= set(texts(dice.svg()))
    assert "10 visits" in texts(draw_tree("aima-5.2", "mcts(simulations=10, solver=false)").svg())


def test_hostile_names_are_text():
    game = tree_game([{HOSTILE: (1.0, 3)}, [1, 2]], name=HOSTILE, seat_names=(HOSTILE, HOSTILE))
    drawn = draw_tree(game, "expectiminimax", title=HOSTILE)
    svg = ET.fromstring(drawn.svg())
    assert not list(svg.iter(f"{NAMESPACE}script"))
    assert HOSTILE.replace("\0", "\ufffd") in "".join(svg.itertext())
    page = drawn.html()
    assert len(re.findall("<script", page)) == 2
    assert len(re.findall("</script", page)) == 2
    assert "alert(1)</script>" not in page
    assert "\0" not in page
    assert "<iframe" in drawn._repr_html_()
    assert drawn._repr_html_().count("<") == 2


def test_nothing_overlaps():
    generator = np.random.default_rng(4)

    def grown(depth):
        left, right = generator.uniform(2, 30, 2)
        count = int(generator.integers(0, 4)) if depth else 0
        return DrawnNode(left, right, [grown(depth - 1) for _ in range(count)])

    for _ in range(20):
        root = grown(6)
        width = lay_out(root, 5)
        levels = {}
        for part in root.all():
            levels.setdefault(part.level, []).append(part)
            if part.children:
                ends = part.children[0].x, part.children[-1].x
                assert part.x == pytest.approx(sum(ends) / 2)
        for parts in levels.values():
            for one, other in itertools.pairwise(parts):
                assert one.x + one.right + 5 <= other.x - other.left + 1e-9
        assert min(part.x - part.left for part in root.all()) == pytest.approx(0)
        assert max(part.x + part.right for part in root.all()) == pytest.approx(width)


def test_numbers():
    assert number_text(-2.5) == "\N{MINUS SIGN}2.5"
    assert number_text(float("inf")) == "\N{INFINITY}"
    assert vector_text((1, float("nan"))) == "(1, ?)"
    assert known_text(None) == ""
    assert known_text(Span(1, 2, 2)) == "2"
    assert known_text(Span(1, -1, 0), (-1, 1)) == "\N{LESS-THAN OR EQUAL TO} 0"
    assert known_text(Span(1, 0, 1), (-1, 1)) == "\N{GREATER-THAN OR EQUAL TO} 0"
    assert known_text(Span(1, -1, 1), (-1, 1)) == ""
    assert known_text(Span(1, 0, 0.5), (-1, 1)) == "[0, 0.5]"


def test_files(tmp_path):
    drawn = draw_tree("aima-5.2", "minimax")
    assert drawn.save(tmp_path / "a.svg").read_text(encoding="utf-8") == drawn.svg()
    assert drawn.save(tmp_path / "a.svg", 3).read_text(encoding="utf-8") == drawn.svg(3)
    assert drawn.save(str(tmp_path / "a.HTML")).read_text(encoding="utf-8") == drawn.html()
    with pytest.raises(InvalidSettingError, match=r"as \.html or \.svg"):
        drawn.save(tmp_path / "a.png")
    with pytest.raises(InvalidSettingError, match="a page has all steps"):
        drawn.save(tmp_path / "a.html", 3)
    with pytest.raises(StoreError, match="choose another file"):
        drawn.save(tmp_path / "nowhere" / "a.svg")
