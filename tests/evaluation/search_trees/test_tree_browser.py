"""The page in a real browser: it asks nothing of any network, and a search can be gone through."""

import pytest
from doubles.browsers import NEEDS_BROWSER, PHONE, Watched

from zermelo.evaluation import draw_tree

ALPHA, BETA = "\N{GREEK SMALL LETTER ALPHA}", "\N{GREEK SMALL LETTER BETA}"

pytestmark = NEEDS_BROWSER


def watched(browser, drawn, folder, **how):
    return Watched(browser, drawn.save(folder / "tree.html").as_uri(), **how)


def status(page):
    return page.inner_text("#status")


def known(page):
    """What is said of the node that is selected."""
    names, values = page.locator("#node dt").all_inner_texts(), page.locator("#node dd").all_inner_texts()
    return {"node": page.inner_text("#node-title")} | dict(zip(names, values, strict=True))


@pytest.mark.thorough
def test_keys_go_through_figure_5_5(browser, tmp_path):
    with watched(browser, draw_tree("aima-5.5", "alphabeta"), tmp_path) as page:
        assert status(page).startswith("Step 1 of 16: the search begins at the root")
        page.keyboard.press("End")
        assert status(page) == "Step 16 of 16: A is worth 3."
        page.keyboard.press("Home")
        assert status(page) == "Before the search."
        assert page.is_disabled("#back")
        for _ in range(8):
            page.keyboard.press("ArrowRight")
        known_then = f"so C is worth at most 2, with {ALPHA} 3, {BETA} 2."
        assert status(page) == f"Step 8 of 16: c1 is worth 2 where the game ends, {known_then}"
        page.keyboard.press("ArrowRight")
        assert status(page).startswith("Step 9 of 16: C is cut off: c1 is enough")
        assert status(page).endswith("Not looked at: c2, c3.")
        assert known(page) == {
            "node": "Node C", "moves": "a2", "decides": "MIN (minimizes)", "value to MAX": "≤ 2",
            ALPHA: "3", BETA: "2", "cut off": "c2, c3 (by c1)",
        }  # fmt: skip
        page.keyboard.press("ArrowLeft")
        assert status(page).startswith("Step 8")
        page.keyboard.press("End")
        page.keyboard.press("Shift+ArrowDown")
        page.keyboard.press("Shift+ArrowRight")
        assert known(page)["node"] == "Node C"
        page.keyboard.press("Shift+ArrowUp")
        assert known(page)["node"] == "The root"
        for key in ("+", "-", "0", "[", "]", "Enter", "Enter"):
            page.keyboard.press(key)


@pytest.mark.thorough
def test_buttons_play_and_the_mouse(browser, tmp_path):
    with watched(browser, draw_tree("aima-5.14a", "expectiminimax"), tmp_path, scheme="dark") as page:
        page.select_option("#speed", "500")
        page.click("#play")
        page.locator("#status", has_text="Step 22 of 22").wait_for()
        assert status(page).startswith("Step 22 of 22: A is worth 2.1")
        page.click("#first")
        page.click("#forward")
        assert status(page) == "Step 1 of 22: the search begins at the root."
        page.fill("#slide", "3")
        assert "with probability 0.9" in status(page)
        page.click("#last")
        x, y = page.evaluate(
            "(() => { const p = drawing.places.get(drawing.search.nodes[2]); const v = drawing.view; "
            "return [v.x + p.x * v.k, v.y + p.y * v.k]; })()"
        )
        page.click("#tree", position={"x": x, "y": y})
        assert known(page)["probability"] == "0.9"
        page.dblclick("#tree", position={"x": x, "y": y})
        assert page.inner_text("#fold") == "Unfold what is below"
        page.click("#fold")
        assert page.inner_text("#fold") == "Fold what is below"


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_does_not_scroll_sideways(browser, tmp_path, scheme):
    drawn = draw_tree("zermelo/MNK-v0", "alphabeta(depth=2)", moves=[4, 0])
    with watched(browser, drawn, tmp_path, viewport=PHONE, scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        box = page.locator("#tree").bounding_box()
        assert box["width"] > 300
        assert "X" in page.inner_text("#position")
        page.select_option("#iteration", index=0)
        assert known(page)["depth left"] == "1"


@pytest.mark.thorough
def test_vectors_and_simulations(browser, tmp_path):
    with watched(browser, draw_tree("aima-5.4", "maxn"), tmp_path) as page:
        page.click("#last")
        assert status(page) == "Step 22 of 22: A is worth (1, 2, 6)."
        page.click("#back")
        assert known(page)["value to A, B, C"] == "(1, 5, 2)"
    drawn = draw_tree("aima-5.2", "mcts(simulations=30, solver=false)")
    with watched(browser, drawn, tmp_path) as page:
        page.click("#last")
        assert status(page).startswith("Simulation 30 of 30: goes a")
        page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("Shift+ArrowUp")
        assert known(page)["visits"] == "30"
        page.fill("#slide", "7")
        page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("Shift+ArrowUp")
        assert known(page)["visits"] == "7"
        mean = drawn.shown.mean_at(drawn.shown.nodes[0], 7)[0]
        assert known(page)["value to MAX"] == f"{mean:.4g}"


@pytest.mark.thorough
def test_ten_thousand_nodes_stay_smooth(browser, tmp_path):
    """Drawing everything at once takes less than a frame of 60 a second on most machines; 100 ms at the worst."""
    nested = [[[[number for _ in range(10)] for _ in range(10)] for _ in range(10)] for number in range(9)]
    drawn = draw_tree(nested, "minimax")
    assert len(drawn.shown.nodes) == 10_000
    with watched(browser, drawn, tmp_path) as page:
        assert page.evaluate("drawing.places.size") < 200, "most are folded at first"
        page.evaluate("drawing.foldTo(Infinity); drawing.fit()")
        assert page.evaluate("drawing.places.size") == 10_000
        frame = page.evaluate(
            "(() => { const begun = performance.now(); "
            "for (let k = 0; k < 10; k++) { drawing.zoom(k % 2 ? 2 : 0.5); drawing.paint(); } "
            "return (performance.now() - begun) / 10; })()"
        )
        assert frame < 100
